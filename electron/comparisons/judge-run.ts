import type { Check, CheckResult } from '../../shared/contract/checks.ts';
import type { DatasetRow } from '../../shared/contract/datasets.ts';
import type { Log } from '../log.ts';
import { newCell, type StoredCell } from '../storage/comparison-cells.ts';
import type { ComparisonStore, ComparisonSummary } from '../storage/comparison-store.ts';
import type { RunStore } from '../storage/storage.ts';
import type { CheckRunner } from './checks/create-check-runner.ts';
import type { JudgedRun } from './checks/service-checks.ts';
import { cellVerdict } from './checks/combine-results.ts';
import type { JudgedCell as JudgedAgain } from './judge/judge-again.ts';
import type { CheckedOutput } from './checks/local-checks.ts';
import { type CellOutcome, kindOfFailure, outcomeOf } from './run-cell.ts';

interface Cancellable {
  readonly signal: AbortSignal;
}

interface JudgeRunOptions extends Cancellable {
  readonly judged: JudgedRun;
}

/** A completed run, as it was recorded or as the audit has it. */
export interface CompletedRun extends Omit<Parameters<typeof outcomeOf>[0], 'totalMs'> {
  readonly totalMs: number | null;
  readonly finishReason: string | null;
  readonly citations: readonly { readonly index: number }[];
}

/** What checks say about a cell. */
type CellVerdict = Pick<StoredCell, 'checks' | 'passed' | 'score'>;

/** What a completed run says about its cell. */
export type JudgedCell = CellOutcome & CellVerdict;

/** Runs the checks of a comparison on the answers of its runs. */
export interface RunJudge {
  /**
   * After a stop, the checks that cost nothing have some more seconds. Null if they took longer or the host closes: the answer has to be
   * checked later. Never rejects: the run is paid, so a cell whose checks fail is completed, too.
   */
  judge(comparison: number, run: CompletedRun, row: DatasetRow, options: JudgeRunOptions): Promise<JudgedCell | null>;
  /** Null for a run that wasn't completed, or was deleted. */
  completedRun(runId: string): CompletedRun | null;
  /**
   * The cell of a run that was completed; null for any other run, and after the signal's abort. With a null origin nobody started this, so
   * that a judge isn't paid: only its earlier verdict is used.
   */
  completedCell(
    comparison: number,
    runId: string,
    row: DatasetRow,
    options: Cancellable & Omit<JudgedRun, 'runId'>,
  ): Promise<StoredCell | null>;
  /**
   * A completed cell with what its checks say now. Results that can't be had again stay, such as those of a judge that was deleted.
   * Null if nothing changed, such as for a run that was deleted. Never rejects: what was paid before a failure counts.
   */
  judgeAgain(
    comparison: number,
    before: StoredCell,
    row: DatasetRow,
    options: Cancellable & Omit<JudgedRun, 'runId' | 'asksAgain'>,
  ): Promise<JudgedAgain | null>;
}

export interface RunJudgeOptions {
  readonly store: Pick<ComparisonStore, 'setup'>;
  readonly runs: Pick<RunStore, 'read'>;
  readonly checks: Pick<CheckRunner, 'run'>;
  readonly log: Log;
  readonly maxMsAfterStop?: number;
}

/** What the runs of judges cost, in US dollars. Several checks may have the same run, which counts once. An unknown price counts as 0. */
export function judgeCosts(results: readonly CheckResult[], completedRun: RunJudge['completedRun']): number {
  const runIds = new Set(results.flatMap(({ runIds: ofCheck = [] }) => ofCheck));
  return [...runIds].reduce((sum, runId) => sum + (completedRun(runId)?.cost ?? 0), 0);
}

type Costs = Pick<ComparisonSummary, 'spent' | 'spentByJudges' | 'runsWithoutCost'>;

/** A summary with what a completed cell has cost, of it `judges` for judges. */
export function withCosts<Summary extends Costs>(summary: Summary, cell: StoredCell, judges: number): Summary {
  return {
    ...summary,
    spent: summary.spent + (cell.cost ?? 0) + judges,
    spentByJudges: (summary.spentByJudges ?? 0) + judges,
    runsWithoutCost: summary.runsWithoutCost + (cell.cost === null ? 1 : 0),
  };
}

/** The checks of all answers that a stop interrupts may take so long together: who stops a comparison waits for them. */
const defaultMsAfterStop = 10_000;

const noVerdict: CellVerdict = { checks: [], passed: null, score: null };

/** What the checks see of a run. */
function checkedOutput(run: CompletedRun): CheckedOutput {
  return {
    answer: run.content,
    toolCalls: run.toolCalls ?? [],
    finishReason: run.finishReason,
    latencyMs: run.totalMs,
    cost: run.cost,
    passages: run.citations.map(({ index }) => index),
  };
}

export function createRunJudge(
  { store, runs, checks, log, maxMsAfterStop = defaultMsAfterStop }: RunJudgeOptions,
  closing: AbortSignal,
): RunJudge {
  const lists = new Map<number, readonly Check[]>();

  /** Read once: a setup can have megabytes. */
  function checksOf(comparison: number): readonly Check[] {
    const list = lists.get(comparison) ?? store.setup(comparison).checks;
    lists.set(comparison, list);
    return list;
  }

  async function verdict(
    comparison: number,
    run: CompletedRun,
    row: DatasetRow,
    { signal, judged }: JudgeRunOptions,
  ): Promise<CellVerdict> {
    const list = checksOf(comparison);
    if (list.length === 0) return noVerdict;
    const results = await checks.run(list, checkedOutput(run), row.values, { signal, judged });
    const { pass: passed, score } = cellVerdict(list, results);
    return { checks: results, passed, score };
  }

  async function judge(
    comparison: number,
    run: CompletedRun,
    row: DatasetRow,
    options: JudgeRunOptions,
  ): Promise<JudgedCell | null> {
    const outcome = outcomeOf(run);
    try {
      return { ...outcome, ...(await verdict(comparison, run, row, options)) };
    } catch (error) {
      if (options.signal.aborted) return null;
      log('the checks of a cell failed', error);
      return { ...outcome, ...noVerdict };
    }
  }

  function completedRun(runId: string): CompletedRun | null {
    const run = runs.read(runId);
    if (run?.status !== 'Completed') return null;
    const { content, toolCalls = [], finishReason } = run.output;
    return { ...run, content, toolCalls, finishReason };
  }

  async function judgeAgain(
    comparison: number,
    before: StoredCell,
    row: DatasetRow,
    { signal, judged }: JudgeRunOptions,
  ): Promise<StoredCell | null> {
    const run = completedRun(judged.runId);
    if (!run) return null;
    const now = await verdict(comparison, run, row, { signal, judged: { ...judged, asksAgain: true } });
    const results = now.checks.map((result, index) => {
      const earlier = before.checks[index];
      return result.pass === null && earlier && earlier.pass !== null ? earlier : result;
    });
    const { pass: passed, score } = cellVerdict(checksOf(comparison), results);
    return { ...before, checks: results, passed, score };
  }

  return {
    async judge(comparison, run, row, options) {
      const judged = await judge(comparison, run, row, options);
      if (judged !== null) return judged;
      const signal = AbortSignal.any([closing, AbortSignal.timeout(maxMsAfterStop)]);
      return judge(comparison, run, row, { signal, judged: { ...options.judged, origin: null } });
    },
    completedRun,
    async completedCell(comparison, runId, row, { signal, ...judging }) {
      const run = completedRun(runId);
      const judged = run && (await judge(comparison, run, row, { signal, judged: { runId, ...judging } }));
      return judged && { ...newCell(0), ...judged };
    },
    async judgeAgain(comparison, before, row, { signal, ...judging }) {
      let cost = 0;
      const onCost = (ofRun: number) => void (cost += ofRun);
      const judged = { runId: before.runId!, ...judging, onCost };
      try {
        const cell = await judgeAgain(comparison, before, row, { signal, judged });
        return cell && { cell, cost };
      } catch (error) {
        if (signal.aborted || kindOfFailure(error) === 'stopping') return { cell: before, cost, failure: error };
        log('the checks of a cell failed', error);
        return { cell: before, cost };
      }
    },
  };
}
