import { expect, test } from 'vitest';
import { createStatistics } from '../../../electron/comparisons/create-statistics.ts';
import { createRowFinder } from '../../../electron/comparisons/order-rows.ts';
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
    expect([results.tokens(0), results.tokens(1)]).toEqual([6, null]);
    expect([...results.measured(1, 'latencies').slice(0, 2)]).toEqual([900, NaN]);
    expect([...results.rows('differs')]).toEqual([0, 1]);
    expect([...results.rows('fails')]).toEqual([0, 2]);
    const all = results.rows('all');
    expect([...(await results.keys('cost', all))]).toEqual([1, 3, 0]);
    expect([...(await results.keys('latency', all))]).toEqual([900, 0, 0]);
    expect([...(await results.keys('difference', all))]).toEqual([4 + 1e-6, 1e-6, 0]);
    expect([results.count('differs'), results.count('fails')]).toEqual([2, 2]);
  }
});

test('counts rows that have ended, and a row that fails no longer when its cells are run again', () => {
  const table = tableOf(cells);
  expect([table.endedRows, table.results.count('fails')]).toEqual([1, 1]);
  for (const position of [9, 10, 11]) table.set(position, 'Completed');
  expect(table.endedRows).toBe(2);
  table.set(8, 'Waiting');
  expect([table.endedRows, table.results.count('fails')]).toEqual([1, 0]);
  table.set(8, 'Skipped');
  expect(table.endedRows).toBe(2);
  const [, , failing] = cells;
  table.results.add(failing!);
  expect([...table.results.rows('fails')]).toEqual([0]);
  table.results.remove(failing!);
  expect([...table.results.rows('fails')]).toEqual([]);
});

test('filters and sorts 100,000 rows of 10 variants, with other work in between', async () => {
  const table = new CellTable({ rows: 100_000, variants: 10, repeats: 1 });
  for (let position = 0; position < table.total; position += 7)
    table.results.add(completed(position, { passed: position % 3 === 0, cost: position % 11 }));
  const statistics = createStatistics();
  const finder = createRowFinder(statistics);
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  try {
    const order = { filter: 'all', sort: 'cost' } as const;
    const rows = await finder.find(table.results, order, new Set());
    expect(rows).toHaveLength(100_000);
    const costs = await table.results.keys('cost', rows);
    expect(costs).toEqual(costs.toSorted().toReversed());
    expect(ticks).toBeGreaterThan(3);
    expect(await finder.find(table.results, order, new Set())).toBe(rows);
    table.results.add(completed(1, { cost: 1000 }));
    expect((await finder.find(table.results, order, new Set()))[0]).toBe(0);
    expect([...(await finder.find(table.results, { filter: 'disagrees', sort: 'row' }, new Set([9, 2])))]).toEqual([
      2, 9,
    ]);
  } finally {
    clearInterval(timer);
    await statistics.close();
  }
  expect(table.results.count('differs')).toBeGreaterThan(0);
  expect(table.results.count('fails')).toBeGreaterThan(0);
});
