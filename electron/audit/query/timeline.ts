import { blockOf } from '../index/bits.ts';

/** Initial length of the arrays. */
const firstLength = 1 << 16;

/** A new length for arrays that are full. Doubling took 18 MB at once after half a million runs. */
const withRoom = (needed: number): number => Math.ceil(needed * 1.25);

function grown<Numbers extends Int32Array | Float64Array>(numbers: Numbers, length: number): Numbers {
  const larger = new (numbers.constructor as new (length: number) => Numbers)(length);
  larger.set(numbers as never);
  return larger;
}

/** The order of runs in time and in their conversations. Needs 28 bytes for each run. */
export class Timeline {
  /** By sequence; 0 for a sequence without a run. */
  createdAt = new Float64Array(firstLength);
  conversation = new Int32Array(firstLength);
  /** The previous run of the same conversation; 0 for the first one. */
  previous = new Int32Array(firstLength);
  next = new Int32Array(firstLength);
  /** Runs by `createdAt`, then by sequence. The first `count` are in use. */
  order = new Int32Array(firstLength);
  /** The index of a run in `order`. */
  rank = new Int32Array(firstLength);
  /**
   * By block: the largest and the smallest rank of the block's runs and of later runs of their conversations. The newest runs of these
   * conversations are always between them.
   */
  readonly highestRank: number[] = [];
  readonly lowestRank: number[] = [];
  count = 0;
  lastRun = 0;
  lastConversation = 0;
  #newestOf = new Int32Array(firstLength);
  #isInOrder = true;

  append(run: number, conversation: number, createdAt: number): void {
    this.#makeRoom(run, conversation);
    const before = this.#newestOf[conversation]!;
    if (before !== 0) this.next[before] = run;
    this.previous[run] = before;
    this.#newestOf[conversation] = run;
    this.conversation[run] = conversation;
    this.createdAt[run] = createdAt;
    if (this.count > 0 && createdAt < this.createdAt[this.order[this.count - 1]!]!) {
      this.#isInOrder = false;
    }
    this.order[this.count] = run;
    this.rank[run] = this.count;
    this.#reach(run);
    this.count += 1;
    this.lastRun = run;
    if (conversation > this.lastConversation) this.lastConversation = conversation;
  }

  /** Restores `order` after appending. Returns whether something moved. */
  restoreOrder(): boolean {
    if (this.#isInOrder) return false;
    const { createdAt, order, rank } = this;
    order.subarray(0, this.count).sort((one, other) => createdAt[one]! - createdAt[other]! || one - other);
    for (let index = 0; index < this.count; index += 1) rank[order[index]!] = index;
    this.highestRank.length = 0;
    this.lowestRank.length = 0;
    for (let run = 1; run <= this.lastRun; run += 1) if (this.createdAt[run]! > 0) this.#reach(run);
    this.#isInOrder = true;
    return true;
  }

  /** A conversation's newest run up to `last`; 0 if there is none. */
  newestRun(conversation: number, last: number): number {
    let run = this.#newestOf[conversation] ?? 0;
    while (run > last) run = this.previous[run]!;
    return run;
  }

  /** The index in `order` of the first run at `time` or later. */
  indexOfTime(time: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.createdAt[this.order[middle]!]! < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Updates the bounds of the blocks that have runs of the run's conversation. */
  #reach(newest: number): void {
    const rank = this.rank[newest]!;
    for (let run = newest; run !== 0; run = this.previous[run]!) {
      const block = blockOf(run);
      this.highestRank[block] = Math.max(this.highestRank[block] ?? -1, rank);
      this.lowestRank[block] = Math.min(this.lowestRank[block] ?? Infinity, rank);
    }
  }

  #makeRoom(run: number, conversation: number): void {
    if (conversation >= this.#newestOf.length) this.#newestOf = grown(this.#newestOf, withRoom(conversation));
    if (run < this.createdAt.length) return;
    const length = withRoom(run);
    this.createdAt = grown(this.createdAt, length);
    this.conversation = grown(this.conversation, length);
    this.previous = grown(this.previous, length);
    this.next = grown(this.next, length);
    this.order = grown(this.order, length);
    this.rank = grown(this.rank, length);
  }
}
