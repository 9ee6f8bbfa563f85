import { expect, test } from 'vitest';
import {
  definitionsOf,
  hasReference,
  type MarkdownBlock,
  type MarkdownBlocks,
  noBlocks,
  readBlocks,
} from '../../../../../renderer/components/markdown/markdown-blocks.ts';

const text = `# Title

A paragraph that
goes on.

1. one

2. two

   with a part

| a | b |
|---|---|
| 1 | 2 |

\`\`\`ts
const a = \`# no title\`;

\`\`\`

> said

---
The end`;

test('the blocks of a text add up to the text, wherever it is split', () => {
  let blocks = noBlocks;
  for (let end = 1; end <= text.length; end += 1) blocks = readBlocks(text.slice(0, end), blocks);
  const all = [...blocks.closed, ...(blocks.open ? [blocks.open] : [])];
  expect(all.map(({ raw }) => raw).join('')).toBe(text);
  const atOnce = readBlocks(text);
  expect(all).toEqual([...atOnce.closed, ...(atOnce.open ? [atOnce.open] : [])]);
});

test('a closed block stays the same object while more text arrives', () => {
  const first = readBlocks('# Title\n\nA paragraph\n\nAnother');
  const second = readBlocks('# Title\n\nA paragraph\n\nAnother one\n\nAnd more', first);
  expect(first.closed.length).toBe(2);
  expect(second.closed.slice(0, 2).every((block, index) => block === first.closed[index])).toBe(true);
});

test('a list is split into its items, and continues after a blank line', () => {
  const blocks = readBlocks('1. one\n\n2. two\n   - part\n\n3. three');
  expect(blocks.closed.map(({ raw }) => raw)).toEqual(['1. one\n\n', '2. two\n   - part\n\n']);
  expect(blocks.open).toMatchObject({ raw: '3. three', kind: 'list' });
});

test('an open code block is recognised before its fence is closed', () => {
  expect(readBlocks('Look:\n\n```python\nprint(1)').open?.code).toEqual({ text: 'print(1)', language: 'python' });
});

test('another text starts again', () => {
  const other = readBlocks('Other', readBlocks('Some\n\ntext'));
  expect(other).toEqual({ text: 'Other', closed: [], open: { start: 0, raw: 'Other', kind: 'paragraph', code: null } });
});

test('detects a block that refers to a definition', () => {
  expect(definitionsOf('See [it][1].\n\n[1]: https://example.com\n')).toBe('[1]: https://example.com');
  expect([
    hasReference('See [it][1].'),
    hasReference('See [it](https://example.com).'),
    hasReference('Plain.'),
  ]).toEqual([true, false, false]);
});

test('definitions and footnotes refer to no definition', () => {
  expect(definitionsOf('[^1]: A footnote.\n[s]: https://example.com')).toBe('[s]: https://example.com');
  expect(hasReference('[s]: https://example.com\n[t]: https://example.com')).toBe(false);
  expect(hasReference('A note.[^1]\n\n[^1]: A footnote.')).toBe(false);
  expect(hasReference('[^1]: A footnote on [it].')).toBe(true);
});

test('splits two thousand blocks in one pass while they stream', () => {
  const paragraphs = Array.from({ length: 2_000 }, (_, index) => `Paragraph ${index} with a few words in it.`);
  let blocks = noBlocks;
  let soFar = '';
  for (const paragraph of paragraphs) {
    soFar += `${paragraph}\n\n`;
    if (paragraph.endsWith('0 with a few words in it.')) blocks = readBlocks(soFar, blocks);
  }
  expect(readBlocks(soFar, blocks).closed.length).toBe(1_999);
});

/** A text that streams, `step` characters at a time. */
function streamed(whole: string, step: number): MarkdownBlocks {
  let blocks = noBlocks;
  for (let end = step; end < whole.length + step; end += step) blocks = readBlocks(whole.slice(0, end), blocks);
  return blocks;
}

const allOf = ({ closed, open }: MarkdownBlocks): MarkdownBlock[] => (open ? [...closed, open] : [...closed]);

const sentence = 'The **carrier** has `held` the [parcel](https://example.com) since Monday. ';
const longBlocks: Record<string, string> = {
  paragraph: sentence.repeat(400),
  'paragraph of one word': 'a'.repeat(40_000),
  'paragraph of characters in two units': '😀'.repeat(20_000),
  'paragraph of open emphasis': '*a '.repeat(10_000),
  code: `\`\`\`ts\n${'const parcel = await read("carrier");\n'.repeat(800)}`,
  'code of one line': `\`\`\`json\n${'{"a":1},'.repeat(4_000)}`,
  table: `| Name | Count |\n| --- | ---: |\n${'| parcel | **12** |\n'.repeat(1_500)}`,
  list: `- one\n${'  - inner item of the list\n'.repeat(1_500)}`,
  quotation: `> ${sentence}\n`.repeat(400),
  'quotations inside each other': '>'.repeat(30_000),
  'lists inside each other': '- '.repeat(15_000),
  'lists by indentation': Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth * 2)}- item\n`).join(''),
};

test.each(Object.entries(longBlocks))('a long %s is divided into small parts that add up to it', (_, long) => {
  for (const step of [170, 5_000, long.length]) {
    const all = allOf(streamed(long, step));
    expect(all.map(({ raw }) => raw).join('')).toBe(long);
    expect(Math.max(...all.map(({ raw }) => raw.length))).toBeLessThan(16_000);
    expect(all.every(({ start }, index) => index === 0 || start > all[index - 1]!.start)).toBe(true);
  }
});

test('the parts of long code have the text of the code', () => {
  const lines = Array.from({ length: 900 }, (_, index) => `  line ${index} \`\`\` #`).join('\n');
  for (const step of [97, 100_000]) {
    const { closed, open } = streamed(`Look:\n\n\`\`\`ts\n${lines}\n\`\`\`\n\nThe end`, step);
    expect(closed.map(({ code }) => code?.text ?? '').join('')).toBe(lines);
    expect(open?.raw).toBe('The end');
  }
});

test('a long paragraph is divided between words, and never inside emphasis, code or a link', () => {
  const all = allOf(streamed(sentence.repeat(400), 170));
  expect(all.length).toBeGreaterThan(5);
  for (const { raw } of all.slice(1)) {
    expect(raw).toMatch(/^\p{L}/u);
    for (const mark of ['**', '`']) expect(raw.split(mark).length % 2).toBe(1);
  }
});

test('what follows a long table, list or quotation is a block of its own', () => {
  for (const kind of ['table', 'list', 'quotation']) {
    const { open } = streamed(`${longBlocks[kind]}\nThe end, **bold**`, 170);
    expect([kind, open]).toEqual([kind, expect.objectContaining({ raw: 'The end, **bold**', kind: 'paragraph' })]);
    expect(open?.part).toBeUndefined();
  }
});

test('only the end of a growing block is read again', () => {
  const first = readBlocks(sentence.repeat(400));
  const second = readBlocks(sentence.repeat(401), first);
  expect(first.closed.every((block, index) => block === second.closed[index])).toBe(true);
});

test('a line end that is split between two chunks is one line end', () => {
  const { closed, open } = streamed('One\r\n\r\nTwo\r\n', 1);
  expect([...closed, open].map((block) => block?.raw)).toEqual(['One\n\n', 'Two\n']);
});
