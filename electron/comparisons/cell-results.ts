import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowFilter, RowSort } from '../../shared/contract/comparison-results.ts';
import type { CellState } from '../../shared/contract/comparisons.ts';
import type { StoredCell } from '../storage/comparison-cells.ts';
import type { ComparisonStore } from '../storage/comparison-store.ts';

/** Cells that are read before other work gets its turn: a few milliseconds. */
const cellsAtOnce = 1000;

const unknown = 0;
const notJudged = 1;
const failed = 2;
const passed = 3;

export interface CellIndex {
  readonly row: number;
  readonly variant: number;
  /** Counts from 0. */
  readonly repeat: number;
}

/** The states of the cells, by their positions. */
interface CellStates {
  readonly rows: number;
  readonly variants: number;
  readonly repeats: number;
  readonly total: number;
  get(position: number): CellState;
  position(index: CellIndex): number;
  index(position: number): CellIndex;
}

/** How often a check passed, of the answers that it could judge. */
export interface CheckCount {
  passes: number;
  judged: number;
}

/** What one repeat of one variant can be read by. */
export type Measured = 'passes' | 'scores' | 'costs' | 'latencies' | 'tokens';

/**
 * What the completed cells of a comparison say, in memory: some bytes each, because there can be a million, and the window asks for
 * statistics, filters and orders again and again while they are run. A completed cell never changes.
 */
export class CellResults {
  readonly #table: CellStates;
  readonly #verdicts: Uint8Array;
  readonly #hashes: Uint32Array;
  readonly #numbers: Readonly<Record<Exclude<Measured, 'passes'>, Float64Array>>;
  /** By variant, then by check. */
  readonly #checks: CheckCount[][];
  #loading: Promise<void> | null = null;
  #isLoaded = false;

  constructor(table: CellStates) {
    const empty = () => new Float64Array(table.total).fill(Number.NaN);
    this.#table = table;
    this.#verdicts = new Uint8Array(table.total);
    this.#hashes = new Uint32Array(table.total);
    this.#numbers = { scores: empty(), costs: empty(), latencies: empty(), tokens: empty() };
    this.#checks = Array.from({ length: table.variants }, () => []);
  }

  /** Notes a completed cell. */
  add(cell: StoredCell): void {
    const { position } = cell;
    if (this.#verdicts[position] !== unknown) return;
    this.#verdicts[position] = cell.passed === null ? notJudged : cell.passed ? passed : failed;
    this.#hashes[position] = Number.parseInt(cell.answerHash?.slice(0, 8) ?? '0', 16);
    this.#numbers.scores[position] = cell.score ?? Number.NaN;
    this.#numbers.costs[position] = cell.cost ?? Number.NaN;
    this.#numbers.latencies[position] = cell.totalMs ?? Number.NaN;
    if (cell.promptTokens !== null || cell.completionTokens !== null)
      this.#numbers.tokens[position] = (cell.promptTokens ?? 0) + (cell.completionTokens ?? 0);
    const counts = this.#checks[this.#table.index(position).variant]!;
    for (const [index, { pass }] of cell.checks.entries()) {
      const count = (counts[index] ??= { passes: 0, judged: 0 });
      if (pass === null) continue;
      count.judged += 1;
      if (pass) count.passes += 1;
    }
  }

  /** Forgets a cell that is about to be noted again. */
  remove(cell: StoredCell): void {
    if (this.#verdicts[cell.position] === unknown) return;
    this.#verdicts[cell.position] = unknown;
    const counts = this.#checks[this.#table.index(cell.position).variant]!;
    for (const [index, { pass }] of cell.checks.entries()) {
      const count = counts[index];
      if (pass === null || !count) continue;
      count.judged -= 1;
      if (pass) count.passes -= 1;
    }
  }

  /** Whether all stored cells are noted. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Notes the cells that are stored, in turns with other work. */
  load(store: Pick<ComparisonStore, 'cells'>, comparison: number): Promise<void> {
    this.#loading ??= this.#load(store, comparison);
    return this.#loading;
  }

  async #load(store: Pick<ComparisonStore, 'cells'>, comparison: number): Promise<void> {
    for (let from = 0; from < this.#table.total; from += cellsAtOnce) {
      for (const cell of store.cells(comparison, { from, to: from + cellsAtOnce })) {
        if (cell.state === 'Completed') this.add(cell);
      }
      await nextTurn();
    }
    this.#isLoaded = true;
  }

  /** Of a variant, in the order of its checks. */
  checks(variant: number): readonly CheckCount[] {
    return this.#checks[variant]!;
  }

  /** The numbers of a variant by row and repeat; NaN without one. */
  measured(variant: number, what: Measured): Float64Array {
    const { rows, variants, repeats } = this.#table;
    const numbers = new Float64Array(rows * repeats);
    for (let row = 0; row < rows; row += 1) {
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        const position = (row * variants + variant) * repeats + repeat;
        numbers[row * repeats + repeat] = what === 'passes' ? this.#pass(position) : this.#numbers[what][position]!;
      }
    }
    return numbers;
  }

  /** Rows of which every cell has ended. */
  endedRows(): number {
    let rows = 0;
    for (let row = 0; row < this.#table.rows; row += 1) if (this.#everyCell(row, this.#isEnded)) rows += 1;
    return rows;
  }

  /** The rows that match, in an order: numbers of rows count from 0. `disagreeing` are those where a judge and a person disagree. */
  rows(filter: RowFilter, sort: RowSort, disagreeing: ReadonlySet<number>): Uint32Array {
    const matches = this.#filter(filter, disagreeing);
    const rows = Uint32Array.from({ length: this.#table.rows }, (_, row) => row).filter((row) => matches(row));
    if (sort === 'row') return rows;
    const key = { difference: this.#difference, cost: this.#cost, latency: this.#latency }[sort];
    const keys = new Float64Array(this.#table.rows);
    for (const row of rows) keys[row] = key(row);
    return rows.sort((one, other) => keys[other]! - keys[one]! || one - other);
  }

  count(filter: Exclude<RowFilter, 'disagrees'>): number {
    const matches = this.#filter(filter);
    let count = 0;
    for (let row = 0; row < this.#table.rows; row += 1) if (matches(row)) count += 1;
    return count;
  }

  #filter(filter: RowFilter, disagreeing: ReadonlySet<number> = new Set()): (row: number) => boolean {
    const disagrees = (row: number) => disagreeing.has(row);
    return { all: () => true, fails: this.#fails, differs: this.#differs, disagrees }[filter];
  }

  #pass(position: number): number {
    const verdict = this.#verdicts[position]!;
    return verdict <= notJudged ? Number.NaN : Number(verdict === passed);
  }

  #range(row: number): [from: number, to: number] {
    const size = this.#table.variants * this.#table.repeats;
    return [row * size, (row + 1) * size];
  }

  #everyCell(row: number, holds: (position: number) => boolean): boolean {
    const [from, to] = this.#range(row);
    for (let position = from; position < to; position += 1) if (!holds(position)) return false;
    return true;
  }

  readonly #isEnded = (position: number): boolean =>
    ['Completed', 'Failed', 'Skipped'].includes(this.#table.get(position));

  /** Whether a cell failed, or a check of it. */
  readonly #fails = (row: number): boolean =>
    !this.#everyCell(row, (position) => this.#verdicts[position] !== failed && this.#table.get(position) !== 'Failed');

  /** Whether completed cells differ in their result, or without one in their answer. */
  readonly #differs = (row: number): boolean => {
    const [from, to] = this.#range(row);
    let first: number | null = null;
    for (let position = from; position < to; position += 1) {
      const verdict = this.#verdicts[position]!;
      if (verdict === unknown) continue;
      const result = verdict === notJudged ? this.#hashes[position]! + passed + 1 : verdict;
      first ??= result;
      if (result !== first) return true;
    }
    return false;
  };

  /** How far the best variant is from the worst one: by passes, then by scores, then by whether they differ at all. */
  readonly #difference = (row: number): number => {
    const range = (numberOf: (position: number) => number) => {
      let [low, high] = [Infinity, -Infinity];
      for (let variant = 0; variant < this.#table.variants; variant += 1) {
        const mean = this.#mean(row, variant, numberOf);
        if (Number.isNaN(mean)) continue;
        low = Math.min(low, mean);
        high = Math.max(high, mean);
      }
      return high >= low ? high - low : 0;
    };
    const byPasses = range((position) => this.#pass(position));
    return byPasses * 4 + range((position) => this.#numbers.scores[position]!) + (this.#differs(row) ? 1e-6 : 0);
  };

  #mean(row: number, variant: number, numberOf: (position: number) => number): number {
    const { repeats } = this.#table;
    const from = this.#table.position({ row, variant, repeat: 0 });
    let [sum, count] = [0, 0];
    for (let position = from; position < from + repeats; position += 1) {
      const value = numberOf(position);
      if (Number.isNaN(value)) continue;
      sum += value;
      count += 1;
    }
    return count === 0 ? Number.NaN : sum / count;
  }

  readonly #cost = (row: number): number => {
    const [from, to] = this.#range(row);
    let sum = 0;
    for (let position = from; position < to; position += 1) sum += this.#numbers.costs[position]! || 0;
    return sum;
  };

  readonly #latency = (row: number): number => {
    const [from, to] = this.#range(row);
    let longest = 0;
    for (let position = from; position < to; position += 1)
      longest = Math.max(longest, this.#numbers.latencies[position]! || 0);
    return longest;
  };
}
