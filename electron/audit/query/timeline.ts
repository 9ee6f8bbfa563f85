import { blockOf } from '../index/bits.ts';

/** Initial length of the arrays. */
const firstLength = 1 << 16;

/** A new length for arrays that are full. Doubling took 18 MB at once after half a million runs. */
const withRoom = (needed: number): number => Math.ceil(needed * 1.25);

function grown<Numbers extends Uint16Array | Int32Array | Float64Array>(numbers: Numbers, length: number): Numbers {
  const larger = new (numbers.constructor as new (length: number) => Numbers)(length);
  larger.set(numbers as never);
  return larger;
}

/** The order of runs in time and in their conversations. Needs 24 bytes for each run, and 6 for each conversation. */
export class Timeline {
  /** By sequence; 0 for a sequence without a run. */
  createdAt = new Float64Array(firstLength);
  conversation = new Int32Array(firstLength);
  /** The previous run of the same conversation; 0 for the first one. */
  previous = new Int32Array(firstLength);
  /** Runs by `createdAt`, then by sequence. The first `count` are in use. */
  order = new Int32Array(firstLength);
  /** The index of a run in `order`. */
  rank = new Int32Array(firstLength);
  /** By block: no run of the conversations that begin in it has a higher rank. */
  readonly highestRank: number[] = [];
  /** By block: none of its runs has a lower rank. */
  readonly lowestRank: number[] = [];
  count = 0;
  /** How many conversations have a run. */
  conversations = 0;
  lastRun = 0;
  lastConversation = 0;
  #newestOf = new Int32Array(firstLength);
  /** By conversation: the block of its first run. Enough for a billion runs. */
  #firstBlockOf = new Uint16Array(firstLength);
  /** How many of `order` are known to be in order. Only these have a rank. */
  #ordered = 0;

  append(run: number, conversation: number, createdAt: number): void {
    this.#makeRoom(run, conversation);
    const before = this.#newestOf[conversation]!;
    if (before === 0) {
      this.#firstBlockOf[conversation] = blockOf(run);
      this.conversations += 1;
    }
    this.previous[run] = before;
    this.#newestOf[conversation] = run;
    this.conversation[run] = conversation;
    this.createdAt[run] = createdAt;
    this.order[this.count] = run;
    if (this.#ordered === this.count && this.#isLater(createdAt)) {
      this.#rank(this.count);
      this.#ordered += 1;
    }
    this.count += 1;
    this.lastRun = run;
    if (conversation > this.lastConversation) this.lastConversation = conversation;
  }

  /**
   * Restores `order` after appending. Returns whether a run is before one that was there, as imported calls are. A million runs are not
   * sorted again, but those that came are put between them.
   */
  restoreOrder(): boolean {
    if (this.#ordered === this.count) return false;
    const { createdAt, order } = this;
    // An array's sort makes use of what is in order already; that of a typed array takes 0.5 s for a million.
    const late = Array.from(order.subarray(this.#ordered, this.count));
    late.sort((one, other) => createdAt[one]! - createdAt[other]!);
    let before = this.#ordered - 1;
    for (let at = this.count - 1, next = late.length - 1; next >= 0; at -= 1) {
      if (before >= 0 && createdAt[order[before]!]! > createdAt[late[next]!]!) order[at] = order[before--]!;
      else order[at] = late[next--]!;
    }
    for (let index = before + 1; index < this.count; index += 1) this.#rank(index);
    this.#ordered = this.count;
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

  #isLater(time: number): boolean {
    return this.count === 0 || time >= this.createdAt[this.order[this.count - 1]!]!;
  }

  /** Gives the run at an index of `order` its rank. Ranks that it had before stay in the bounds of blocks, which are only wider then. */
  #rank(index: number): void {
    const run = this.order[index]!;
    this.rank[run] = index;
    const first = this.#firstBlockOf[this.conversation[run]!]!;
    this.highestRank[first] = Math.max(this.highestRank[first] ?? -1, index);
    const block = blockOf(run);
    this.lowestRank[block] = Math.min(this.lowestRank[block] ?? Infinity, index);
  }

  #makeRoom(run: number, conversation: number): void {
    if (conversation >= this.#newestOf.length) {
      this.#newestOf = grown(this.#newestOf, withRoom(conversation));
      this.#firstBlockOf = grown(this.#firstBlockOf, withRoom(conversation));
    }
    if (run < this.createdAt.length) return;
    const length = withRoom(run);
    this.createdAt = grown(this.createdAt, length);
    this.conversation = grown(this.conversation, length);
    this.previous = grown(this.previous, length);
    this.order = grown(this.order, length);
    this.rank = grown(this.rank, length);
  }
}
