import type { AuditIndex } from '../index/audit-index.ts';
import { blockOf, blockRuns, emptyBits, forEachBit, hasBit, offsetOf, setBit, type Bits } from '../index/bits.ts';
import type { Matches } from './selection.ts';

export interface ListingOptions {
  /** The newest run when the list was created. */
  readonly last: number;
  readonly isNewestFirst?: boolean;
  /** Only conversations whose newest run started at this time or before. */
  readonly through?: number;
}

/**
 * The matching conversations in the order of their newest run, at the time when `last` was the newest run. It grows on demand. The newest
 * run represents its conversation.
 *
 * It reads the matching runs block by block, in the list's direction. Each marks the newest run of its conversation by its rank in time.
 * The ranks that the remaining blocks can mark have known bounds, so everything before these bounds is final.
 */
export class Listing {
  readonly last: number;
  readonly matches: Matches;
  readonly through: number;
  readonly #index: AuditIndex;
  readonly #isNewestFirst: boolean;
  /** Marked ranks, in blocks. */
  readonly #matched: (Bits | undefined)[] = [];
  /** The next block whose matches have to be marked. */
  #block: number;
  readonly #lastBlock: number;
  /** The next rank that is looked at. Those before it, in the list's direction, are in the list if they are marked. */
  #next: number;
  /** No remaining match can mark a rank before this bound. */
  #bound: number;
  /**
   * By block: the first rank, in the list's direction, that the block or a later one can mark. Newest first: the highest of all conversations
   * that begin in these blocks, which are all that have runs there. Oldest first: the lowest of all runs in these blocks, because the newest
   * run of a conversation is in the same block as another one or in a later one.
   */
  readonly #bounds: number[] = [];
  #entries = new Int32Array(256);
  #length = 0;

  constructor(index: AuditIndex, matches: Matches, { last, isNewestFirst = true, through = Infinity }: ListingOptions) {
    const { timeline } = index;
    this.#index = index;
    this.matches = matches;
    this.last = last;
    this.through = through;
    this.#isNewestFirst = isNewestFirst;
    this.#lastBlock = blockOf(last);
    this.#block = isNewestFirst ? this.#lastBlock : 0;
    const end = through === Infinity ? timeline.count : timeline.indexOfTime(through + 1);
    this.#next = this.#bound = isNewestFirst ? end - 1 : 0;
    this.#readBounds();
  }

  get isDone(): boolean {
    return this.#areAllMarked && !this.#hasFinal;
  }

  get #areAllMarked(): boolean {
    return this.#block < 0 || this.#block > this.#lastBlock;
  }

  /** Whether ranks that aren't looked at are final. */
  get #hasFinal(): boolean {
    return this.#isNewestFirst ? this.#next > this.#bound : this.#next < this.#bound;
  }

  get length(): number {
    return this.#length;
  }

  /** The number of conversations; an estimate until all blocks are read. */
  get estimate(): number {
    const seen = this.#isNewestFirst ? this.#lastBlock - this.#block : this.#block;
    if (this.isDone || seen === 0) return this.#length;
    return Math.round((this.#length * (this.#lastBlock + 1)) / seen);
  }

  /** Finds all entries up to `time` in the list's direction. */
  extendToTime(time: number): void {
    const isBefore = (next: number) => (this.#isNewestFirst ? next >= time : next <= time);
    while (!this.isDone && isBefore(this.#nextTime())) this.#step(Infinity);
  }

  /** Finds `count` entries and all with the same time as the last one, or all entries. Stops early at `deadline`. */
  extend(count: number, deadline = Infinity): void {
    while (!this.isDone && this.#needsMore(count)) {
      this.#step(Math.max(count, this.#length + 1));
      if (performance.now() > deadline) return;
    }
  }

  /** The entries from `start` to `end`. Conversations of the same time are ordered by descending id (ascending if the oldest are first). */
  slice(start: number, end: number): number[] {
    const { createdAt } = this.#index.timeline;
    const stop = Math.min(end, this.#length);
    const isWithNext = (first: number) => createdAt[this.#entries[first - 1]!] === createdAt[this.#entries[first]!];
    let first = start;
    while (first > 0 && first < stop && isWithNext(first)) first -= 1;
    const found: number[] = [];
    for (let next = first; next < stop;) {
      const group = this.#groupAt(next);
      found.push(...(group.length === 1 ? group : this.#byId(group)));
      next += group.length;
    }
    return found.slice(start - first, end - first);
  }

  /** The first index whose conversation is at or after a time in the list's direction. */
  indexOfTime(time: number): number {
    const { createdAt } = this.#index.timeline;
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const made = createdAt[this.#entries[middle]!]!;
      if (this.#isNewestFirst ? made > time : made < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #readBounds(): void {
    const { highestRank, lowestRank } = this.#index.timeline;
    let bound = this.#isNewestFirst ? -1 : Infinity;
    for (let seen = 0; seen <= this.#lastBlock; seen += 1) {
      const block = this.#isNewestFirst ? seen : this.#lastBlock - seen;
      if (this.#isNewestFirst) bound = Math.max(bound, highestRank[block] ?? -1);
      else bound = Math.min(bound, lowestRank[block] ?? Infinity);
      this.#bounds[block] = bound;
    }
  }

  /** The earliest time, in the list's direction, that the next entry can have. */
  #nextTime(): number {
    const { timeline } = this.#index;
    const rank = this.#hasFinal ? this.#next : this.#bounds[this.#block]!;
    return timeline.createdAt[timeline.runAt(Math.min(Math.max(rank, 0), timeline.count - 1))]!;
  }

  #needsMore(count: number): boolean {
    if (this.#length < count) return true;
    return this.#length > 0 && this.#nextTime() === this.#index.timeline.createdAt[this.#entries[this.#length - 1]!];
  }

  /** Adds final entries up to a number of them. If there are none, marks the matches of one more block. */
  #step(count: number): void {
    if (!this.#hasFinal) this.#markBlock();
    if (!this.#hasFinal) return;
    if (this.#isNewestFirst) this.#takeDown(count);
    else this.#takeUp(count);
  }

  #markBlock(): void {
    const { timeline } = this.#index;
    const { conversation } = timeline;
    const first = this.#block * blockRuns;
    forEachBit(this.matches.block(this.#block), (offset) => {
      const run = first + offset;
      if (run <= this.last) this.#mark(timeline.rankOf(timeline.newestRun(conversation[run]!, this.last)));
    });
    this.#block += this.#isNewestFirst ? -1 : 1;
    if (this.#areAllMarked) this.#bound = this.#isNewestFirst ? -1 : timeline.count;
    else this.#bound = Math.min(this.#bounds[this.#block]!, timeline.count);
  }

  #mark(rank: number): void {
    setBit((this.#matched[blockOf(rank)] ??= emptyBits()), offsetOf(rank));
  }

  #takeDown(count: number): void {
    let rank = this.#next;
    while (rank > this.#bound && this.#length < count) {
      const bits = this.#matched[blockOf(rank)];
      if (bits === undefined) rank = blockOf(rank) * blockRuns - 1;
      else {
        if (hasBit(bits, offsetOf(rank))) this.#push(rank);
        // A rare word marks one rank in hundreds. 32 unmarked ranks are skipped in one step.
        rank -= (rank & 31) === 31 && bits[offsetOf(rank) >>> 5] === 0 ? 32 : 1;
      }
    }
    this.#next = Math.max(rank, this.#bound);
  }

  #takeUp(count: number): void {
    let rank = this.#next;
    while (rank < this.#bound && this.#length < count) {
      const bits = this.#matched[blockOf(rank)];
      if (bits === undefined) rank = (blockOf(rank) + 1) * blockRuns;
      else {
        if (hasBit(bits, offsetOf(rank))) this.#push(rank);
        rank += (rank & 31) === 0 && bits[offsetOf(rank) >>> 5] === 0 ? 32 : 1;
      }
    }
    this.#next = Math.min(rank, this.#bound);
  }

  #push(rank: number): void {
    if (this.#length === this.#entries.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries[this.#length] = this.#index.timeline.runAt(rank);
    this.#length += 1;
  }

  #groupAt(start: number): number[] {
    const { createdAt } = this.#index.timeline;
    const time = createdAt[this.#entries[start]!];
    let end = start + 1;
    while (end < this.#length && createdAt[this.#entries[end]!] === time) end += 1;
    return [...this.#entries.subarray(start, end)];
  }

  #byId(runs: readonly number[]): number[] {
    const { source, timeline } = this.#index;
    const sign = this.#isNewestFirst ? -1 : 1;
    return runs
      .map((run) => ({ run, id: source.conversationId(timeline.conversation[run]!) }))
      .toSorted((one, other) => (one.id < other.id ? -sign : sign))
      .map(({ run }) => run);
  }
}
