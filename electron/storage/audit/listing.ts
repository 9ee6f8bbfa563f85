import type { AuditIndex } from './audit-index.ts';
import { blockOf, blockRuns, forEachBit, hasBit, placeOf, type Bits } from './bits.ts';
import type { Matches } from './matches.ts';

/** Up to so many matching runs it is quicker to begin with them than with the conversations. */
const fewMatches = 4096;

/** How many runs are looked at between two looks at the clock. */
const stride = 4096;

/**
 * The conversations that match, by their newest run, as they were when `last` was the newest run of all. Grows as far as it is
 * asked for; each conversation stands as its newest run.
 */
export class Listing {
  readonly last: number;
  readonly matches: Matches;
  /** Conversations after this moment are left out. */
  readonly through: number;
  readonly #index: AuditIndex;
  readonly #isNewestFirst: boolean;
  /** Kept, because asking for a block again and again costs more than all the rest. */
  readonly #bits: Bits[] = [];
  #entries = new Int32Array(256);
  #length = 0;
  /** Next index in the timeline's order. */
  #next: number;

  /** `through`: only conversations whose newest run was made at this moment or before. */
  constructor(
    index: AuditIndex,
    matches: Matches,
    options: { last: number; isNewestFirst?: boolean; through?: number },
  ) {
    this.#index = index;
    this.matches = matches;
    this.last = options.last;
    this.through = options.through ?? Infinity;
    this.#isNewestFirst = options.isNewestFirst ?? true;
    const { timeline } = index;
    const end = options.through === undefined ? timeline.count : timeline.indexOfTime(options.through + 1);
    this.#next = this.#isNewestFirst ? end - 1 : 0;
    if (!matches.isSlow && !matches.isEverything) this.#takeFew(end);
  }

  get isDone(): boolean {
    return this.#isNewestFirst ? this.#next < 0 : this.#next >= this.#index.timeline.count;
  }

  get length(): number {
    return this.#length;
  }

  /** How many conversations there are, by those found so far while it is not done. */
  get estimate(): number {
    const { count } = this.#index.timeline;
    const seen = this.#isNewestFirst ? count - 1 - this.#next : this.#next;
    return this.isDone || seen === 0 ? this.#length : Math.max(this.#length, Math.round((this.#length * count) / seen));
  }

  /** Makes sure of every entry whose moment lies before `time` in the list's direction, and of those at it. */
  extendToTime(time: number): void {
    const { createdAt, order } = this.#index.timeline;
    const isBefore = (run: number) => (this.#isNewestFirst ? createdAt[run]! >= time : createdAt[run]! <= time);
    while (!this.isDone && isBefore(order[this.#next]!)) this.#step();
  }

  /** Makes sure of `count` entries and all that share the last one's moment, or of all there are. Ends early at `deadline`. */
  extend(count: number, deadline = Infinity): void {
    while (!this.isDone && this.#needsMore(count)) {
      this.#step();
      if (performance.now() > deadline) return;
    }
  }

  /** The entries from `start` to `end`, conversations of one moment by descending id. */
  slice(start: number, end: number): number[] {
    const { createdAt } = this.#index.timeline;
    const stop = Math.min(end, this.#length);
    let first = start;
    while (first > 0 && first < stop && createdAt[this.#entries[first - 1]!] === createdAt[this.#entries[first]!])
      first -= 1;
    const found: number[] = [];
    for (let next = first; next < stop;) {
      const group = this.#groupAt(next);
      found.push(...(group.length === 1 ? group : this.#byId(group)));
      next += group.length;
    }
    return found.slice(start - first, end - first);
  }

  /** First index whose conversation is at or beyond a moment in the list's direction. */
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

  #needsMore(count: number): boolean {
    if (this.#length < count) return true;
    if (this.#length === 0) return false;
    const { createdAt, order } = this.#index.timeline;
    return createdAt[order[this.#next]!] === createdAt[this.#entries[this.#length - 1]!];
  }

  #step(): void {
    const { timeline } = this.#index;
    const direction = this.#isNewestFirst ? -1 : 1;
    for (let seen = 0; seen < stride && !this.isDone; seen += 1) {
      const run = timeline.order[this.#next]!;
      this.#next += direction;
      if (run <= this.last && timeline.isNewest(run, this.last) && this.#hasMatch(run)) this.#push(run);
    }
  }

  #hasMatch(newest: number): boolean {
    if (this.matches.isEverything) return true;
    const { previous } = this.#index.timeline;
    for (let run = newest; run !== 0; run = previous[run]!) {
      const bits = (this.#bits[blockOf(run)] ??= this.matches.block(blockOf(run)));
      if (hasBit(bits, placeOf(run))) return true;
    }
    return false;
  }

  #push(run: number): void {
    if (this.#length === this.#entries.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries[this.#length] = run;
    this.#length += 1;
  }

  /** Takes all at once when few runs match; `end` bounds the order. */
  #takeFew(end: number): void {
    if (this.matches.count(this.last) > fewMatches) return;
    const { timeline } = this.#index;
    const { createdAt } = timeline;
    const bound = end < timeline.count ? createdAt[timeline.order[end]!]! : Infinity;
    const newest = new Set<number>();
    for (let block = blockOf(this.last); block >= 0; block -= 1) {
      forEachBit(this.matches.block(block), (place) => {
        const run = block * blockRuns + place;
        if (run <= this.last) newest.add(timeline.newestRun(timeline.conversation[run]!, this.last));
      });
    }
    const runs = Int32Array.from(newest).filter((run) => createdAt[run]! < bound);
    if (timeline.isSequential) runs.sort();
    else runs.sort((one, other) => createdAt[one]! - createdAt[other]! || one - other);
    if (this.#isNewestFirst) runs.reverse();
    for (const run of runs) this.#push(run);
    this.#next = this.#isNewestFirst ? -1 : timeline.count;
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
