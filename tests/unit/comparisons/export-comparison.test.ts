import { expect, test, vi } from 'vitest';
import { exportText } from '../../../electron/comparisons/export-comparison.ts';
import type { ExportedCell, ExportSelection } from '../../../electron/comparisons/export-source.ts';

const names = ['A', 'B', 'C'];

/** A comparison of 3,000 cells of which each takes a millisecond to read. */
function source(answer = 'answer') {
  const selections: (ExportSelection | undefined)[] = [];
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const readAnswer = vi.fn(() => answer);
  async function* cells(selection?: ExportSelection): AsyncGenerator<ExportedCell> {
    selections.push(selection);
    for (let index = 0; index < 3000; index += 1) {
      now += 1;
      const [row, variant] = [Math.floor(index / 3), names[index % 3]!];
      if (selection?.variant !== undefined && names[selection.variant] !== variant) continue;
      const cell = { variant, repeat: 1, state: 'Completed', passed: true, checks: [], votes: [], runId: null };
      yield { row, values: {}, cell, readAnswer, preferences: [] } as unknown as ExportedCell;
    }
  }
  const comparison = { name: 'T', repeats: 1, variants: names.map((name) => ({ name })) };
  const preferences = () => ({ choices: new Map(), readRun: () => null });
  return { selections, readAnswer, whole: { comparison, columns: [], cells, report: vi.fn(), preferences } as never };
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

test.each(['csv', 'jsonl'] as const)('an answer is read when %s writes it', async (format) => {
  const { whole, readAnswer } = source('answer '.repeat(20_000));
  const parts = exportText(whole, format);
  while (readAnswer.mock.calls.length === 0) await parts.next();
  expect(readAnswer).toHaveBeenCalledTimes(1);
  await parts.next();
  expect(readAnswer).toHaveBeenCalledTimes(2);
});

test('JUnit reads the cells of one variant at a time, without answers', async () => {
  const { whole, selections, readAnswer } = source();
  for await (const part of exportText(whole, 'junit')) expect(part).not.toBe('');
  expect(selections).toEqual([0, 1, 2].map((variant) => ({ variant })));
  expect(readAnswer).not.toHaveBeenCalled();
});

test('CSV has no two columns of one name', async () => {
  const { whole } = source();
  const columns = ['question', 'answer', 'row', 'dataset_answer'];
  const [part] = await Array.fromAsync(exportText({ ...(whole as object), columns } as never, 'csv'));
  expect(part!.split('\r\n')[0]!.replace('\uFEFF', '').split(',').slice(0, 12)).toEqual([
    ...['row', 'question', 'dataset_answer_2', 'dataset_row', 'dataset_answer'],
    ...['variant', 'repeat', 'state', 'passed', 'score', 'answer', 'failure'],
  ]);
});
