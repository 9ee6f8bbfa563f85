// @module-tag slow
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCheckRunner } from '../../../electron/comparisons/checks/create-check-runner.ts';
import type { CheckServices } from '../../../electron/comparisons/checks/service-checks.ts';
import { ComparisonJob } from '../../../electron/comparisons/comparison-job.ts';
import type { ComparisonJobOptions } from '../../../electron/comparisons/job-options.ts';
import { createRunJudge } from '../../../electron/comparisons/judge-run.ts';
import { CellTable } from '../../../electron/comparisons/cell-table.ts';
import { createComparisonStore, type StoredComparison } from '../../../electron/storage/comparison-store.ts';
import { openDatabase } from '../../../electron/storage/database.ts';
import { createDatasetStore } from '../../../electron/storage/dataset-store.ts';
import type { Check } from '../../../shared/contract/checks.ts';
import type { RunDetail } from '../../../shared/contract/runs.ts';
import { patience } from '../../support/patience.ts';
import { temporaryDirectory } from '../storage/test-storage.ts';

const rowCount = 3;
const judgeId = 'judge';
const checks: Check[] = [{ kind: 'length', max: 100 }, { kind: 'moderation' }, { kind: 'judge', judgeId }];
const origin = { callerId: 'caller' } as Parameters<ComparisonJob['start']>[0]['origin'];
const start = { origin, maxRows: null };

/** A check that waits until the test passes it, or until its signal aborts. */
class HeldCheck {
  readonly #resume: (() => void)[] = [];
  started = 0;
  isHolding = true;

  async wait(signal: AbortSignal): Promise<void> {
    this.started += 1;
    if (!this.isHolding) return;
    await new Promise<void>((resolve, reject) => {
      this.#resume.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      if (signal.aborted) reject(signal.reason as Error);
    });
  }

  pass(): void {
    this.isHolding = false;
    for (const resume of this.#resume) resume();
  }
}

function createWorld(maxMsAfterStop?: number) {
  const database = openDatabase(temporaryDirectory());
  onTestFinished(() => void database.close());
  const store = createComparisonStore(database, 'secret');
  const datasetId = createDatasetStore(database, 'secret').create('Tickets');
  const held = new HeldCheck();
  const verdicts: string[] = [];
  const runs = new Map<string, RunDetail>();
  const judgeRuns = new Map<string, RunDetail>();
  const log: unknown[] = [];
  const closing = new AbortController();
  const services = {
    moderation: {
      classify: async (_text: string, { signal }: { signal: AbortSignal }) => {
        await held.wait(signal);
        return { categories: { violence: false }, categoryScores: { violence: 0 } };
      },
    },
    judges: {
      judge: async (_id: string, { runId }: { runId: string }, { origin: payer }: { origin: unknown }) => {
        if (payer === null) return { pass: null, score: null, reason: 'was not asked' };
        verdicts.push(runId);
        const judgeRunId = `verdict on ${runId}`;
        judgeRuns.set(judgeRunId, { status: 'Completed', cost: 1, output: {} } as RunDetail);
        return { pass: true, score: 1, counts: true, reason: 'Fine', runIds: [judgeRunId], cost: 1 };
      },
    },
  } as unknown as CheckServices;
  const runner = createCheckRunner(services);
  onTestFinished(() => runner.close());
  const logAll = (...entry: unknown[]) => void log.push(entry);
  const judge = createRunJudge(
    {
      store: { setup: () => ({ variants: [], variables: null, checks }) },
      runs: { read: (id) => runs.get(id) ?? judgeRuns.get(id) ?? null },
      checks: runner,
      log: logAll,
      ...(maxMsAfterStop !== undefined && { maxMsAfterStop }),
    },
    closing.signal,
  );

  const completions = {
    start: async (_request: unknown, _payer: unknown, { runId }: { runId: string }) => {
      const answer = { content: 'Hello', usage: null, firstTokenMs: 1, totalMs: 2, citations: [] };
      const cost = { amount: 2 };
      const output = { content: 'Hello', toolCalls: [], finishReason: 'Stop' };
      runs.set(runId, { ...answer, runId, status: 'Completed', cost: 2, output } as unknown as RunDetail);
      const outcome = { ...answer, status: 'Completed', finishReason: 'Stop', cost };
      return { run: { outcome, async *stream() {} } };
    },
  } as unknown as ComparisonJobOptions['completions'];
  const requests = {
    variant: { name: 'A' },
    storedPrompt: null,
    isHistoryVariable: false,
    fill: () => ({ replacements: {}, missing: [] }),
    request: () => ({ promptText: 'Hi' }),
  } as unknown as Awaited<ReturnType<ComparisonJobOptions['prepare']>>[number]['requests'];

  const open = (comparison: StoredComparison) =>
    ComparisonJob.open({
      comparison,
      store,
      completions,
      limits: { take: async () => ({ payer: origin, release: () => undefined }), noteFailure: () => undefined },
      readRow: (row) => ({ id: `${row}`, values: {} }),
      prepare: async () => [{ requests, provider: 'scripted' }],
      completedRun: judge.completedRun,
      judge: (run, row, options) => judge.judge(comparison.sequence, run, row, options),
      onChange: () => undefined,
      log: logAll,
    });
  const create = () =>
    store.create({
      name: 'A',
      datasetId,
      datasetVersion: 1,
      settings: {
        ...{ variantCount: 1, baseline: 'A', basedOn: null, repeats: 1, concurrency: rowCount, maxCost: null },
        ...{ attempts: 1, timeLimitSeconds: 60, seed: null, rowCount, estimate: null },
      },
      setup: { variants: [], variables: null, checks },
      summary: {
        ...{ counts: new CellTable({ rows: rowCount, variants: 1, repeats: 1 }).counts(), spent: 0 },
        ...{ runsWithoutCost: 0, stoppedVariants: [], stopReason: null, startedAt: null, completedAt: null },
      },
    });
  const cellsOf = ({ sequence }: StoredComparison) =>
    Array.from({ length: rowCount }, (_, position) => store.cell(sequence, position)!);
  return { store, held, verdicts, runs, log, closing, judge, open, create, cellsOf };
}

type World = ReturnType<typeof createWorld>;

/** Starts a comparison. Resolves when every answer is being checked. */
async function startChecking({ create, open, held }: World) {
  const comparison = create();
  const job = await open(comparison);
  job.start(start);
  await expect.poll(() => held.started, patience).toBe(rowCount);
  return { comparison, job };
}

const resultsOf = (world: World, comparison: StoredComparison) =>
  world.cellsOf(comparison).map(({ state, checks: done }) => [state, ...done.map(({ pass }) => pass)]);
const each = (...result: unknown[]) => Array.from({ length: rowCount }, () => result);

describe('answers that are being checked when the comparison stops', () => {
  test('are checked to the end, without a judge that is paid', async () => {
    const world = createWorld();
    const { comparison, job } = await startChecking(world);
    const stopped = job.stop({ isClosing: false });
    await expect.poll(() => world.held.started, patience).toBe(2 * rowCount);
    world.held.pass();
    await stopped;
    expect(resultsOf(world, comparison)).toEqual(each('Completed', true, true, null));
    expect([job.state().state, world.verdicts, world.log]).toEqual(['Completed', [], []]);
  });

  test('are checked when it resumes, if that takes too long, and not paid again', async () => {
    const world = createWorld(20);
    const { comparison, job } = await startChecking(world);
    await job.stop({ isClosing: false });
    expect(resultsOf(world, comparison)).toEqual(each('Stopped'));
    expect([job.state().state, job.state().cells.stopped]).toEqual(['Stopped', rowCount]);
    world.held.pass();
    const resumed = await world.open(world.store.find(comparison.id));
    resumed.start(start);
    await expect.poll(() => resumed.isActive, patience).toBe(false);
    expect(resultsOf(world, comparison)).toEqual(each('Completed', true, true, true));
    expect([world.runs.size, world.verdicts.length, resumed.state().cost.spent]).toEqual([rowCount, rowCount, 9]);
  });

  test('run again if their runs were deleted', async () => {
    const world = createWorld(20);
    const { comparison, job } = await startChecking(world);
    await job.stop({ isClosing: false });
    world.runs.clear();
    world.held.pass();
    job.start(start);
    await expect.poll(() => job.isActive, patience).toBe(false);
    expect(resultsOf(world, comparison)).toEqual(each('Completed', true, true, true));
    expect(world.runs.size).toBe(rowCount);
  });

  test('are left to the next start at once when the host closes', async () => {
    const world = createWorld(2 * patience.timeout);
    const { comparison, job } = await startChecking(world);
    world.closing.abort();
    await job.stop({ isClosing: true });
    expect(resultsOf(world, comparison)).toEqual(each('Stopped'));
    world.held.pass();
    job.start(start);
    await expect.poll(() => job.isActive, patience).toBe(false);
    expect(resultsOf(world, comparison)).toEqual(each('Completed', true, true, true));
    expect(world.runs.size).toBe(rowCount);
  });
});

test('a host that closes while it recovers a comparison leaves its answers to the next one', async () => {
  const world = createWorld();
  const { comparison } = await startChecking(world);
  // As the store is after a crash.
  const recover = async (closing: AbortSignal) => {
    const job = await world.open(world.store.find(comparison.id));
    const judging = { signal: closing, origin: null, concurrency: rowCount };
    await job.recover((runId, row) => world.judge.completedCell(comparison.sequence, runId, row, judging), closing);
  };
  const closing = new AbortController();
  const recovering = recover(closing.signal);
  await expect.poll(() => world.held.started, patience).toBe(rowCount + 1);
  closing.abort();
  await recovering;
  expect(world.store.interrupted()).toHaveLength(1);
  expect(resultsOf(world, comparison)).toEqual(each('Running'));
  world.held.isHolding = false;
  await recover(new AbortController().signal);
  expect(resultsOf(world, comparison)).toEqual(each('Completed', true, true, null));
});
