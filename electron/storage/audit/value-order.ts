import type { AuditSort } from '../../../shared/contract/audit.ts';
import type { AuditIndex } from './audit-index.ts';
import { blockOf, blockRuns, forEachBit } from './bits.ts';
import type { Matches } from './matches.ts';

/** Sorts by a number of the matching runs. */
export type ValueSort = Exclude<AuditSort, 'newest' | 'oldest'>;

/** The number by which a run is sorted, the smallest first; infinite where it has none. */
type KeyOf = (place: number) => number;

function keysOf(index: AuditIndex, sort: ValueSort, block: number): KeyOf {
  if (sort === 'lowest-score') {
    return (place) => index.feedback.get(block * blockRuns + place)?.score ?? Infinity;
  }
  const numbers = index.blocks.numbers(sort === 'slowest' ? 'total_ms' : 'cost', block);
  return (place) => {
    const number = numbers[place]!;
    return Number.isNaN(number) ? Infinity : -number;
  };
}

/** Of each matching conversation the run with the smallest key, sorted by it; of equal ones the newest first. */
export function orderByValue(index: AuditIndex, matches: Matches, sort: ValueSort, last: number): Int32Array {
  const { timeline } = index;
  const bestOf = new Map<number, number>();
  const keys = new Float64Array(timeline.lastRun + 1);
  for (let block = blockOf(last); block >= 0; block -= 1) {
    const keyOf = keysOf(index, sort, block);
    forEachBit(matches.block(block), (place) => {
      const run = block * blockRuns + place;
      if (run > last) return;
      const key = (keys[run] = keyOf(place));
      const conversation = timeline.conversation[run]!;
      const best = bestOf.get(conversation);
      if (best === undefined || key < keys[best]! || (key === keys[best] && run > best)) bestOf.set(conversation, run);
    });
  }
  const runs = Int32Array.from(bestOf.values());
  return runs.sort((one, other) => {
    const [first, second] = [keys[one]!, keys[other]!];
    return first < second ? -1 : first > second ? 1 : other - one;
  });
}
