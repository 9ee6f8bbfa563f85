import type Database from 'better-sqlite3';
import type { AuditFacetCounts, AuditFilter, AuditReport, AuditSummary } from '../../../shared/contract/audit.ts';
import type { Conversation } from '../../../shared/contract/conversations.ts';
import { AuditIndex } from './audit-index.ts';
import { createConversationRows, type ConversationRows } from '../query/conversation-rows.ts';
import { countFacets, facetsOf, type IndexFacets } from '../query/facets.ts';
import { Listing } from '../query/listing.ts';
import { Matches, type Selection, selectionOf } from '../query/selection.ts';
import { summaryOf } from '../query/summary.ts';
import { WindowList, type SearchPage, type SearchRequest } from '../query/window-list.ts';

/** Words are indexed for so long while a query may be waiting. */
const textSliceMs = 5;

/** Before a search for words; then what was indexed is written. */
const textWriteMs = 100;

/** Figures are read again so often while runs are removed. */
const maxRepeats = 3;

/** The position from which a walk through conversations continues. */
export interface WalkPosition {
  /** Newest run of all when the walk started. */
  readonly last: number;
  /** `createdAt` of the newest run of the last returned conversation, and that conversation's ID. */
  readonly time: number;
  readonly id: string;
}

export interface WalkRequest {
  readonly filter: AuditFilter;
  readonly pageSize: number;
  /** Null at the start. */
  readonly position: WalkPosition | null;
}

/** A conversation whose runs are too long for one message: the caller reads them. */
export interface ReportOutline {
  readonly conversation: Conversation;
  /** `conversations.sequence`. */
  readonly sequence: number;
  /** `runs.sequence` of the matching runs. */
  readonly matched: readonly number[];
}

export interface ReportPage {
  readonly conversations: AuditReport['conversations'];
  /** Replaces all conversations if their texts are long. `last`: the newest run of the walk. */
  readonly long: { readonly outlines: readonly ReportOutline[]; readonly last: number } | null;
  /** Null on the last page. */
  readonly next: WalkPosition | null;
}

/** Max characters of texts in one page. More would block the host's thread, and could fill its memory. */
const maxPageCharacters = 1_048_576;

const maxMatches = 12;
const maxLists = 4;

/** A list, and the state of the index when it was made. */
interface StoredList<List> {
  readonly list: List;
  readonly state: string;
}

function remember<Value>(values: Map<string, Value>, key: string, value: Value, max: number): Value {
  values.delete(key);
  values.set(key, value);
  if (values.size > max) values.delete(values.keys().next().value!);
  return value;
}

/** Runs the queries of the audit synchronously, in the audit thread. */
export class AuditEngine {
  readonly index: AuditIndex;
  readonly #rows: ConversationRows;
  readonly #matches = new Map<string, Matches>();
  readonly #lists = new Map<string, StoredList<WindowList>>();
  readonly #walks = new Map<string, StoredList<Listing>>();
  #generation = 0;
  #facets: { state: string; facets: IndexFacets } | null = null;
  /** Runs several reads in one transaction. */
  readonly #inOneState: (read: () => void) => void;

  constructor(database: Database.Database, directory: string) {
    this.index = new AuditIndex(database, directory);
    this.#rows = createConversationRows(database);
    this.#inOneState = database.transaction((read: () => void) => read());
  }

  /** Indexes new runs and some of their words. Returns whether there are words left for `followTexts`. */
  follow(): boolean {
    this.index.follow();
    return this.followTexts();
  }

  /** Indexes words for some milliseconds. Returns whether there are more. */
  followTexts(): boolean {
    return this.index.followTexts(textSliceMs);
  }

  /** Erases a small part of the words of removed runs. Returns false when nothing is left. */
  erase(): boolean {
    return this.index.erase();
  }

  /** Pages of conversations with at least one matching run, with all their runs. */
  report(request: WalkRequest & { hasFeedback: boolean }): ReportPage {
    return this.#answer(request.filter, () => {
      const { page, next, matches, last } = this.#walk(request);
      const left = { characters: maxPageCharacters };
      const conversations = [];
      for (const newest of page) {
        const sequence = this.index.timeline.conversation[newest]!;
        const runs = this.#rows.runs({ sequence, last, hasFeedback: request.hasFeedback }, left);
        if (runs === null) return { conversations: [], long: this.#outlines(page, matches, last), next };
        const shown = runs.map((row) => ({ ...row.run, matched: matches.has(row.sequence) }));
        conversations.push({ ...this.#conversation(newest), runs: shown });
      }
      return { conversations, long: null, next };
    });
  }

  #outlines(page: readonly number[], matches: Matches, last: number): NonNullable<ReportPage['long']> {
    const outlines = page.map((newest) => {
      const sequence = this.index.timeline.conversation[newest]!;
      const matched = this.#rows.runSequences(sequence, last).filter((run) => matches.has(run));
      return { conversation: this.#conversation(newest), sequence, matched };
    });
    return { outlines, last };
  }

  /** The same conversations without their runs. */
  list(request: WalkRequest): { data: Conversation[]; next: WalkPosition | null } {
    return this.#answer(request.filter, () => {
      const { page, next } = this.#walk(request);
      return { data: page.map((newest) => this.#conversation(newest)), next };
    });
  }

  search(request: SearchRequest): SearchPage {
    return this.#answer(request.filter, () => {
      const last = request.last ?? this.index.timeline.lastRun;
      return this.#listOf(request, last).page(request);
    });
  }

  /** All matches of a filter up to a run, or now, in the order of the list. */
  select({ filter, last: given }: { filter: AuditFilter; last: number | null }): Selection {
    return this.#answer(filter, () => {
      const last = given ?? this.index.timeline.lastRun;
      const matches = this.#matchesOf(filter);
      return selectionOf(this.index.timeline, new Listing(this.index, matches, { last }), matches, last);
    });
  }

  /** Awaits `pause` between slices of the work. It may throw to stop the work. */
  summarize(
    { filter, bucketSize }: { filter: AuditFilter; bucketSize?: AuditSummary['bucketSize'] | undefined },
    pause: () => Promise<void>,
  ): Promise<AuditSummary> {
    return this.#inOneGeneration(filter, pause, (paused) =>
      summaryOf(this.index, this.#matchesOf(filter), bucketSize, paused),
    );
  }

  facets(): IndexFacets {
    this.index.follow();
    const state = this.#state;
    if (this.#facets?.state !== state) this.#facets = { state, facets: facetsOf(this.index) };
    return this.#facets.facets;
  }

  /** `pause` as for `summarize`. */
  countFacets({ filter }: { filter: AuditFilter }, pause: () => Promise<void>): Promise<AuditFacetCounts> {
    return this.#inOneGeneration(filter, pause, (paused) =>
      countFacets(this.index, filter, (narrowed) => this.#matchesOf(narrowed), paused),
    );
  }

  close(): void {
    this.index.close();
  }

  /**
   * Runs a query in one transaction, because a page needs a hundred statements and runs may be removed meanwhile. New runs are indexed
   * before it: that can take long, and the log can't be emptied during a transaction.
   */
  #answer<Answer>(filter: AuditFilter, read: () => Answer): Answer {
    this.#followFor(filter);
    let answer: Answer | undefined;
    this.#inOneState(() => {
      this.#followFor(filter);
      answer = read();
    });
    return answer!;
  }

  /**
   * Figures that are read in slices. If runs were removed or changed in a pause, what was read before it belongs to other positions, so all is read again. The last
   * time has no pauses.
   */
  async #inOneGeneration<Figures>(
    filter: AuditFilter,
    pause: () => Promise<void>,
    read: (pause: () => Promise<void>) => Promise<Figures>,
  ): Promise<Figures> {
    for (let left = maxRepeats; ; left -= 1) {
      this.#followFor(filter);
      const { generation } = this.index;
      const figures = await read(left > 0 ? pause : () => Promise.resolve());
      if (this.index.generation === generation) return figures;
    }
  }

  #followFor(filter: AuditFilter): void {
    this.index.follow();
    if ((filter.text ?? '') !== '') while (this.index.followTexts(textWriteMs));
    if (this.#generation === this.index.generation) return;
    this.#generation = this.index.generation;
    this.#matches.clear();
    this.#lists.clear();
    this.#walks.clear();
  }

  /** Differs after each change of the index. */
  get #state(): string {
    const { blocks, feedback, generation } = this.index;
    return `${generation} ${blocks.changes} ${feedback.version}`;
  }

  /**
   * The list of an equal query, or a new one. A query that starts gets no list from before a change: the same runs can have other feedback, or have ended. Later
   * pages get the list of the first one.
   */
  #listFrom<List>(
    lists: Map<string, StoredList<List>>,
    key: string,
    isStart: boolean,
    make: (known?: List) => List,
  ): List {
    const state = this.#state;
    const known = lists.get(key);
    const isUsable = known !== undefined && (!isStart || known.state === state);
    const list = make(isUsable ? known.list : undefined);
    return remember(lists, key, list === known?.list ? known : { list, state }, maxLists).list;
  }

  #matchesOf(filter: AuditFilter): Matches {
    const key = JSON.stringify(filter);
    return remember(this.#matches, key, this.#matches.get(key) ?? new Matches(filter, this.index), maxMatches);
  }

  #walk({ filter, pageSize, position }: WalkRequest) {
    const last = position?.last ?? this.index.timeline.lastRun;
    const listing = this.#listingOf(filter, last, position);
    const start = position === null ? 0 : this.#given(listing, position);
    listing.extend(start + pageSize + 1);
    const found = listing.slice(start, start + pageSize + 1);
    const page = found.slice(0, pageSize);
    const next = found.length > pageSize ? this.#positionOf(page.at(-1)!, last) : null;
    return { page, next, matches: listing.matches, last };
  }

  /** The list of a walk, with at least the conversations up to a position. A dropped list is created again from there on. */
  #listingOf(filter: AuditFilter, last: number, position: WalkPosition | null): Listing {
    const through = position?.time ?? Infinity;
    const bound = position === null ? {} : { through };
    const key = JSON.stringify([filter, last]);
    return this.#listFrom(this.#walks, key, position === null, (known) =>
      known && known.through >= through ? known : new Listing(this.index, this.#matchesOf(filter), { last, ...bound }),
    );
  }

  /** The number of conversations on earlier pages. */
  #given(listing: Listing, { time, id }: WalkPosition): number {
    const { createdAt } = this.index.timeline;
    listing.extendToTime(time);
    const isGiven = (newest: number) => createdAt[newest] === time && this.#idOf(newest) >= id;
    let given = listing.indexOfTime(time);
    for (let [next] = listing.slice(given, given + 1); next !== undefined && isGiven(next);) {
      given += 1;
      [next] = listing.slice(given, given + 1);
    }
    return given;
  }

  #idOf(newest: number): string {
    return this.index.source.conversationId(this.index.timeline.conversation[newest]!);
  }

  #positionOf(newest: number, last: number): WalkPosition {
    return { last, time: this.index.timeline.createdAt[newest]!, id: this.#idOf(newest) };
  }

  #conversation(newest: number): Conversation {
    const { timeline } = this.index;
    return this.#rows.conversation(timeline.conversation[newest]!, timeline.createdAt[newest]!);
  }

  #listOf({ filter, sort, last: given }: SearchRequest, last: number): WindowList {
    const key = JSON.stringify([filter, sort, last]);
    return this.#listFrom(
      this.#lists,
      key,
      given === null,
      (known) => known ?? new WindowList(this.index, this.#rows, this.#matchesOf(filter), { sort, last }),
    );
  }
}
