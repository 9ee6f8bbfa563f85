import type { Listing } from './listing.ts';
import type { Matches } from './matches.ts';
import type { Timeline } from './timeline.ts';

/** A conversation by its sequence, with the sequences of its runs that meet the filter, oldest first. */
export interface SelectedConversation {
  readonly conversation: number;
  readonly runs: readonly number[];
}

/**
 * Everything that a filter finds at one moment, the conversation with the newest run first: for each its sequence, how many
 * of its runs meet the filter, and these. A million runs take about 12 MB, and no text is read for it.
 */
export interface Selection {
  /** Newest `runs.sequence` of all. */
  readonly last: number;
  readonly numbers: Int32Array;
}

export function selectionOf(timeline: Timeline, listing: Listing, matches: Matches, last: number): Selection {
  listing.extend(Infinity);
  // Each conversation takes two numbers, each of its runs one, and no conversation is without a run.
  let numbers = new Int32Array(Math.max(64, 3 * listing.length));
  let length = 0;
  for (const newest of listing.slice(0, listing.length)) {
    const runs: number[] = [];
    for (let run = newest; run !== 0; run = timeline.previous[run]!) if (matches.has(run)) runs.push(run);
    if (length + 2 + runs.length > numbers.length) {
      const larger = new Int32Array(2 * (length + 2 + runs.length));
      larger.set(numbers);
      numbers = larger;
    }
    numbers[length] = timeline.conversation[newest]!;
    numbers[length + 1] = runs.length;
    numbers.set(runs.toReversed(), length + 2);
    length += 2 + runs.length;
  }
  return { last, numbers: numbers.slice(0, length) };
}

export function* conversationsOf(numbers: Int32Array): Generator<SelectedConversation, void, void> {
  for (let at = 0; at < numbers.length;) {
    const end = at + 2 + numbers[at + 1]!;
    yield { conversation: numbers[at]!, runs: [...numbers.subarray(at + 2, end)] };
    at = end;
  }
}
