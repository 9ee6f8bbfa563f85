import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeXlsx, type WriteSheet } from 'hucre';
import { afterAll, expect, test } from 'vitest';
import { inspectTable } from '../../../electron/datasets/import/inspect-table.ts';
import { openTable } from '../../../electron/datasets/import/open-table.ts';

const directory = mkdtempSync(join(tmpdir(), 'touchstone-workbooks-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function inspect(content: Uint8Array, sheet: string | null = null) {
  const path = join(directory, 'table.xlsx');
  writeFileSync(path, content);
  return inspectTable(await openTable({ path, fileName: 'table.xlsx', format: null, sheet }));
}

const at = (hours: number) => new Date(Date.UTC(2026, 10, 22, hours, 30));
const tickets: WriteSheet = {
  name: 'Tickets',
  rows: [
    [],
    ['ticket', 'expected', 'when', 'count', 'late', 'total', null],
    ['007', '=1+1', new Date(Date.UTC(2026, 10, 22)), 1.5, true, null, null],
    [null, 'line\nend', at(10), 2, false, 7, null],
    [null, null, null, null, null, null, null],
  ],
  merges: [{ startRow: 2, startCol: 0, endRow: 3, endCol: 0 }],
  cells: new Map([['2,5', { formula: 'SUM(1,2)', formulaResult: 3 }]]),
};

test('a sheet by name, with dates, the values of formulas and merged cells, all as text', async () => {
  const workbook = await writeXlsx({ sheets: [{ name: 'Notes', rows: [['a'], ['b']] }, tickets] });
  const { columns, rows, report } = await inspect(workbook, 'Tickets');
  expect(columns.map(({ name, type }) => `${name}: ${type}`)).toEqual([
    'ticket: text',
    'expected: expected',
    'when: text',
    'count: text',
    'late: text',
    'total: text',
  ]);
  expect(rows).toEqual([
    { ticket: '007', expected: '=1+1', when: '2026-11-22', count: '1.5', late: 'TRUE', total: '3' },
    { ticket: '007', expected: 'line\nend', when: '2026-11-22T10:30:00', count: '2', late: 'FALSE', total: '7' },
  ]);
  expect(report).toMatchObject({ format: 'xlsx', sheets: ['Notes', 'Tickets'], sheet: 'Tickets' });
  expect(report.entries).toContainEqual(expect.objectContaining({ field: 'file', outcome: 'changed' }));
});

test('times of a day, durations of more than a day, and the first dates', async () => {
  const cells = [
    [0, 'hh:mm:ss', '00:00:00'],
    [0.5, 'hh:mm:ss', '12:00:00'],
    [1.25, '[h]:mm:ss', '30:00:00'],
    [1, 'yyyy-mm-dd', '1900-01-01'],
    [100.5, 'yyyy-mm-dd hh:mm', '1900-04-09T12:00:00'],
  ] as const;
  const sheet: WriteSheet = {
    name: 'Times',
    rows: [['name', 'time'], ...cells.map(([, , text]) => [text, null])],
    cells: new Map(cells.map(([value, numFmt], index) => [`${index + 1},1`, { value, style: { numFmt } }])),
  };
  const { rows } = await inspect(await writeXlsx({ sheets: [sheet] }));
  expect(rows.map(({ time }) => time)).toEqual(cells.map(([, , text]) => text));
});

test('without a name the first sheet that is not hidden, and the others are named', async () => {
  const hidden: WriteSheet = { name: 'Setup', hidden: true, rows: [['x'], ['y']] };
  const workbook = await writeXlsx({ sheets: [hidden, tickets] });
  expect((await inspect(workbook)).report).toMatchObject({ sheets: ['Setup', 'Tickets'], sheet: 'Tickets' });
  expect((await inspect(workbook, 'Setup')).rows).toEqual([{ x: 'y' }]);
  await expect(inspect(workbook, 'Sheet9')).rejects.toThrow('has no sheet "Sheet9"; it has Setup, Tickets');
});

test('what cannot be read is rejected with the reason', async () => {
  const wide = Array.from({ length: 16_384 }, (_, index) => `c${index}`);
  await expect(inspect(await writeXlsx({ sheets: [{ name: 'Wide', rows: [wide] }] }))).rejects.toThrow(
    'has 16,384 columns',
  );
  const bomb = await writeXlsx({ sheets: [{ name: 'Bomb', rows: [['a'], ['b'.repeat(70_000_000)]] }] });
  expect(bomb.length).toBeLessThan(1_000_000);
  await expect(inspect(bomb)).rejects.toThrow('unpacks to 67 MB, more than 64 MB');
  const locked = await writeXlsx({ sheets: [tickets], encryption: { password: 'x', spinCount: 1 } });
  await expect(inspect(locked)).rejects.toThrow('is an old or a protected Excel file');
  const whole = await writeXlsx({ sheets: [tickets] });
  await expect(inspect(whole.subarray(0, whole.length - 40))).rejects.toThrow('is not a valid workbook');
  await expect(inspect(await writeXlsx({ sheets: [{ name: 'Empty', rows: [] }] }))).rejects.toThrow('has no rows');
});
