import type { AuditFilter, AuditPage, AuditSort } from '../../../shared/contract/audit.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import type { ConversationRows } from './conversation-rows.ts';
import { Listing } from './listing.ts';
import type { Matches } from './selection.ts';
import { ValueOrder } from '../index/value-order.ts';

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
