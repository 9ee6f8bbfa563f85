import { expect, test, vi } from 'vitest';
import { exportText } from '../../../electron/comparisons/export-comparison.ts';
import type { ExportedCell, ExportSelection } from '../../../electron/comparisons/export-source.ts';

const names = ['A', 'B', 'C'];

/** A comparison of 3,000 cells of which each takes a millisecond to read. */
function source() {
  const selections: (ExportSelection | undefined)[] = [];
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  function* cells(selection?: ExportSelection): Generator<ExportedCell> {
    selections.push(selection);
    for (let index = 0; index < 3000; index += 1) {
      now += 1;
      const [row, variant] = [Math.floor(index / 3), names[index % 3]!];
      if (selection?.variant !== undefined && names[selection.variant] !== variant) continue;
      const cell = { variant, repeat: 1, state: 'Completed', passed: true, checks: [], votes: [], runId: null };
      yield { row, values: {}, cell, preferences: [] } as unknown as ExportedCell;
    }
  }
  const comparison = { name: 'T', repeats: 1, variants: names.map((name) => ({ name })) };
  const preferences = () => ({ choices: new Map(), readRun: () => null });
  return { selections, whole: { comparison, columns: [], cells, report: vi.fn(), preferences } as never };
}

test.each(['preferences', 'junit', 'csv'] as const)('other work runs between the cells of %s', async (format) => {
  const { whole } = source();
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  for await (const part of exportText(whole, format)) expect(part).not.toBe('');
  isDone = true;
  // One for each 8 ms, and more where a row ends one.
  expect(turns).toBeGreaterThan(200);
});

test('JUnit reads the cells of one variant at a time, without answers', async () => {
  const { whole, selections } = source();
  for await (const part of exportText(whole, 'junit')) expect(part).not.toBe('');
  expect(selections).toEqual([0, 1, 2].map((variant) => ({ variant, hasAnswers: false })));
});
