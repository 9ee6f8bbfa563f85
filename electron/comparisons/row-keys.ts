import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowSort } from '../../shared/contract/comparison-results.ts';

/** What the cells of rows say, by their positions; NaN for what isn't known. */
export interface RowCells {
  readonly variants: number;
  readonly repeats: number;
  readonly pass: (position: number) => number;
  readonly score: (position: number) => number;
  readonly cost: (position: number) => number;
  readonly latency: (position: number) => number;
  /** Whether the cells of a row differ in their result, or without one in their answer. */
  readonly differs: (row: number) => boolean;
}

type NumberOf = (position: number) => number;

/** Cells whose keys are computed before other work gets its turn: a few milliseconds. */
const cellsAtOnce = 20_000;

function meanOf(from: number, to: number, numberOf: NumberOf): number {
  let [sum, count] = [0, 0];
  for (let position = from; position < to; position += 1) {
    const value = numberOf(position);
    if (Number.isNaN(value)) continue;
    sum += value;
    count += 1;
  }
  return count === 0 ? Number.NaN : sum / count;
}

/** From the variant with the lowest mean to the one with the highest. */
function rangeOf(row: number, { variants, repeats }: RowCells, numberOf: NumberOf): number {
  let [low, high] = [Infinity, -Infinity];
  for (let variant = 0; variant < variants; variant += 1) {
    const from = (row * variants + variant) * repeats;
    const mean = meanOf(from, from + repeats, numberOf);
    if (Number.isNaN(mean)) continue;
    low = Math.min(low, mean);
    high = Math.max(high, mean);
  }
  return high >= low ? high - low : 0;
}

/** How far the best variant is from the worst one: by passes, then by scores, then by whether they differ at all. */
function difference(row: number, cells: RowCells): number {
  return rangeOf(row, cells, cells.pass) * 4 + rangeOf(row, cells, cells.score) + (cells.differs(row) ? 1e-6 : 0);
}

function fold(
  row: number,
  { variants, repeats }: RowCells,
  numberOf: NumberOf,
  combine: (one: number, other: number) => number,
): number {
  const size = variants * repeats;
  let result = 0;
  for (let position = row * size; position < (row + 1) * size; position += 1)
    result = combine(result, numberOf(position) || 0);
  return result;
}

/** What rows are sorted by, the largest first: the difference of variants, the cost of all cells, or the longest latency. */
export async function rowKeys(
  sort: Exclude<RowSort, 'row'>,
  rows: Uint32Array,
  cells: RowCells,
): Promise<Float64Array> {
  const key = {
    difference: (row: number) => difference(row, cells),
    cost: (row: number) => fold(row, cells, cells.cost, (sum, cost) => sum + cost),
    latency: (row: number) => fold(row, cells, cells.latency, Math.max),
  }[sort];
  const rowsAtOnce = Math.max(1, Math.floor(cellsAtOnce / (cells.variants * cells.repeats)));
  const keys = new Float64Array(rows.length);
  for (const [index, row] of rows.entries()) {
    keys[index] = key(row);
    if (index % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
  }
  return keys;
}
