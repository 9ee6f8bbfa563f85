import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CellCounts, CellState } from '../../shared/contract/comparisons.ts';
import { createSeededRandom } from '../../shared/seeded-random.ts';
import type { CellOutline } from '../storage/comparison-cells.ts';
import { type CellIndex, CellResults } from './cell-results.ts';

const states: readonly CellState[] = ['Waiting', 'Running', 'Completed', 'Failed', 'Skipped', 'Stopped'];
const endStates: ReadonlySet<CellState> = new Set(['Completed', 'Failed', 'Skipped']);
/** Cells that are loaded before other work gets its turn: a few milliseconds. */
const outlinesAtOnce = 2000;
const codes = Object.fromEntries(states.map((state, code) => [state, code])) as Record<CellState, number>;

/** The states of all cells of a comparison: one byte each, because there can be a million. */
export class CellTable {
  readonly rows: number;
  readonly variants: number;
  readonly repeats: number;
  readonly #states: Uint8Array;
  /** What the completed cells say. Load it before it is read. */
  readonly results: CellResults;
  readonly #counts = states.map(() => 0);
  /** Cells of each row that have not ended. */
  readonly #unended: Uint16Array;
  #endedRows = 0;

  constructor(size: { rows: number; variants: number; repeats: number }) {
    this.rows = size.rows;
    this.variants = size.variants;
    this.repeats = size.repeats;
    this.#states = new Uint8Array(size.rows * size.variants * size.repeats);
    this.#counts[codes.Waiting] = this.#states.length;
    this.#unended = new Uint16Array(size.rows).fill(size.variants * size.repeats);
    this.results = new CellResults(this);
  }

  /** Takes over what is stored, in turns with other work. */
  async load(read: (range: { from: number; to: number }) => readonly CellOutline[]): Promise<void> {
    for (let from = 0; from < this.total; from += outlinesAtOnce) {
      for (const { position, state } of read({ from, to: from + outlinesAtOnce })) this.set(position, state);
      await nextTurn();
    }
  }

  get total(): number {
    return this.#states.length;
  }

  get cellsPerRow(): number {
    return this.variants * this.repeats;
  }

  get(position: number): CellState {
    return states[this.#states[position]!]!;
  }

  set(position: number, state: CellState): void {
    const before = this.get(position);
    if (before === state) return;
    this.#counts[codes[before]]! -= 1;
    this.#states[position] = codes[state];
    this.#counts[codes[state]]! += 1;
    const { row } = this.index(position);
    if (before === 'Failed' || state === 'Failed') this.results.noteChange(row);
    const ended = Number(endStates.has(state)) - Number(endStates.has(before));
    if (this.#unended[row] === 0) this.#endedRows -= 1;
    this.#unended[row]! -= ended;
    if (this.#unended[row] === 0) this.#endedRows += 1;
  }

  /** Rows of which every cell has completed, failed or was skipped. */
  get endedRows(): number {
    return this.#endedRows;
  }

  count(state: CellState): number {
    return this.#counts[codes[state]]!;
  }

  counts(): CellCounts {
    return {
      total: this.total,
      waiting: this.count('Waiting'),
      running: this.count('Running'),
      completed: this.count('Completed'),
      failed: this.count('Failed'),
      skipped: this.count('Skipped'),
      stopped: this.count('Stopped'),
    };
  }

  position({ row, variant, repeat }: CellIndex): number {
    return (row * this.variants + variant) * this.repeats + repeat;
  }

  index(position: number): CellIndex {
    const group = Math.floor(position / this.repeats);
    return {
      row: Math.floor(group / this.variants),
      variant: group % this.variants,
      repeat: position % this.repeats,
    };
  }

  /** The waiting cells of the variants of each provider. */
  queues(order: Uint32Array, variants: readonly { readonly provider: string }[]): Generator<number>[] {
    const groups = Map.groupBy(variants.keys(), (variant) => variants[variant]!.provider);
    return [...groups.values()].map((group) => this.#waiting(order, group));
  }

  /** Waiting cells of some variants. Row by row, so that the variants can be compared while they run. */
  *#waiting(order: Uint32Array, variants: readonly number[]): Generator<number> {
    for (const row of order) {
      for (const variant of variants) {
        for (let repeat = 0; repeat < this.repeats; repeat += 1) {
          const position = this.position({ row, variant, repeat });
          if (this.get(position) === 'Waiting') yield position;
        }
      }
    }
  }

  /** A page of the cells in one of the states, and how many there are. */
  page(
    requested: readonly CellState[],
    variant: number | null,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): { positions: number[]; total: number } {
    const positions: number[] = [];
    let total = 0;
    this.#each(requested, variant, (position) => {
      if (total >= offset && positions.length < limit) positions.push(position);
      total += 1;
    });
    return { positions, total };
  }

  /** Positions in one of the states; of one variant unless it is null. Some megabytes for a million. */
  positions(requested: readonly CellState[], variant: number | null = null): Uint32Array {
    const found = new Uint32Array(requested.reduce((sum, state) => sum + this.count(state), 0));
    let next = 0;
    this.#each(requested, variant, (position) => (found[next++] = position));
    return found.subarray(0, next);
  }

  /** A loop without a generator, because it looks at a million cells in a few milliseconds. */
  #each(requested: readonly CellState[], variant: number | null, take: (position: number) => void): void {
    if (requested.every((state) => this.count(state) === 0)) return;
    const isRequested = states.map((state) => requested.includes(state));
    const step = variant === null ? this.repeats : this.cellsPerRow;
    for (let group = (variant ?? 0) * this.repeats; group < this.total; group += step) {
      for (let position = group; position < group + this.repeats; position += 1)
        if (isRequested[this.#states[position]!]) take(position);
    }
  }
}

/** Row numbers in a random order that a seed decides; in their own order without one. */
export function rowOrder(rows: number, seed: number | null): Uint32Array {
  const order = Uint32Array.from({ length: rows }, (_, row) => row);
  if (seed === null) return order;
  const random = createSeededRandom(seed);
  for (let row = rows - 1; row > 0; row -= 1) {
    const other = random.between(0, row);
    [order[row], order[other]] = [order[other]!, order[row]!];
  }
  return order;
}
