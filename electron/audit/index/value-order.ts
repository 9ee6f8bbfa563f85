import type { AuditSort } from '../../../shared/contract/audit.ts';
import type { AuditIndex } from './audit-index.ts';
import { blockOf, blockRuns, forEachBit, offsetOf } from './bits.ts';
import type { Matches } from '../query/selection.ts';

/** Sorts by a number of the matching runs. */
export type ValueSort = Exclude<AuditSort, 'newest' | 'oldest'>;

/** The sort key of each run of a block, smallest first; infinite for runs without one. */
function keysOf(index: AuditIndex, sort: ValueSort, block: number): Float64Array {
  if (sort !== 'lowest-score') {
    const numbers = index.blocks.numbers(sort === 'slowest' ? 'total_ms' : 'cost', block);
    return numbers.map((number) => (Number.isNaN(number) ? Infinity : -number));
  }
  const scores = new Float64Array(blockRuns).fill(Infinity);
  for (const { run, score } of index.feedback.ofBlock(block)) scores[offsetOf(run)] = score ?? Infinity;
  return scores;
}

/** The keys that aren't 0. */
function compacted(numbers: Int32Array, count: number): Int32Array {
  const compact = new Int32Array(count);
  let length = 0;
  for (const number of numbers) if (number !== 0) compact[length++] = number;
  return compact;
}

/** Shorter ranges are sorted completely. */
const shortStretch = 512;

/**
 * The run with the smallest key of each matching conversation, sorted by key, newest first for equal keys. Like quicksort, it sorts only the
 * ranges that are read: sorting hundreds of thousands of runs for a first page would take ten times as long.
 */
export class ValueOrder {
  readonly #runs: Int32Array;
  /** By run. */
  readonly #keys: Float64Array;
  /** The end of each range. All runs of a range sort before those after it. A run in a range of 1 is in its final position. */
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

  /** The runs from position `start` to `end`, which is excluded. */
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

  /** The position of the first run that passes the test, which must be its conversation's only one here; -1 if there is none. */
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

  /** Splits a range in two, or sorts a short one. Returns the range that is still unsorted. */
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
