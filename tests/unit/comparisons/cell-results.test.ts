import { expect, test } from 'vitest';
import { CellTable } from '../../../electron/comparisons/cell-table.ts';
import { newCell, type StoredCell } from '../../../electron/storage/comparison-cells.ts';

const size = { rows: 3, variants: 2, repeats: 2 };

function completed(position: number, change: Partial<StoredCell> = {}): StoredCell {
  return { ...newCell(position), state: 'Completed', answerHash: '00000001', ...change };
}

/** A table with these cells. */
function tableOf(cells: readonly StoredCell[]): CellTable {
  const table = new CellTable(size);
  for (const cell of cells) table.set(cell.position, cell.state);
  return table;
}

const check = (pass: boolean | null) => ({ kind: 'equals', name: null, pass, score: null, reason: '' });
const cells = [
  completed(0, { passed: true, checks: [check(true)], cost: 1, totalMs: 10, promptTokens: 5 }),
  completed(1, { passed: true, checks: [check(true)], completionTokens: 7 }),
  completed(2, { passed: false, checks: [check(false)], totalMs: 900 }),
  completed(3, { passed: null, checks: [check(null)] }),
  completed(4, { cost: 3 }),
  completed(6, { answerHash: '00000002' }),
  { ...newCell(8), state: 'Failed' as const },
];

test('what was loaded is what was noted while it ran, and each cell counts once', async () => {
  const live = tableOf(cells).results;
  for (const cell of cells) if (cell.state === 'Completed') live.add(cell);
  const loaded = tableOf(cells).results;
  loaded.add(cells[0]!);
  const store = {
    cells: (_: number, { from, to }: { from: number; to: number }) =>
      cells.filter(({ position }) => position >= from && position < to),
  };
  await Promise.all([loaded.load(store, 1), loaded.load(store, 1)]);
  expect(loaded.isLoaded).toBe(true);
  for (const results of [live, loaded]) {
    expect(results.checks(0)).toEqual([{ passes: 2, judged: 2 }]);
    expect(results.checks(1)).toEqual([{ passes: 0, judged: 1 }]);
    expect([...results.measured(0, 'passes')]).toEqual([1, 1, NaN, NaN, NaN, NaN]);
    expect([...results.measured(0, 'tokens')]).toEqual([5, 7, NaN, NaN, NaN, NaN]);
    expect([...results.measured(1, 'latencies').slice(0, 2)]).toEqual([900, NaN]);
    expect([...results.rows('differs', 'row', new Set())]).toEqual([0, 1]);
    expect([...results.rows('fails', 'row', new Set())]).toEqual([0, 2]);
    expect([...results.rows('all', 'cost', new Set())]).toEqual([1, 0, 2]);
    expect([...results.rows('all', 'latency', new Set())]).toEqual([0, 1, 2]);
    expect([...results.rows('all', 'difference', new Set())]).toEqual([0, 1, 2]);
    expect([results.count('all'), results.count('differs'), results.count('fails')]).toEqual([3, 2, 2]);
    expect(results.endedRows()).toBe(1);
  }
});

test('filters and sorts 100,000 rows of 10 variants', () => {
  const table = new CellTable({ rows: 100_000, variants: 10, repeats: 1 });
  for (let position = 0; position < table.total; position += 7)
    table.results.add(completed(position, { passed: position % 3 === 0, cost: position % 11 }));
  expect(table.results.rows('all', 'cost', new Set())).toHaveLength(100_000);
  expect(table.results.count('differs')).toBeGreaterThan(0);
  expect(table.results.count('fails')).toBeGreaterThan(0);
});
