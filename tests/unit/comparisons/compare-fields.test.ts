import { expect, test, vi } from 'vitest';
import { fieldsOf } from '../../../electron/comparisons/compare-fields.ts';
import { readRows } from '../../../electron/comparisons/read-rows.ts';

/** One row with an expected object of 150 fields, and so many cells. */
function rowWith(cells: number) {
  const expected = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, index]));
  const datasets = {
    read: () => ({ columns: [{ name: 'expected', type: 'expected' }] }),
    rows: () => [{ id: 'row', values: { expected } }],
  };
  const settings = { rowCount: 1, variantCount: 1, repeats: cells };
  return { expected, datasets, comparison: { datasetId: 'd', datasetVersion: 1, settings } };
}

/** Counts the steps of the work between two turns of other work; a step takes 5 ms. */
function countSteps() {
  let [now, steps, maxCounted] = [0, 0, 0];
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const other = () => {
    steps = 0;
    next = setImmediate(other);
  };
  let next = setImmediate(other);
  return {
    step: () => {
      now += 5;
      steps += 1;
      maxCounted = Math.max(maxCounted, steps);
    },
    end: () => {
      clearImmediate(next);
      return maxCounted;
    },
  };
}

function compared(cells: number, answer: () => string) {
  const { comparison, datasets } = rowWith(cells);
  const store = { runIds: () => Array.from({ length: cells }, () => 'run'), answer };
  const read = { comparison, setup: { variants: [{}] } };
  return fieldsOf(read as never, datasets as never, store, new AbortController().signal);
}

test('fields that are not compared are not counted', async () => {
  const { expected } = rowWith(1);
  const names = Object.keys(expected).slice(0, 100);
  const counted = (agreeing: number) => names.map((name) => ({ name, variants: [{ agreeing, answers: 1 }] }));
  expect((await compared(1, () => '{}')).fields).toEqual(counted(0));
  expect((await compared(1, () => JSON.stringify(expected))).fields).toEqual(counted(1));
});

test('other work runs between the answers of one row', async () => {
  const { step, end } = countSteps();
  await compared(100, () => {
    step();
    return '{}';
  });
  expect(end()).toBeLessThan(10);
});

test('other work runs between the cells of one row of a table', async () => {
  const { step, end } = countSteps();
  const { comparison, datasets } = rowWith(100);
  const cell = {
    state: 'Completed',
    get answer() {
      step();
      return '{}';
    },
  };
  const results = { load: () => Promise.resolve(), count: () => 0, isLoaded: true };
  const job = { comparison, cells: { results, total: 100, cellsPerRow: 100 }, flush: vi.fn() };
  const describe = (positions: readonly number[]) => Promise.resolve(positions.map(() => cell));
  const query = { offset: 0, limit: 1, filter: 'all', sort: 'row', characters: 10 } as const;
  const options = { store: { setup: () => ({ checks: [] }) }, datasets };
  const { data } = await readRows(job as never, query, describe as never, options as never);
  expect(data[0]!.cells).toHaveLength(100);
  expect(end()).toBeLessThan(10);
});
