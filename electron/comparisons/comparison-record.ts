import type { ComparisonItem, ComparisonState } from '../../shared/contract/comparisons.ts';
import type { Log } from '../log.ts';
import { newCell, type StoredCell } from '../storage/comparison-cells.ts';
import type { ComparisonStore, ComparisonSummary, StoredComparison } from '../storage/comparison-store.ts';
import { describeFailure } from './cell-calls.ts';
import { CellTable } from './cell-table.ts';
import { judgeCosts, type RunJudge, withCosts } from './judge-run.ts';

export interface ComparisonRecordOptions {
  readonly comparison: StoredComparison;
  readonly store: ComparisonStore;
  readonly completedRun: RunJudge['completedRun'];
  readonly onChange: () => void;
  readonly log: Log;
}

type Summary = Omit<ComparisonSummary, 'counts' | 'stoppedVariants'>;

/** What a comparison has done: the states of its cells and its summary, in memory and soon on disk. */
export class ComparisonRecord {
  readonly cells: CellTable;
  readonly #options: ComparisonRecordOptions;
  readonly #stoppedVariants: Set<number>;
  #pending = new Map<number, StoredCell>();
  #flushTurn: NodeJS.Immediate | null = null;
  #state: ComparisonState;
  #summary: Summary;
  #judging: ComparisonItem['judging'] = null;

  constructor(options: ComparisonRecordOptions) {
    const { settings, state, summary } = options.comparison;
    const { rowCount: rows, variantCount: variants, repeats } = settings;
    this.#options = options;
    this.cells = new CellTable({ rows, variants, repeats });
    this.#state = state;
    this.#summary = summary;
    this.#stoppedVariants = new Set(summary.stoppedVariants);
  }

  /** Takes over the stored cells, in turns with other work. Call it once, before anything else. */
  async load(): Promise<void> {
    const { store, comparison } = this.#options;
    await this.cells.load((range) => store.outlines(comparison.sequence, range));
    for (const variant of this.#stoppedVariants) this.#stopWaiting(variant);
  }

  get state(): ComparisonState {
    return this.#state;
  }

  get stopReason(): string | null {
    return this.#summary.stopReason;
  }

  get costs(): Pick<Summary, 'spent' | 'runsWithoutCost'> {
    return this.#summary;
  }

  get stored(): StoredComparison {
    return { ...this.#options.comparison, state: this.#state, summary: this.#fullSummary() };
  }

  /** How many verdicts of a new judging there are; null while no one judges again. */
  get judging(): ComparisonItem['judging'] {
    return this.#judging;
  }

  set judging(progress: ComparisonItem['judging']) {
    this.#judging = progress;
    this.#options.onChange();
  }

  read(position: number): StoredCell {
    const { store, comparison } = this.#options;
    return this.#pending.get(position) ?? store.cell(comparison.sequence, position) ?? newCell(position);
  }

  /** Changes a cell. It is written soon, together with others. */
  note(cell: StoredCell): void {
    this.cells.set(cell.position, cell.state);
    if (cell.state === 'Completed') this.cells.results.add(cell);
    this.#pending.set(cell.position, cell);
    this.#flushTurn ??= setImmediate(() => this.#flushOrStop());
    this.#options.onChange();
  }

  /** Notes a completed cell and its costs. */
  complete(cell: StoredCell): void {
    const judges = judgeCosts(cell.checks, this.#options.completedRun);
    this.#summary = withCosts(this.#summary, cell, judges);
    this.note({ ...cell, state: 'Completed', failure: null });
  }

  /** Replaces what checks say about a completed cell. `cost` is that of new verdicts, in US dollars. */
  judge(before: StoredCell, { checks, passed, score }: StoredCell, cost: number): void {
    const { spent, spentByJudges = 0 } = this.#summary;
    this.#summary = { ...this.#summary, spent: spent + cost, spentByJudges: spentByJudges + cost };
    this.cells.results.remove(before);
    this.note({ ...before, checks, passed, score });
  }

  /** Lets stopped cells wait again. Returns whether any cell waits. */
  begin(): boolean {
    this.#stoppedVariants.clear();
    for (const position of this.cells.positions(['Stopped'])) this.cells.set(position, 'Waiting');
    if (this.cells.count('Waiting') === 0) return false;
    const startedAt = this.#summary.startedAt ?? Date.now();
    this.#summary = { ...this.#summary, stopReason: null, startedAt, completedAt: null };
    this.#setState('Running');
    return true;
  }

  beginJudging(): void {
    this.#summary = { ...this.#summary, stopReason: null };
    this.#setState('Running');
  }

  /** The reason that was noted first stays. */
  noteStop(reason: string): void {
    this.#summary = { ...this.#summary, stopReason: this.#summary.stopReason ?? reason };
  }

  /** As `noteStop`, with what an error means to people. */
  noteFailure(error: unknown): void {
    this.noteStop(describeFailure(error, this.#options.log).message);
  }

  stopVariant(variant: number): void {
    this.#stoppedVariants.add(variant);
    this.#stopWaiting(variant);
  }

  end(): void {
    const isOver = this.cells.count('Waiting') + this.cells.count('Stopped') === 0;
    const wasJudging = this.#judging !== null;
    this.#judging = null;
    if (isOver) {
      const { stopReason, completedAt } = this.#summary;
      // A judging that ended early is no reason to run cells again, but people want to know why.
      const reason = wasJudging ? stopReason : null;
      this.#summary = { ...this.#summary, stopReason: reason, completedAt: completedAt ?? Date.now() };
    }
    this.#setState(isOver ? 'Completed' : 'Stopped');
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

  #flushOrStop(): void {
    try {
      this.flush();
    } catch (error) {
      this.noteFailure(error);
    }
  }

  /** Only in memory: the summary has the variant, and a hundred thousand writes would block the host. */
  #stopWaiting(variant: number): void {
    for (const position of this.cells.positions(['Waiting'], variant)) this.cells.set(position, 'Stopped');
  }

  #setState(state: ComparisonState): void {
    this.#state = state;
    this.#flushOrStop();
    this.#options.onChange();
  }

  #fullSummary(): ComparisonSummary {
    return { ...this.#summary, counts: this.cells.counts(), stoppedVariants: [...this.#stoppedVariants] };
  }
}
