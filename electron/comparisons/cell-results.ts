import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowFilter, RowSort } from '../../shared/contract/comparison-results.ts';
import type { CellState } from '../../shared/contract/comparisons.ts';
import type { StoredCell } from '../storage/comparison-cells.ts';
import type { ComparisonStore } from '../storage/comparison-store.ts';
import { rowKeys } from './row-keys.ts';

/** Cells that are read before other work gets its turn: a few milliseconds. */
const cellsAtOnce = 250;

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
export type Measured = 'passes' | 'scores' | 'costs' | 'latencies';

/** What is known of a row, so that filters never look at all cells. */
interface RowFlags {
  readonly fails: Uint8Array;
  readonly differs: Uint8Array;
}

/**
 * What the completed cells of a comparison say, in memory: some bytes each, because there can be a million, and the window asks for
 * statistics, filters and orders again and again while they are run. A completed cell never changes.
 */
export class CellResults {
  readonly #table: CellStates;
  readonly #verdicts: Uint8Array;
  readonly #hashes: Uint32Array;
  /** By variant, then by row and repeat. Zero for unknown cells: filling 24 MB for a million cells would block the thread. */
  readonly #numbers: Readonly<Record<Exclude<Measured, 'passes'>, Float64Array>>;
  /** By variant, then by check. */
  readonly #checks: CheckCount[][];
  readonly #tokens: { sum: number; runs: number }[];
  readonly #flags: RowFlags;
  readonly #counts = { fails: 0, differs: 0 };
  readonly #changed = new Set<number>();
  #version = 0;
  #loading: Promise<void> | null = null;
  #isLoaded = false;

  constructor(table: CellStates) {
    const empty = () => new Float64Array(table.total);
    this.#table = table;
    this.#verdicts = new Uint8Array(table.total);
    this.#hashes = new Uint32Array(table.total);
    this.#numbers = { scores: empty(), costs: empty(), latencies: empty() };
    this.#checks = Array.from({ length: table.variants }, () => []);
    this.#tokens = this.#checks.map(() => ({ sum: 0, runs: 0 }));
    this.#flags = { fails: new Uint8Array(table.rows), differs: new Uint8Array(table.rows) };
  }

  /** Notes a completed cell. */
  add(cell: StoredCell): void {
    const { position } = cell;
    if (this.#verdicts[position] !== unknown) return;
    this.#verdicts[position] = cell.passed === null ? notJudged : cell.passed ? passed : failed;
    this.#hashes[position] = Number.parseInt(cell.answerHash?.slice(0, 8) ?? '0', 16);
    const { row, variant } = this.#table.index(position);
    const at = this.#numberAt(position);
    this.#numbers.scores[at] = cell.score ?? Number.NaN;
    this.#numbers.costs[at] = cell.cost ?? Number.NaN;
    this.#numbers.latencies[at] = cell.totalMs ?? Number.NaN;
    this.#count(variant, cell, 1);
    this.noteChange(row);
  }

  /** Forgets a cell that is about to be noted again. */
  remove(cell: StoredCell): void {
    if (this.#verdicts[cell.position] === unknown) return;
    this.#verdicts[cell.position] = unknown;
    const { row, variant } = this.#table.index(cell.position);
    this.#count(variant, cell, -1);
    this.noteChange(row);
  }

  #count(variant: number, { checks, promptTokens, completionTokens }: StoredCell, by: 1 | -1): void {
    const counts = this.#checks[variant]!;
    for (const [index, { pass }] of checks.entries()) {
      const count = (counts[index] ??= { passes: 0, judged: 0 });
      if (pass === null) continue;
      count.judged += by;
      if (pass) count.passes += by;
    }
    if (promptTokens === null && completionTokens === null) return;
    const tokens = this.#tokens[variant]!;
    tokens.sum += by * ((promptTokens ?? 0) + (completionTokens ?? 0));
    tokens.runs += by;
  }

  /** Looks at a row again, of which a cell has changed, before its flags are read. */
  noteChange(row: number): void {
    this.#version += 1;
    this.#changed.add(row);
  }

  #updateFlags(): void {
    for (const row of this.#changed) {
      const found = { fails: Number(this.#fails(row)), differs: Number(this.#differs(row)) };
      for (const flag of ['fails', 'differs'] as const) {
        this.#counts[flag] += found[flag] - this.#flags[flag][row]!;
        this.#flags[flag][row] = found[flag];
      }
    }
    this.#changed.clear();
  }

  /** Another number after every change. */
  get version(): number {
    return this.#version;
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
      this.#updateFlags();
      await nextTurn();
    }
    this.#isLoaded = true;
  }

  /** Of a variant, in the order of its checks. */
  checks(variant: number): readonly CheckCount[] {
    return this.#checks[variant]!;
  }

  /** Mean tokens of a run of a variant; null without any. */
  tokens(variant: number): number | null {
    const { sum, runs } = this.#tokens[variant]!;
    return runs === 0 ? null : sum / runs;
  }

  /** The numbers of a variant by row and repeat; NaN without one. */
  measured(variant: number, what: Measured): Float64Array {
    const { rows, variants, repeats } = this.#table;
    const size = rows * repeats;
    // Shared, because a copy of 40 columns of 100,000 rows for the thread would block this one.
    const numbers = new Float64Array(new SharedArrayBuffer(size * Float64Array.BYTES_PER_ELEMENT));
    for (let row = 0; row < rows; row += 1) {
      const from = (row * variants + variant) * repeats;
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        const position = from + repeat;
        numbers[row * repeats + repeat] = what === 'passes' ? this.#pass(position) : this.#number(what, position);
      }
    }
    return numbers;
  }

  /** The rows that match, in ascending order; they count from 0. */
  rows(filter: Exclude<RowFilter, 'disagrees'>): Uint32Array {
    this.#updateFlags();
    const { rows } = this.#table;
    if (filter === 'all') return Uint32Array.from({ length: rows }, (_, row) => row);
    const found = new Uint32Array(this.#counts[filter]);
    const flags = this.#flags[filter];
    for (let row = 0, next = 0; row < rows; row += 1) if (flags[row] === 1) found[next++] = row;
    return found;
  }

  /** How many rows match. */
  count(filter: 'fails' | 'differs'): number {
    this.#updateFlags();
    return this.#counts[filter];
  }

  /** What rows are sorted by, the largest first. Other work runs in between. */
  keys(sort: Exclude<RowSort, 'row'>, rows: Uint32Array): Promise<Float64Array> {
    return rowKeys(sort, rows, {
      variants: this.#table.variants,
      repeats: this.#table.repeats,
      pass: (position) => this.#pass(position),
      score: (position) => this.#number('scores', position),
      cost: (position) => this.#number('costs', position),
      latency: (position) => this.#number('latencies', position),
      differs: this.#differs,
    });
  }

  /** Where the numbers have a cell. */
  #numberAt(position: number): number {
    const { rows, repeats } = this.#table;
    const { row, variant, repeat } = this.#table.index(position);
    return (variant * rows + row) * repeats + repeat;
  }

  #number(what: Exclude<Measured, 'passes'>, position: number): number {
    return this.#verdicts[position] === unknown ? Number.NaN : this.#numbers[what][this.#numberAt(position)]!;
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
}
