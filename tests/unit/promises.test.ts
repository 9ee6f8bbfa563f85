import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/promises.md'), 'utf8');

/** Promises are list items; each ends with the line that names its test. */
const promises = page
  .split(/\n(?=- \*\*|## )/)
  .filter((part) => part.startsWith('- **'))
  .map((text) => ({ text, named: /^ {2}`(tests\/\S+) › (.+)`$/m.exec(text) }));

test('every promise names its test', () => {
  expect(promises.length).toBeGreaterThan(15);
  expect(promises.filter(({ named }) => named === null).map(({ text }) => text)).toEqual([]);
});

test.each(promises.map(({ named }) => [named?.[1] ?? '', named?.[2] ?? '']))('%s has the test: %s', (file, title) => {
  expect(existsSync(join(root, file))).toBe(true);
  const source = readFileSync(join(root, file), 'utf8').replaceAll('\\', '');
  // As the end of a quoted title, which a comment is not.
  expect(['`', "'", '"'].some((quote) => source.includes(`${title}${quote}`))).toBe(true);
});
