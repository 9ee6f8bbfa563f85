import { expect, test } from 'vitest';
import { plainText } from '../../../../../renderer/components/markdown/plain-text.ts';

test.each([
  ['## Rotor **bolts** and `M8`', 'Rotor bolts and M8'],
  ['See [the manual](https://x.test/a) or ![a drawing](b.png).', 'See the manual or a drawing.'],
  ['- one\n- *two*\n  - inner\n\n3. three', '• one\n• two\n• inner\n3. three'],
  ['| Part | Torque |\n| --- | ---: |\n| Bolt | **42** |\n| Nut | |', 'Part: Bolt; Torque: 42\nPart: Nut'],
  ['| Part | Torque |\n| --- | ---: |', 'Part; Torque'],
  ['| Bolt | 42 |\n| Nut | 17 |', 'Bolt; 42\nNut; 17'],
  ['```sh\nrun --it\n```', 'run --it'],
  ['> quoted\n\nand <b>bold</b> <!-- hidden -->', 'quoted\nand bold'],
  ['2 * 3 * 4 and snake_case_name, a | b', '2 * 3 * 4 and snake_case_name, a | b'],
  ['Needle: First; Gold: 583', 'Needle: First; Gold: 583'],
  ['', ''],
])('%j reads as %j', (markdown, text) => {
  expect(plainText(markdown)).toBe(text);
});

test.each(['>', '[', '*a ', '| ', '- ', '> - ', '<b>'])('text with only %j is shown', (mark) => {
  for (const characters of [2_000, 100_000]) {
    const text = mark.repeat(characters / mark.length);
    expect(plainText(`${text}word`)).toContain('word');
  }
});
