import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inspectTable } from '../../../electron/datasets/import/inspect-table.ts';
import { openTable } from '../../../electron/datasets/import/open-table.ts';

const directory = mkdtempSync(join(tmpdir(), 'touchstone-texts-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function inspect(content: string, fileName = 'a.csv') {
  const path = join(directory, 'table');
  writeFileSync(path, content);
  return inspectTable(await openTable({ path, fileName, format: null, sheet: null }));
}

const rows = [
  { q: 'One', a: '1' },
  { q: 'Two', a: '2' },
];

test.each([
  ['rows end in CRLF, and the header in LF', 'q,a\nOne,1\r\nTwo,"2"\r\n'],
  ['rows end in LF, and the header in CRLF', 'q,a\r\nOne,"1"\nTwo,2\n'],
  ['all lines end in CR', 'q,a\rOne,1\rTwo,2\r'],
])('CSV: %s', async (_, csv) => {
  expect((await inspect(csv)).rows).toEqual(rows);
});

test('CSV of one column whose lines end in several ways', async () => {
  expect((await inspect('q\r\nOne\nTwo\r\n')).rows).toEqual([{ q: 'One' }, { q: 'Two' }]);
});

test('CSV: a first line that names the separator for Excel is no header', async () => {
  expect((await inspect('sep=;\r\nq;a\r\nOne;1\r\nTwo;2\r\n')).rows).toEqual(rows);
  expect((await inspect('sep=|\nq;a|b\n1;2|3\n')).rows).toEqual([{ 'q;a': '1;2', b: '3' }]);
  expect((await inspect('sep=ab\n1\n')).rows).toEqual([{ 'sep=ab': '1' }]);
});

test('CSV: columns with numbers as names stay in their order', async () => {
  const { columns } = await inspect('question,2024,2023\na,b,c\n');
  expect(columns.map(({ name }) => name)).toEqual(['question', '2024', '2023']);
});

test('JSONL: a list under the name `item` is a value, not a row', async () => {
  const { rows: read } = await inspect('{"item":["a","b"]}\n{"item":["c"]}\n', 'a.jsonl');
  expect(read).toEqual([{ item: ['a', 'b'] }, { item: ['c'] }]);
});
