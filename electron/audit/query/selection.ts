import type { Timeline } from './timeline.ts';
import type { AuditFilter } from '../../../shared/contract/audit.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import { type Bits, blockOf, blockRuns, emptyBits, fullBits, hasBit, offsetOf } from '../index/bits.ts';
import { type Condition, conditionsOf } from './conditions.ts';

/** The result for blocks without matches. It must not be changed. */
const nothing = emptyBits();

/** The runs that match a filter. Evaluated block by block on demand, and cached until something changes. */
export class Matches {
  /** Whether every run matches. */
  readonly isEverything: boolean;
  readonly #index: AuditIndex;
  readonly #conditions: readonly Condition[];
  readonly #usesFeedback: boolean;
  readonly #blocks: ({ bits: Bits; version: number } | undefined)[] = [];

  constructor(filter: AuditFilter, index: AuditIndex) {
    this.#index = index;
    this.#conditions = conditionsOf(filter, index);
    this.#usesFeedback = this.#conditions.some(({ usesFeedback }) => usesFeedback);
    this.isEverything = this.#conditions.length === 0;
  }

  has(run: number): boolean {
    return this.isEverything || hasBit(this.block(blockOf(run)), offsetOf(run));
  }

  /** Callers must not change the result. */
  block(block: number): Bits {
    // Both numbers only grow, so their sum changes whenever one does.
    const feedback = this.#usesFeedback ? this.#index.feedback.versionOf(block) : 0;
    const version = this.#index.blocks.version(block) + feedback;
    const known = this.#blocks[block];
    if (known?.version === version) return known.bits;
    const bits = this.#find(block);
    this.#blocks[block] = { bits, version };
    return bits;
  }

  #find(block: number): Bits {
    if (this.#conditions.some((condition) => condition.excludes?.(block))) return nothing;
    const bits = this.#runsOf(block);
    for (const condition of this.#conditions) condition.narrow(block, bits);
    return bits;
  }

  /** All runs of the block. */
  #runsOf(block: number): Bits {
    const { createdAt, count, lastRun } = this.#index.timeline;
    const first = block * blockRuns;
    // Sequences start at 1 and have no gaps until runs are removed.
    const isFull = count === lastRun && block > 0 && first + blockRuns - 1 <= lastRun;
    if (isFull) return fullBits();
    const bits = emptyBits();
    for (let offset = 0; offset < blockRuns; offset += 1) {
      if (createdAt[first + offset]! > 0) bits[offset >>> 5]! |= 1 << (offset & 31);
    }
    return bits;
  }
}

/** A conversation's sequence, with the sequences of its matching runs, oldest first. */
export interface SelectedConversation {
  readonly conversation: number;
  readonly runs: readonly number[];
}

/**
 * All matches of a filter at one time, starting with the conversation with the newest run. For each conversation: its sequence, the number
 * of matching runs, and their sequences. A million runs take about 12 MB. It reads no texts.
 */
export interface Selection {
  /** Newest `runs.sequence` of all. */
  readonly last: number;
  readonly numbers: Int32Array;
}

/** The part of a `Listing` that a selection reads. */
interface Conversations {
  readonly length: number;
  extend(count: number): void;
  /** The newest runs of the conversations from `start` to `end`. */
  slice(start: number, end: number): number[];
}

export function selectionOf(timeline: Timeline, listing: Conversations, matches: Matches, last: number): Selection {
  listing.extend(Infinity);
  // Each conversation takes two numbers and each run one. Every conversation has a run.
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

/** The size of a selection. A million conversations take a few milliseconds. */
export function sizeOf(numbers: Int32Array): { conversations: number; runs: number } {
  const size = { conversations: 0, runs: 0 };
  for (let at = 0; at < numbers.length; at += 2 + numbers[at + 1]!) {
    size.conversations += 1;
    size.runs += numbers[at + 1]!;
  }
  return size;
}
