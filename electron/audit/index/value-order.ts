import type { AuditSort } from '../../../shared/contract/audit.ts';
import type { AuditIndex } from './audit-index.ts';
import { blockOf, blockRuns, forEachBit, offsetOf } from './bits.ts';
import type { Matches } from '../query/selection.ts';

/** Sorts by a number of the matching runs. */
export type ValueSort = Exclude<AuditSort, 'newest' | 'oldest'>;

/** The number by which each run of a block is sorted, the smallest first; infinite where it has none. */
function keysOf(index: AuditIndex, sort: ValueSort, block: number): Float64Array {
  if (sort !== 'lowest-score') {
    const numbers = index.blocks.numbers(sort === 'slowest' ? 'total_ms' : 'cost', block);
    return numbers.map((number) => (Number.isNaN(number) ? Infinity : -number));
  }
  const scores = new Float64Array(blockRuns).fill(Infinity);
  for (const { run, score } of index.feedback.ofBlock(block)) scores[offsetOf(run)] = score ?? Infinity;
  return scores;
}

/** Those that are not 0. */
function compacted(numbers: Int32Array, count: number): Int32Array {
  const compact = new Int32Array(count);
  let length = 0;
  for (const number of numbers) if (number !== 0) compact[length++] = number;
  return compact;
}

/** Shorter stretches than this are sorted whole. */
const shortStretch = 512;

/**
 * Of each matching conversation the run with the smallest key, sorted by it; of equal ones the newest first. Only the stretches
 * that are looked at are put in order, as quicksort would: sorting hundreds of thousands for a first page takes ten times as long.
 */
export class ValueOrder {
  readonly #runs: Int32Array;
  /** By run. */
  readonly #keys: Float64Array;
  /** Where a stretch ends whose runs all stand before those after it; a stretch of 1 is in its place. */
  readonly #ends: Int32Array;

  constructor(index: AuditIndex, matches: Matches, sort: ValueSort, last: number) {
    const { conversation, lastConversation } = index.timeline;
    const keys = (this.#keys = new Float64Array(last + 1));
    const bestOf = new Int32Array(lastConversation + 1);
    let count = 0;
    for (let block = blockOf(last); block >= 0; block -= 1) {
      const keysOfBlock = keysOf(index, sort, block);
      forEachBit(matches.block(block), (offset) => {
        const run = block * blockRuns + offset;
        if (run > last) return;
        const key = (keys[run] = keysOfBlock[offset]!);
        const best = bestOf[conversation[run]!]!;
        if (best === 0) count += 1;
        else if (key > keys[best]! || (key === keys[best] && run < best)) return;
        bestOf[conversation[run]!] = run;
      });
    }
    this.#runs = compacted(bestOf, count);
    this.#ends = new Int32Array(count);
    if (count > 0) this.#ends[0] = count;
  }

  get length(): number {
    return this.#runs.length;
  }

  /** The runs at the places from `start` up to, but without, `end`. */
  slice(start: number, end: number): number[] {
    const stop = Math.min(end, this.length);
    const stretches: [start: number, end: number][] = [];
    for (let at = 0; at < stop; at = this.#ends[at]!) {
      if (this.#ends[at]! > start) stretches.push([at, this.#ends[at]!]);
    }
    while (stretches.length > 0) {
      const [first, last] = stretches.pop()!;
      if (last <= start || first >= stop || last - first === 1) continue;
      stretches.push(...this.#split(first, last));
    }
    return [...this.#runs.subarray(start, Math.max(start, stop))];
  }

  /** Place of the first run that passes, if it is the only one of its conversation here; -1 for none. */
  rankOf(passes: (run: number) => boolean): number {
    const found = this.#runs.find(passes);
    if (found === undefined) return -1;
    let before = 0;
    for (const run of this.#runs) if (this.#compare(run, found) < 0) before += 1;
    return before;
  }

  #compare(one: number, other: number): number {
    const first = this.#keys[one]!;
    const second = this.#keys[other]!;
    return first < second ? -1 : first > second ? 1 : other - one;
  }

  /** Splits a stretch in two, or sorts a short one. Returns what is still to be put in order. */
  #split(first: number, last: number): [number, number][] {
    const stretch = this.#runs.subarray(first, last);
    if (stretch.length <= shortStretch) {
      stretch.sort((one, other) => this.#compare(one, other));
      for (let offset = first; offset < last; offset += 1) this.#ends[offset] = offset + 1;
      return [];
    }
    const middle = first + this.#partition(stretch);
    this.#ends[first] = middle;
    this.#ends[middle] = last;
    return [
      [first, middle],
      [middle, last],
    ];
  }

  /** Moves the runs that sort before the pivot to the front; returns the index of the rest, which is never at either end. */
  #partition(stretch: Int32Array): number {
    const pivot = this.#medianOf(stretch[0]!, stretch[stretch.length >> 1]!, stretch[stretch.length - 1]!);
    let low = 0;
    let high = stretch.length - 1;
    for (;;) {
      while (this.#compare(stretch[low]!, pivot) < 0) low += 1;
      while (this.#compare(stretch[high]!, pivot) > 0) high -= 1;
      if (low >= high) return low;
      [stretch[low], stretch[high]] = [stretch[high]!, stretch[low]!];
      low += 1;
      high -= 1;
    }
  }

  #medianOf(one: number, other: number, third: number): number {
    const [, middle] = [one, other, third].sort((first, second) => this.#compare(first, second));
    return middle!;
  }
}
