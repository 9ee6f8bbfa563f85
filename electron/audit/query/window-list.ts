import type { AuditFilter, AuditPage, AuditSort } from '../../../shared/contract/audit.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import type { ConversationRows } from './conversation-rows.ts';
import { Listing } from './listing.ts';
import type { Matches } from './selection.ts';
import { blockOf, blockRuns, forEachBit, offsetOf } from '../index/bits.ts';

/** Sorts by a number of the matching runs. */
type ValueSort = Exclude<AuditSort, 'newest' | 'oldest'>;

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
class ValueOrder {
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

/** How long a response may be delayed to count the conversations. */
const countMilliseconds = 20;

export interface SearchRequest {
  readonly filter: AuditFilter;
  readonly sort: AuditSort;
  /** The newest run when the list was created; null for a new list. */
  readonly last: number | null;
  readonly limit: number;
  readonly offset?: number | undefined;
  readonly at?: string | undefined;
  readonly around?: string | undefined;
}

export type SearchPage = Omit<AuditPage, 'snapshot'> & { readonly last: number };

/** A list of the window. Any page can be read, and its lines stay the same while new runs arrive. */
export class WindowList {
  readonly #index: AuditIndex;
  readonly #rows: ConversationRows;
  readonly #matches: Matches;
  readonly #last: number;
  /** For lists that are ordered by time. */
  readonly #listing: Listing | null;
  /** For lists that are sorted by a number. */
  readonly #sorted: ValueOrder | null;

  constructor(
    index: AuditIndex,
    rows: ConversationRows,
    matches: Matches,
    { sort, last }: { sort: AuditSort; last: number },
  ) {
    this.#index = index;
    this.#rows = rows;
    this.#matches = matches;
    this.#last = last;
    const isByTime = sort === 'newest' || sort === 'oldest';
    this.#listing = isByTime ? new Listing(index, matches, { last, isNewestFirst: sort === 'newest' }) : null;
    this.#sorted = isByTime ? null : new ValueOrder(index, matches, sort, last);
  }

  page(request: Pick<SearchRequest, 'limit' | 'offset' | 'at' | 'around'>): SearchPage {
    const offset = this.#offsetOf(request);
    const end = offset + request.limit;
    this.#listing?.extend(end);
    this.#listing?.extend(Infinity, performance.now() + countMilliseconds);
    const runs = this.#listing?.slice(offset, end) ?? this.#sorted!.slice(offset, end);
    return {
      rows: runs.map((run) => this.#row(run)),
      offset,
      total: this.#listing?.estimate ?? this.#sorted!.length,
      isTotalExact: this.#listing?.isDone ?? true,
      last: this.#last,
    };
  }

  #offsetOf({ offset, at, around, limit }: Pick<SearchRequest, 'limit' | 'offset' | 'at' | 'around'>): number {
    if (around !== undefined) {
      const position = this.#positionOf(around);
      return Math.max(0, position - (limit >> 1));
    }
    if (at === undefined || this.#listing === null) return offset ?? 0;
    this.#listing.extend(Infinity);
    return this.#listing.indexOfTime(Date.parse(at));
  }

  /** The position of a conversation in the list; 0 if it isn't in it. */
  #positionOf(id: string): number {
    const { source, timeline } = this.#index;
    const conversation = source.findConversation(id.toLowerCase());
    if (conversation === null) return 0;
    const isOfIt = (run: number) => timeline.conversation[run] === conversation;
    if (this.#sorted !== null) return Math.max(0, this.#sorted.rankOf(isOfIt));
    const newest = timeline.newestRun(conversation, this.#last);
    if (newest === 0) return 0;
    this.#listing!.extend(Infinity);
    const first = this.#listing!.indexOfTime(timeline.createdAt[newest]!);
    const group = this.#listing!.slice(first, first + 1000);
    return first + Math.max(0, group.indexOf(newest));
  }

  #row(run: number): AuditPage['rows'][number] {
    const { timeline } = this.#index;
    const conversation = timeline.conversation[run]!;
    const matched: number[] = [];
    const newest = timeline.newestRun(conversation, this.#last);
    let runs = 0;
    for (let each = newest; each !== 0; each = timeline.previous[each]!) {
      runs += 1;
      if (matched.length < 100 && this.#matches.has(each)) matched.push(each);
    }
    const found = this.#rows.conversation(conversation, timeline.createdAt[newest]!);
    const { id, name, callerId, workspaceId, updatedAt } = found;
    return {
      conversationId: id,
      name,
      callerId,
      workspaceId,
      updatedAt,
      isSample: this.#rows.isSample(id),
      runs,
      turns: runs + this.#rows.turnsBefore(id),
      matchedRunIds: matched.map(this.#rows.runId),
      // Feedback may have changed since the list was created, so that no run matches.
      run: this.#rows.rowRun(this.#sorted === null ? (matched[0] ?? run) : run),
    };
  }
}
