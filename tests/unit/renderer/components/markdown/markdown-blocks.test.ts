import { expect, test } from 'vitest';
import {
  definitionsOf,
  hasReference,
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
  expect(blocks.open).toMatchObject({ raw: '3. three', isList: true });
});

test('an open code block is recognised before its fence is closed', () => {
  expect(readBlocks('Look:\n\n```python\nprint(1)').open?.code).toEqual({ text: 'print(1)', language: 'python' });
});

test('another text starts again', () => {
  const other = readBlocks('Other', readBlocks('Some\n\ntext'));
  expect(other).toEqual({ text: 'Other', closed: [], open: { start: 0, raw: 'Other', code: null, isList: false } });
});

test('detects a block that refers to a definition', () => {
  expect(definitionsOf('See [it][1].\n\n[1]: https://example.com\n')).toBe('[1]: https://example.com');
  expect([
    hasReference('See [it][1].'),
    hasReference('See [it](https://example.com).'),
    hasReference('Plain.'),
  ]).toEqual([true, false, false]);
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
