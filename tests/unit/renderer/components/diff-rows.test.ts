import { expect, test } from 'vitest';
import type { PromptVersion } from '../../../../shared/contract/prompts.ts';
import {
  diffRows,
  diffTexts,
  type DiffBlock,
  type DiffLine,
  foldRows,
} from '../../../../renderer/components/diff/diff-rows.ts';
import { fc } from '../../../support/fast-check.ts';
import { diffSettings } from '../../../../renderer/components/diff/settings-diff.ts';

/** A line as one reads it, with what the other side has not got in brackets. */
function written(line: DiffLine | null): string | null {
  return line && `${line.number} ${line.parts.map(({ text, isOwn }) => (isOwn ? `[${text}]` : text)).join('')}`;
}

function rows(before: string, after: string): (string | null)[][] {
  return diffRows(before, after).map((row) => [written(row.before), written(row.after)]);
}

test('equal lines are next to each other, changed ones compared by word, added and removed ones next to nothing', () => {
  expect(rows('Hello\nBe kind\nBye\nOld', 'Hello\nBe very kind\nNew line\nBye')).toEqual([
    ['1 Hello', '1 Hello'],
    ['2 Be kind', '2 Be [very ]kind'],
    [null, '3 [New line]'],
    ['3 Bye', '4 Bye'],
    ['4 [Old]', null],
  ]);
});

test('a missing last line end is no difference, and neither are line ends', () => {
  expect(diffRows('one\ntwo', 'one\r\ntwo\n').every(({ isSame }) => isSame)).toBe(true);
});

test('the rows contain both texts completely', () => {
  const texts = ['', 'a', 'a\n\nb', 'b\na\nc', '\n\n', 'a\nb\nc\nd', 'd\nc\nb\na', 'a '.repeat(30)];
  for (const before of texts) {
    for (const after of texts) {
      const found = diffRows(before, after);
      const side = (name: 'before' | 'after') =>
        found.flatMap((row) => row[name]?.parts.map(({ text }) => text).join('') ?? []).join('\n');
      expect([side('before'), side('after')]).toEqual([before.replace(/\n$/, ''), after.replace(/\n$/, '')]);
    }
  }
});

test('long ranges of equal lines are folded, except for a few around each change', () => {
  const before = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const after = before.with(15, 'another');
  const blocks = foldRows(diffRows(before.join('\n'), after.join('\n')));
  expect(blocks.map((block) => [block.kind, block.kind === 'fold' ? block.count : block.rows.length])).toEqual([
    ['fold', 12],
    ['rows', 7],
    ['fold', 11],
  ]);
});

const openedRows = (blocks: readonly DiffBlock[]) =>
  blocks.flatMap((block) => (block.kind === 'fold' ? block.rows(0, block.count) : block.rows));

test('long texts are compared from their first difference on, with the rest folded and all lines numbered', () => {
  const texts = fc
    .array(fc.constantFrom('a', 'b', '', 'longer line'), { maxLength: 40 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(texts, texts, fc.integer({ min: 1, max: 100 }), (before, after, characters) => {
      const { blocks, changed, isWhole } = diffTexts(before, after, { characters });
      const opened = openedRows(blocks);
      for (const [name, text] of [
        ['before', before],
        ['after', after],
      ] as const) {
        const lines = opened.flatMap((row) => row[name] ?? []);
        expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1));
        const whole = text.replace(/\n$/, '');
        const found = lines.map(({ parts }) => parts.map((part) => part.text).join('')).join('\n');
        if (changed > 0 && isWhole) expect(found).toBe(whole);
        else expect(whole.startsWith(found)).toBe(true);
      }
    }),
  );
});

test('of a long text whose lines end in CR alone, the first characters are compared, too', () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index}`);
  const other = lines.with(1_000, 'another').with(2_000, 'another');
  const { changed, isWhole } = diffTexts(lines.join('\r'), other.join('\r'), { characters: 1_000 });
  expect([changed, isWhole]).toEqual([1, false]);
});

test('of a long text whose first line is longer than what is compared, only that line is', () => {
  const text = (start: string) => `${start.repeat(2_000)}\n${`${start}\n`.repeat(1_000)}`;
  const { blocks, changed, isWhole } = diffTexts(text('x'), text('y'), { characters: 1_000 });
  expect([changed, isWhole, openedRows(blocks).length]).toEqual([1, false, 1]);
});

test('lines with hundreds of different words are not compared word by word', () => {
  const [row] = diffRows('a b '.repeat(200), 'c d '.repeat(200));
  expect(row?.before?.parts.filter(({ isOwn }) => isOwn)).toHaveLength(1);
});

test('of a long line, what surrounds the difference is shown', () => {
  const [before, after] = ['one', 'other'].map((word) => `${'x'.repeat(500_000)}${word}${'y'.repeat(500_000)}`);
  const { blocks, changed, isWhole } = diffTexts(before!, after!);
  expect([changed, isWhole]).toEqual([1, true]);
  const parts = openedRows(blocks)[0]!.before!.parts;
  expect(parts.filter(({ isOwn }) => isOwn).map(({ text }) => text)).toEqual(['ne']);
  expect(parts[0]).toMatchObject({ text: ' … 499,801 characters … ', isOmission: true });
  expect(parts.map(({ text }) => text).join('').length).toBeLessThan(600);
});

test('a long line is never cut inside a character', () => {
  const filled = fc
    .tuple(fc.constantFrom('', 'x'), fc.constantFrom(0, 1, 999, 1000, 1001))
    .map(([start, count]) => start + '😀'.repeat(count));
  fc.assert(
    fc.property(filled, fc.constantFrom('😁', '🠀', 'a'), filled, (start, difference, end) => {
      const [before, after] = [`${start}😀${end}`, `${start}${difference}${end}`];
      for (const [old, fresh] of [
        [before, after],
        [before, before + '\nmore'],
        [before, ''],
      ] as const) {
        const lines = diffRows(old, fresh).flatMap((row) => [row.before, row.after]);
        for (const { text } of lines.flatMap((line) => line?.parts ?? [])) expect(text.isWellFormed()).toBe(true);
      }
    }),
  );
});

const version: PromptVersion = {
  id: 'a',
  promptId: 'p',
  number: 1,
  promptText: 'x',
  systemMessage: null,
  aiSystem: null,
  model: null,
  configuration: null,
  variables: [],
  note: null,
  createdAt: '2026-11-20T09:00:00.000Z',
};

test("lists differing settings with both values; a version without a model uses the service's first one", () => {
  const after: PromptVersion = {
    ...version,
    aiSystem: 'OpenAi',
    model: 'gpt-4.1',
    configuration: { temperature: 0.2, stop: ['END'] },
    variables: [{ name: 'tone', description: null, defaultValue: 'warm', sampleValue: null }],
  };
  expect(diffSettings(version, after)).toMatchObject({
    differences: [
      { name: 'Provider', before: 'Built-in (ServiceAi)', after: 'OpenAI' },
      { name: 'Model', before: 'hl-gpt-4o-mini', after: 'gpt-4.1' },
      { name: 'temperature', before: null, after: '0.2' },
      { name: 'stop', before: null, after: '["END"]' },
      { name: '{{tone}} default', before: null, after: 'warm' },
    ],
    same: 0,
  });
  expect(diffSettings(after, after)).toEqual({ differences: [], same: 5 });
});

test('tools are compared with the one of the same name, and long values line by line', () => {
  const tool = (name: string, description: string) => ({ type: 'function', function: { name, description } });
  const schema = { type: 'object', properties: { city: { type: 'string' }, country: { type: 'string' } } };
  const format = { type: 'json_schema', json_schema: { name: 'place', schema } };
  const before = { ...version, configuration: { tools: [tool('a', 'One'), tool('b', 'Two'), { type: 'web_search' }] } };
  const after = {
    ...version,
    configuration: { tools: [tool('b', 'Two'), tool('a', 'First')], response_format: format },
  };
  const { differences, same } = diffSettings(before, after);
  expect(differences).toMatchObject([
    { name: 'Tool a', before: expect.stringContaining('One'), after: expect.stringContaining('First'), isLong: true },
    { name: 'Tool web_search', after: null, isLong: true },
    { name: 'response_format', before: null, after: JSON.stringify(format, null, 2), isLong: true },
  ]);
  // Provider, model and the tool that has only moved.
  expect(same).toBe(3);
});
