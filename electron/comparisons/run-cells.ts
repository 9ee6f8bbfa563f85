import type { RunOrigin } from '../completions/completions.ts';
import type { StoredCell } from '../storage/comparison-cells.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { type ActiveCalls, afterFailure, describeFailure, hasBudget, missingValues } from './cell-calls.ts';
import { rowOrder } from './cell-table.ts';
import type { ComparisonRecord } from './comparison-record.ts';
import type { ComparisonJobOptions, PreparedVariant } from './job-options.ts';
import type { CompletedRun } from './judge-run.ts';

interface CellRuns {
  readonly options: ComparisonJobOptions;
  readonly record: ComparisonRecord;
  readonly calls: ActiveCalls;
  readonly origin: RunOrigin;
  readonly signal: AbortSignal;
}

export const overBudget = 'The next run could exceed the maximum cost.';

/** Whether another run fits the budget. Notes the reason to stop if it doesn't. A run whose answer is judged has not ended. */
function staysInBudget({ options, record }: Pick<CellRuns, 'options' | 'record'>): boolean {
  const { spent, runsWithoutCost } = record.costs;
  const runs = record.cells.count('Completed') - runsWithoutCost;
  const average = runs > 0 ? spent / runs : 0;
  const { maxCost } = options.comparison.settings;
  if (hasBudget(maxCost, { spent, average, active: record.cells.count('Running') })) return true;
  record.noteStop(overBudget);
  return false;
}

/** Waits for the limits of the provider and of the key. Null if no call may be made then, because the comparison stops. */
async function readyToCall(provider: string, { signal, ...runs }: CellRuns) {
  const { options, record, origin } = runs;
  const { concurrency } = options.comparison.settings;
  try {
    const permit = await options.limits.take(provider, origin, { concurrency, signal });
    // Others may have started while this one waited.
    if (record.stopReason === null && staysInBudget(runs)) return permit;
    permit.release();
  } catch (error) {
    if (!signal.aborted) record.noteFailure(error);
  }
  return null;
}

/** The cell after a failed call: waiting again, or at its end. */
function cellAfter(cell: StoredCell, error: unknown, calls: number, { options, record, origin }: CellRuns): StoredCell {
  const { attempts, timeLimitSeconds } = options.comparison.settings;
  const failure = describeFailure(error, options.log);
  const { change, stopsAll } = afterFailure(cell, error, { failure, calls, attempts, timeLimitSeconds });
  options.limits.noteFailure(error, origin);
  if (stopsAll) record.noteStop(failure.message);
  return Object.assign({}, cell, change);
}

/** One call of a cell. */
async function callOnce(
  cell: StoredCell & { readonly runId: string },
  { payer, release }: NonNullable<Awaited<ReturnType<typeof readyToCall>>>,
  { requests, request }: PreparedCell,
  { options, record, calls }: CellRuns,
) {
  const { storedPrompt, isHistoryVariable } = requests;
  const call = { runId: cell.runId, request, origin: payer, storedPrompt, isHistoryVariable };
  const { timeLimitSeconds } = options.comparison.settings;
  try {
    record.note(cell);
    // On disk before the call, so that no call is made twice after a crash.
    record.flush();
    return await calls.run(options.completions, cell.position, call, timeLimitSeconds);
  } finally {
    release();
  }
}

type PreparedCell = NonNullable<ReturnType<typeof prepareCell>>;

/** The request of a cell; null for a row that lacks variables, which is marked. */
function prepareCell(cell: StoredCell, { requests }: PreparedVariant, { options, record }: CellRuns) {
  const { row, repeat } = record.cells.index(cell.position);
  const values = options.readRow(row);
  const { replacements, missing } = requests.fill(values);
  if (missing.length > 0) {
    record.note({ ...cell, state: 'Skipped', failure: missingValues(missing) });
    return null;
  }
  const comparisonId = options.comparison.id;
  const metadata = { comparisonId, rowId: values.id, variant: requests.variant.name, repeat: repeat + 1 };
  return { requests, values, request: requests.request(replacements, metadata) };
}

/** Checks the answer of a cell, which is completed then. */
async function judgeCell(
  cell: StoredCell & { readonly runId: string },
  run: CompletedRun,
  { values }: PreparedCell,
  { options, record, origin, signal }: CellRuns,
): Promise<void> {
  const { concurrency } = options.comparison.settings;
  const result = await options.judge(run, values, { signal, judged: { runId: cell.runId, origin, concurrency } });
  if (result) record.complete({ ...cell, ...result });
  // It keeps its run, so that its answer is checked, and not paid again, when the comparison resumes.
  else record.note({ ...cell, state: 'Stopped' });
}

async function runCell(position: number, variant: PreparedVariant, runs: CellRuns): Promise<void> {
  const { options, record } = runs;
  const { cells } = record;
  let cell = record.read(position);
  const prepared = prepareCell(cell, variant, runs);
  const { runId: earlierId } = cell;
  const earlier = prepared && earlierId !== null ? options.completedRun(earlierId) : null;
  if (prepared && earlierId !== null && earlier) {
    const answered = Object.assign({}, cell, { state: 'Running', runId: earlierId, failure: null } as const);
    record.note(answered);
    return judgeCell(answered, earlier, prepared, runs);
  }
  for (let calls = 1; prepared && cells.get(position) === 'Waiting'; calls += 1) {
    const permit = await readyToCall(variant.provider, runs);
    if (permit === null) return;
    if (cells.get(position) !== 'Waiting') return permit.release();
    const runId = timeOrderedId();
    const change = { state: 'Running', runId, attempts: cell.attempts + 1, failure: null } as const;
    const called = Object.assign({}, cell, change);
    const outcome = await callOnce(called, permit, prepared, runs);
    if (outcome.status === 'completed') {
      const run = { ...outcome.run, cost: outcome.run.cost?.amount ?? null };
      return judgeCell(called, run, prepared, { ...runs, origin: permit.payer });
    }
    cell = cellAfter(called, outcome.error, calls, runs);
    record.note(cell);
  }
}

/** Rows that are tried until a run has completed. */
const maxFirstRows = 3;

/**
 * Nobody knows what a run costs before one has ended, and all that start meanwhile could exceed a spend cap. So one runs alone, and then
 * one of each other variant, because models differ in price.
 */
async function learnCosts(order: Uint32Array, variants: readonly PreparedVariant[], runs: CellRuns): Promise<void> {
  const { options, record, signal } = runs;
  const { cells } = record;
  if (options.comparison.settings.maxCost === null) return;
  for (const row of order.subarray(0, maxFirstRows)) {
    const ofRow = variants.map((_, variant) => cells.position({ row, variant, repeat: 0 }));
    const [first, ...others] = ofRow.filter((position) => cells.get(position) === 'Waiting');
    if (cells.count('Completed') > 0 || first === undefined || signal.aborted) return;
    const run = (position: number) => runCell(position, variants[cells.index(position).variant]!, runs);
    await run(first);
    if (cells.count('Completed') > 0) await Promise.all(others.map(run));
  }
}

/** Runs the waiting cells of the first rows, as many at a time as the comparison allows at each provider. */
export async function runCells(runs: CellRuns, maxRows: number | null): Promise<void> {
  const { options, record, signal } = runs;
  const { rowCount, seed, concurrency } = options.comparison.settings;
  const variants = await options.prepare();
  const order = rowOrder(rowCount, seed).subarray(0, maxRows ?? rowCount);

  async function work(positions: Generator<number>): Promise<void> {
    while (!signal.aborted && record.stopReason === null && staysInBudget(runs)) {
      const { done, value: position } = positions.next();
      if (done) return;
      await runCell(position, variants[record.cells.index(position).variant]!, runs);
    }
  }

  await learnCosts(order, variants, runs);
  const queues = record.cells.queues(order, variants);
  await Promise.all(queues.flatMap((positions) => Array.from({ length: concurrency }, () => work(positions))));
}
