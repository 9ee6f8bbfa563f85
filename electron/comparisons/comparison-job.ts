import type { ComparisonItem, ComparisonState } from '../../shared/contract/comparisons.ts';
import type { DatasetRow } from '../../shared/contract/datasets.ts';
import { type Job, JobRun } from '../common/jobs.ts';
import type { RunOrigin } from '../completions/completions.ts';
import { newCell, type StoredCell } from '../storage/comparison-cells.ts';
import type { ComparisonSummary, StoredComparison } from '../storage/comparison-store.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { CellTable, rowOrder } from './cell-table.ts';
import { comparisonItemOf } from './describe-comparison.ts';
import { pausedBy, readyToCall } from './paying-keys.ts';
import type { ComparisonJobOptions, PreparedVariant } from './job-options.ts';
import { AppError } from '../../shared/app-error.ts';
import { addedCosts, type JudgeAgain, judgeCells } from './judge/judge-again.ts';
import { withCosts } from './judge-run.ts';
import { ActiveCalls, afterFailure, describeFailure, hasBudget, interruption, missingValues } from './cell-calls.ts';

export interface StartOptions {
  readonly origin: RunOrigin;
  /** Null runs all rows. */
  readonly maxRows: number | null;
}

/** Which cells a call is about: all, those of a variant, or one. */
export type CellSelection = { readonly variant: number | null } | { readonly position: number };

const overBudget = 'The next run could exceed the maximum cost.';

/** One comparison: the states of its cells, and the active calls. */
export class ComparisonJob implements Job<ComparisonItem> {
  readonly #options: ComparisonJobOptions;
  readonly #cells: CellTable;
  readonly #run = new JobRun();
  readonly #calls = new ActiveCalls();
  readonly #stoppedVariants: Set<number>;
  #pending = new Map<number, StoredCell>();
  #flushTurn: NodeJS.Immediate | null = null;
  #state: ComparisonState;
  #summary: Omit<ComparisonSummary, 'counts' | 'stoppedVariants'>;
  #isClosing = false;
  readonly #describe = (error: unknown) => describeFailure(error, this.#options.log);

  constructor(options: ComparisonJobOptions) {
    const { comparison, store } = options;
    const { rowCount: rows, variantCount: variants, repeats } = comparison.settings;
    this.#options = options;
    this.#cells = new CellTable({ rows, variants, repeats });
    this.#cells.load(store.outlines(comparison.sequence));
    this.#state = comparison.state;
    this.#summary = comparison.summary;
    this.#stoppedVariants = new Set(comparison.summary.stoppedVariants);
    for (const variant of this.#stoppedVariants) this.#stopWaiting(variant);
  }

  get id(): string {
    return this.#options.comparison.id;
  }

  get comparison(): StoredComparison {
    return { ...this.#options.comparison, state: this.#state, summary: this.#fullSummary() };
  }

  get cells(): CellTable {
    return this.#cells;
  }

  get isActive(): boolean {
    return this.#run.isActive;
  }

  state(): ComparisonItem {
    return comparisonItemOf(this.comparison);
  }

  /** Writes what is pending, so that reads of the store see it. */
  flush(): void {
    if (this.#flushTurn) clearImmediate(this.#flushTurn);
    this.#flushTurn = null;
    const { store, comparison } = this.#options;
    const cells = [...this.#pending.values()];
    store.write(comparison.sequence, { cells, state: this.#state, summary: this.#fullSummary() });
    this.#pending = new Map();
  }

  /** Starts, or resumes with the cells that wait or were stopped. */
  start({ origin, maxRows }: StartOptions): void {
    if (this.#run.isActive) return;
    this.#stoppedVariants.clear();
    for (const position of this.#cells.positions(['Stopped'])) this.#cells.set(position, 'Waiting');
    if (this.#cells.count('Waiting') === 0) return;
    this.#summary = {
      ...this.#summary,
      stopReason: null,
      startedAt: this.#summary.startedAt ?? Date.now(),
      completedAt: null,
    };
    this.#setState('Running');
    void this.#run.start(
      (signal) => this.#runAll(origin, maxRows, signal),
      () => this.#end(),
    );
  }

  /** Lets judges look again at completed cells. Throws `conflict` while the comparison runs. */
  judgeAgain({ isNeeded, judge }: JudgeAgain): void {
    if (this.#run.isActive) throw new AppError('conflict', 'The comparison is running. Judge again when it has ended.');
    this.#summary = { ...this.#summary, stopReason: null };
    this.#setState('Running');
    const judgeAll = (signal: AbortSignal) =>
      judgeCells({
        positions: this.#cells.positions(['Completed']),
        read: (position) => this.#read(position),
        isNeeded,
        judge: (cell) => judge(cell, this.#options.readRow(this.#cells.index(cell.position).row), signal),
        note: (before, { checks, passed, score }) => {
          this.#summary = { ...this.#summary, spent: this.#summary.spent + addedCosts(before.checks, checks) };
          this.#cells.results.remove(before);
          this.#note({ ...before, checks, passed, score });
        },
        concurrency: this.#options.comparison.settings.concurrency,
        canContinue: () => !signal.aborted && this.#hasBudget(),
      });
    void this.#run.start(judgeAll, () => this.#end());
  }

  async stop({ isClosing }: { readonly isClosing: boolean }): Promise<void> {
    this.#isClosing = isClosing;
    if (this.#run.isActive) this.#noteStop(isClosing ? 'Touchstone was closed.' : 'Stopped.');
    await this.#run.stop();
  }

  /** Stops some cells, while the others continue. */
  stopCells(selection: CellSelection): void {
    if ('position' in selection) this.#stopCell(selection.position);
    else if (selection.variant !== null) {
      this.#stoppedVariants.add(selection.variant);
      this.#stopWaiting(selection.variant);
      for (const position of this.#calls.positions()) {
        if (this.#cells.index(position).variant === selection.variant) this.#stopCell(position);
      }
    }
    this.flush();
    this.#options.onChange();
  }

  /** Lets failed and skipped cells wait again, and resumes. */
  async retry(selection: CellSelection, options: StartOptions): Promise<void> {
    const isRetried = (position: number) => ['Failed', 'Skipped', 'Stopped'].includes(this.#cells.get(position));
    const positions =
      'position' in selection
        ? [selection.position].filter(isRetried)
        : this.#cells.positions(['Failed', 'Skipped'], selection.variant);
    for (const position of positions) {
      const cell = this.#read(position);
      this.#note({ ...cell, state: 'Waiting', attempts: 0, failure: null });
    }
    // A run without more cells may be about to end.
    if (!this.#run.isStopping) await this.#run.ended;
    this.start(options);
  }

  /** Notes that a run of the last host was completed, or may have been. */
  async recover(completedCell: (runId: string, row: DatasetRow) => Promise<StoredCell | null>): Promise<void> {
    const { store, comparison } = this.#options;
    for (const position of [...this.#cells.positions(['Running'])]) {
      const cell = store.cell(comparison.sequence, position) ?? newCell(position);
      const row = this.#options.readRow(this.#cells.index(position).row);
      const completed = cell.runId === null ? null : await completedCell(cell.runId, row);
      if (completed) this.#complete({ ...completed, position, runId: cell.runId, attempts: cell.attempts });
      else this.#note({ ...cell, state: 'Failed', failure: interruption });
    }
    if (this.#state === 'Running') {
      this.#noteStop('Touchstone closed unexpectedly.');
      this.#setState(this.#endState());
    }
  }

  async #runAll(origin: RunOrigin, maxRows: number | null, signal: AbortSignal): Promise<void> {
    // Yields, so that the response to the start is sent first.
    await new Promise((resolve) => setImmediate(resolve));
    const abortAll = () => {
      this.#calls.abortAll(this.#isClosing ? 'closing' : 'stopped');
    };
    signal.addEventListener('abort', abortAll, { once: true });
    try {
      const variants = await this.#options.prepare();
      const { rowCount, seed, concurrency } = this.#options.comparison.settings;
      const order = rowOrder(rowCount, seed).subarray(0, maxRows ?? rowCount);
      const queues = this.#cells.queues(order, variants);
      const workers = queues.flatMap((positions) =>
        Array.from({ length: concurrency }, () => this.#runCells(positions, variants, origin, signal)),
      );
      await Promise.all(workers);
    } catch (error) {
      if (!signal.aborted) this.#noteStop(this.#describe(error).message);
    }
  }

  async #runCells(
    positions: Generator<number>,
    variants: readonly PreparedVariant[],
    origin: RunOrigin,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      if (signal.aborted || this.#summary.stopReason !== null) return;
      if (!this.#hasBudget()) return this.#noteStop(overBudget);
      const { done, value: position } = positions.next();
      if (done) return;
      await this.#runUntilDone(position, variants[this.#cells.index(position).variant]!, origin, signal);
    }
  }

  async #runUntilDone(
    position: number,
    prepared: PreparedVariant,
    origin: RunOrigin,
    signal: AbortSignal,
  ): Promise<void> {
    const { timeLimitSeconds } = this.#options.comparison.settings;
    let calls = 0;
    let cell = this.#read(position);
    const { row, repeat } = this.#cells.index(position);
    const values = this.#options.readRow(row);
    const { replacements, missing } = prepared.requests.fill(values);
    if (missing.length > 0) return this.#note({ ...cell, state: 'Skipped', failure: missingValues(missing) });
    const metadata = {
      comparisonId: this.id,
      rowId: values.id,
      variant: prepared.requests.variant.name,
      repeat: repeat + 1,
    };
    const request = prepared.requests.request(replacements, metadata);
    while (this.#cells.get(position) === 'Waiting') {
      const payer = await this.#readyToCall(prepared.provider, origin, signal);
      if (payer === null || this.#cells.get(position) !== 'Waiting') return;
      const runId = timeOrderedId();
      cell = Object.assign({}, cell, { state: 'Running', runId, attempts: cell.attempts + 1, failure: null } as const);
      this.#note(cell);
      // On disk before the call, so that no call is made twice after a crash.
      this.flush();
      const { storedPrompt, isHistoryVariable } = prepared.requests;
      const call = { runId, request, origin: payer, storedPrompt, isHistoryVariable };
      const outcome = await this.#calls.run(this.#options.completions, position, call, timeLimitSeconds);
      if (outcome.status === 'completed') {
        const judged = { runId, origin: payer };
        return this.#complete({ ...cell, ...(await this.#options.judge(outcome.run, values, { signal, judged })) });
      }
      const paused = pausedBy(outcome.error, prepared.provider, origin);
      cell = this.#afterFailure(cell, outcome.error, paused, (calls += 1));
      this.#note(cell);
    }
  }

  /** Waits for the limits of the provider and of the key. Null if no call may be made then, because the comparison stops. */
  async #readyToCall(provider: string, origin: RunOrigin, signal: AbortSignal): Promise<RunOrigin | null> {
    const { pauses, payingKeys } = this.#options;
    try {
      const payer = await readyToCall(provider, origin, { pauses, payingKeys, signal });
      if (this.#summary.stopReason !== null) return null;
      // Others may have started while this one waited.
      if (this.#hasBudget()) return payer;
      this.#noteStop(overBudget);
    } catch (error) {
      if (!signal.aborted) this.#noteStop(this.#describe(error).message);
    }
    return null;
  }

  /** The cell after a failed call: waiting again, or at its end. */
  #afterFailure(cell: StoredCell, error: unknown, paused: string, calls: number): StoredCell {
    const { attempts, timeLimitSeconds } = this.#options.comparison.settings;
    const failure = this.#describe(error);
    const { change, pauseMs, stopsAll } = afterFailure(cell, error, { failure, calls, attempts, timeLimitSeconds });
    if (pauseMs !== null) this.#options.pauses.pause(paused, pauseMs);
    if (stopsAll) this.#noteStop(failure.message);
    return Object.assign({}, cell, change);
  }

  #hasBudget(): boolean {
    const runs = { completed: this.#cells.count('Completed'), active: this.#calls.size };
    return hasBudget(this.#options.comparison.settings.maxCost, this.#summary, runs);
  }

  #complete(cell: StoredCell): void {
    this.#summary = withCosts(this.#summary, cell);
    this.#note({ ...cell, state: 'Completed', failure: null });
  }

  #stopCell(position: number): void {
    if (this.#calls.abort(position, 'stopped')) return;
    if (this.#cells.get(position) === 'Waiting') this.#note({ ...this.#read(position), state: 'Stopped' });
  }

  /** Only in memory: the summary has the variant, and a hundred thousand writes would block the host. */
  #stopWaiting(variant: number): void {
    for (const position of this.#cells.positions(['Waiting'], variant)) this.#cells.set(position, 'Stopped');
  }

  #read(position: number): StoredCell {
    const { store, comparison } = this.#options;
    return this.#pending.get(position) ?? store.cell(comparison.sequence, position) ?? newCell(position);
  }

  /** Changes a cell. It is written soon, together with others. */
  #note(cell: StoredCell): void {
    this.#cells.set(cell.position, cell.state);
    if (cell.state === 'Completed') this.#cells.results.add(cell);
    this.#pending.set(cell.position, cell);
    this.#flushTurn ??= setImmediate(() => this.#flushOrStop());
    this.#options.onChange();
  }

  #flushOrStop(): void {
    try {
      this.flush();
    } catch (error) {
      this.#noteStop(this.#describe(error).message);
    }
  }

  #noteStop(reason: string): void {
    this.#summary = { ...this.#summary, stopReason: this.#summary.stopReason ?? reason };
  }

  #endState(): ComparisonState {
    return this.#cells.count('Waiting') + this.#cells.count('Stopped') > 0 ? 'Stopped' : 'Completed';
  }

  #end(): void {
    const state = this.#endState();
    if (state === 'Completed')
      this.#summary = { ...this.#summary, stopReason: null, completedAt: this.#summary.completedAt ?? Date.now() };
    this.#setState(state);
  }

  #setState(state: ComparisonState): void {
    this.#state = state;
    this.#flushOrStop();
    this.#options.onChange();
  }

  #fullSummary(): ComparisonSummary {
    return { ...this.#summary, counts: this.#cells.counts(), stoppedVariants: [...this.#stoppedVariants] };
  }
}
