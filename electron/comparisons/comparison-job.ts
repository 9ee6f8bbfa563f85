import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import type { ComparisonItem } from '../../shared/contract/comparisons.ts';
import type { DatasetRow } from '../../shared/contract/datasets.ts';
import { type Job, JobRun } from '../common/jobs.ts';
import type { RunOrigin } from '../completions/completions.ts';
import type { StoredCell } from '../storage/comparison-cells.ts';
import { ActiveCalls, hasBudget, interruption } from './cell-calls.ts';
import type { CellTable } from './cell-table.ts';
import { ComparisonRecord } from './comparison-record.ts';
import { comparisonItemOf, type CurrentComparison } from './describe-comparison.ts';
import type { ComparisonJobOptions } from './job-options.ts';
import { type JudgeAgain, judgeCells } from './judge/judge-again.ts';
import { overBudget, runCells } from './run-cells.ts';

export interface StartOptions {
  readonly origin: RunOrigin;
  /** Null runs all rows. */
  readonly maxRows: number | null;
}

/** Which cells a call is about: all, those of a variant, or one. */
export type CellSelection = { readonly variant: number | null } | { readonly position: number };

/** Cells that are changed before other work gets its turn: some milliseconds. */
const cellsAtOnce = 200;

/** One comparison: what it has done, and its active calls. */
export class ComparisonJob implements Job<ComparisonItem> {
  readonly #options: ComparisonJobOptions;
  readonly #record: ComparisonRecord;
  readonly #run = new JobRun();
  readonly #calls = new ActiveCalls();
  #isClosing = false;

  private constructor(options: ComparisonJobOptions) {
    this.#options = options;
    this.#record = new ComparisonRecord(options);
  }

  /** Reads the states of its cells, in turns with other work. */
  static async open(options: ComparisonJobOptions): Promise<ComparisonJob> {
    const job = new ComparisonJob(options);
    await job.#record.load();
    return job;
  }

  get id(): string {
    return this.#options.comparison.id;
  }

  get comparison(): CurrentComparison {
    return { ...this.#record.stored, judging: this.#record.judging };
  }

  get cells(): CellTable {
    return this.#record.cells;
  }

  get isActive(): boolean {
    return this.#run.isActive;
  }

  state(): ComparisonItem {
    return comparisonItemOf(this.comparison);
  }

  /** Writes what is pending, so that reads of the store see it. */
  flush(): void {
    this.#record.flush();
  }

  /** Starts, or resumes with the cells that wait or were stopped. */
  start({ origin, maxRows }: StartOptions): void {
    if (this.#run.isActive || !this.#record.begin()) return;
    this.#runUntilEnd(async (signal) => {
      // Yields, so that the response to the start is sent first.
      await nextTurn();
      await runCells({ options: this.#options, record: this.#record, calls: this.#calls, origin, signal }, maxRows);
    });
  }

  /** Lets judges look again at completed cells. Throws `conflict` while the comparison runs. */
  judgeAgain({ positions, judge }: JudgeAgain): void {
    if (this.#run.isActive) throw new AppError('conflict', 'The comparison is running. Judge again when it has ended.');
    const total = positions.length;
    if (total === 0) return;
    const { maxCost, concurrency } = this.#options.comparison.settings;
    const { spent: spentBefore } = this.#record.costs;
    const staysInBudget = ({ active, ended }: { active: number; ended: number }) => {
      const { spent } = this.#record.costs;
      const average = ended > 0 ? (spent - spentBefore) / ended : 0;
      if (hasBudget(maxCost, { spent, average, active })) return true;
      this.#record.noteStop(overBudget);
      return false;
    };
    this.#record.judging = { judged: 0, total };
    this.#record.beginJudging();
    this.#runUntilEnd((signal) =>
      judgeCells({
        positions,
        judge: async (position) => {
          const before = this.#record.read(position);
          const { row } = this.cells.index(position);
          try {
            const after = await judge(before, this.#options.readRow(row), signal);
            if (after) this.#record.judge(before, after.cell, after.cost);
            if (after?.failure !== undefined) throw after.failure;
            this.#record.judging = { judged: this.#record.judging!.judged + 1, total };
          } catch (error) {
            // Those that are being judged still end.
            if (!signal.aborted) this.#record.noteFailure(error);
          }
        },
        concurrency,
        isFirstAlone: maxCost !== null,
        canContinue: (judging) => !signal.aborted && this.#record.stopReason === null && staysInBudget(judging),
      }),
    );
  }

  async stop({ isClosing }: { readonly isClosing: boolean }): Promise<void> {
    this.#isClosing = isClosing;
    if (this.#run.isActive) this.#record.noteStop(isClosing ? 'Touchstone was closed.' : 'Stopped.');
    await this.#run.stop();
  }

  /** Stops some cells, while the others continue. */
  stopCells(selection: CellSelection): void {
    if ('position' in selection) this.#stopCell(selection.position);
    else if (selection.variant !== null) {
      this.#record.stopVariant(selection.variant);
      for (const position of this.#calls.positions()) {
        if (this.cells.index(position).variant === selection.variant) this.#stopCell(position);
      }
    }
    this.flush();
    this.#options.onChange();
  }

  /** Lets failed and skipped cells wait again, in turns with other work, and resumes. */
  async retry(selection: CellSelection, options: StartOptions): Promise<void> {
    const isRetried = (position: number) => ['Failed', 'Skipped', 'Stopped'].includes(this.cells.get(position));
    const positions =
      'position' in selection ? [selection.position] : this.cells.positions(['Failed', 'Skipped'], selection.variant);
    let retried = 0;
    for (const position of positions) {
      // Someone else may have retried it meanwhile.
      if (!isRetried(position)) continue;
      this.#record.note({ ...this.#record.read(position), state: 'Waiting', attempts: 0, failure: null });
      if ((retried += 1) % cellsAtOnce === 0) await nextTurn();
    }
    // A run without more cells may be about to end.
    if (!this.#run.isStopping) await this.#run.ended;
    this.start(options);
  }

  /** Notes that runs of the last host were completed, or may have been. After an abort, the next host does the rest. */
  async recover(
    completedCell: (runId: string, row: DatasetRow) => Promise<StoredCell | null>,
    signal: AbortSignal,
  ): Promise<void> {
    for (const position of this.cells.positions(['Running'])) {
      const cell = this.#record.read(position);
      const row = this.#options.readRow(this.cells.index(position).row);
      const completed = cell.runId === null ? null : await completedCell(cell.runId, row);
      if (signal.aborted) return;
      if (completed) this.#record.complete({ ...completed, position, runId: cell.runId, attempts: cell.attempts });
      else this.#record.note({ ...cell, state: 'Failed', failure: interruption });
    }
    if (this.#record.state !== 'Running') return;
    this.#record.noteStop('Touchstone closed unexpectedly.');
    this.#record.end();
  }

  /** Runs in the background. A failure stops the comparison with its reason. */
  #runUntilEnd(work: (signal: AbortSignal) => Promise<void>): void {
    const run = async (signal: AbortSignal) => {
      const abortAll = () => this.#calls.abortAll(this.#isClosing ? 'closing' : 'stopped');
      signal.addEventListener('abort', abortAll, { once: true });
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) this.#record.noteFailure(error);
      }
    };
    void this.#run.start(run, () => this.#record.end());
  }

  #stopCell(position: number): void {
    if (this.#calls.abort(position, 'stopped') || this.cells.get(position) !== 'Waiting') return;
    this.#record.note({ ...this.#record.read(position), state: 'Stopped' });
  }
}
