import { blockOf, blockRuns } from '../index/bits.ts';

/** How long the arrays can become before they are copied. Only addresses are reserved, which take no memory. */
const reservedLength = 1 << 22;

type Numbers = Uint16Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
interface NumbersType<Kind extends Numbers> {
  new (buffer: ArrayBuffer): Kind;
  readonly BYTES_PER_ELEMENT: number;
}

function reserve<Kind extends Numbers>(type: NumbersType<Kind>, length: number): Kind {
  return new type(new ArrayBuffer(0, { maxByteLength: length * type.BYTES_PER_ELEMENT }));
}

/**
 * Lengthens an array by whole blocks, in place: arrays that are copied need twice their memory until the next collection: 33 MB after half a
 * million runs.
 */
function lengthened<Kind extends Numbers>(numbers: Kind, last: number): Kind {
  if (last < numbers.length) return numbers;
  const length = (blockOf(last) + 1) * blockRuns;
  const bytes = length * numbers.BYTES_PER_ELEMENT;
  const isReserved = bytes <= numbers.buffer.maxByteLength;
  const longer = isReserved ? numbers : reserve(numbers.constructor as NumbersType<Kind>, 4 * length);
  longer.buffer.resize(bytes);
  if (!isReserved) longer.set(numbers);
  return longer;
}

/**
 * The order of runs in time and in their conversations. Needs 12 bytes for each run and 6 for each conversation; 4 more for the later runs of
 * a conversation, and 8 more for each run once one was removed, or came later than a newer one.
 */
export class Timeline {
  /** By sequence; 0 for a sequence without a run. */
  createdAt = reserve(Float64Array, reservedLength);
  conversation = reserve(Int32Array, reservedLength);
  /** The previous run of the same conversation; 0 for the first one. Memory that is never written isn't taken. */
  previous = reserve(Int32Array, reservedLength);
  /** By block: no run of the conversations that begin in it has a higher rank. */
  readonly highestRank: number[] = [];
  /** By block: none of its runs has a lower rank. */
  readonly lowestRank: number[] = [];
  count = 0;
  /** How many conversations have a run. */
  conversations = 0;
  lastRun = 0;
  lastConversation = 0;
  /**
   * Runs by `createdAt`, then by sequence, of which the first `count` are in use, and the index of each run. Null while that is the order of
   * sequences, and none is missing.
   */
  #order: { runs: Int32Array<ArrayBuffer>; ranks: Int32Array<ArrayBuffer> } | null = null;
  #newestOf = reserve(Int32Array, reservedLength);
  /** By conversation: the block of its first run. Enough for a billion runs. */
  #firstBlockOf = reserve(Uint16Array, reservedLength);
  /** How many runs are known to be in order. Only these have a rank. */
  #ordered = 0;

  append(run: number, conversation: number, createdAt: number): void {
    const isLater = this.#ordered === this.count && this.#isLater(createdAt);
    if (!isLater || run !== this.count + 1) this.#order ??= this.#createOrder();
    this.#makeRoom(run, conversation);
    const before = this.#newestOf[conversation]!;
    if (before === 0) {
      this.#firstBlockOf[conversation] = blockOf(run);
      this.conversations += 1;
    } else this.previous[run] = before;
    this.#newestOf[conversation] = run;
    this.conversation[run] = conversation;
    this.createdAt[run] = createdAt;
    if (this.#order !== null) this.#order.runs[this.count] = run;
    if (isLater) {
      this.#setRank(this.count);
      this.#ordered += 1;
    }
    this.count += 1;
    this.lastRun = run;
    if (conversation > this.lastConversation) this.lastConversation = conversation;
  }

  /** The run at an index of the order in time. */
  runAt(index: number): number {
    return this.#order === null ? index + 1 : this.#order.runs[index]!;
  }

  /** The index of a run in the order in time. */
  rankOf(run: number): number {
    return this.#order === null ? run - 1 : this.#order.ranks[run]!;
  }

  /**
   * Restores the order after appending. Returns whether a run is before one that was appended earlier, as imported calls are. A million runs
   * are not sorted again, but those that came are put between them.
   */
  restoreOrder(): boolean {
    if (this.#ordered === this.count || this.#order === null) return false;
    const { runs: order } = this.#order;
    const { createdAt } = this;
    // An array's sort makes use of what is in order already; that of a typed array takes 0.5 s for a million.
    const late = Array.from(order.subarray(this.#ordered, this.count));
    late.sort((one, other) => createdAt[one]! - createdAt[other]!);
    let before = this.#ordered - 1;
    for (let at = this.count - 1, next = late.length - 1; next >= 0; at -= 1) {
      if (before >= 0 && createdAt[order[before]!]! > createdAt[late[next]!]!) order[at] = order[before--]!;
      else order[at] = late[next--]!;
    }
    for (let index = before + 1; index < this.count; index += 1) this.#setRank(index);
    this.#ordered = this.count;
    return true;
  }

  /** A conversation's newest run up to `last`; 0 if there is none. */
  newestRun(conversation: number, last: number): number {
    let run = this.#newestOf[conversation] ?? 0;
    while (run > last) run = this.previous[run]!;
    return run;
  }

  /** The index of the first run at `time` or later. */
  indexOfTime(time: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.createdAt[this.runAt(middle)]! < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isLater(time: number): boolean {
    return this.count === 0 || time >= this.createdAt[this.runAt(this.count - 1)]!;
  }

  #createOrder() {
    const [runs, ranks] = [1, 2].map(() => lengthened(reserve(Int32Array, reservedLength), this.lastRun));
    for (let index = 0; index < this.count; index += 1) {
      runs![index] = index + 1;
      ranks![index + 1] = index;
    }
    return { runs: runs!, ranks: ranks! };
  }

  /** Gives the run at an index its rank. Ranks that it had before stay in the bounds of blocks, which are only wider then. */
  #setRank(index: number): void {
    const run = this.runAt(index);
    if (this.#order !== null) this.#order.ranks[run] = index;
    const first = this.#firstBlockOf[this.conversation[run]!]!;
    this.highestRank[first] = Math.max(this.highestRank[first] ?? -1, index);
    const block = blockOf(run);
    this.lowestRank[block] = Math.min(this.lowestRank[block] ?? Infinity, index);
  }

  #makeRoom(run: number, conversation: number): void {
    this.#newestOf = lengthened(this.#newestOf, conversation);
    this.#firstBlockOf = lengthened(this.#firstBlockOf, conversation);
    if (this.#order !== null) {
      this.#order.runs = lengthened(this.#order.runs, run);
      this.#order.ranks = lengthened(this.#order.ranks, run);
    }
    this.createdAt = lengthened(this.createdAt, run);
    this.conversation = lengthened(this.conversation, run);
    this.previous = lengthened(this.previous, run);
  }
}
