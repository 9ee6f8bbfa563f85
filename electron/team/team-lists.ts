import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { TeamDatabase } from './connection.ts';
import { matches } from './filter-conditions.ts';
import {
  collectEntries,
  collectTimes,
  type Fragment,
  isByTime,
  type ListQuery,
  readMonths,
  walkTimes,
  walkValues,
} from './list-statements.ts';

/** A conversation of a list. */
export interface Entry {
  readonly conversation: string;
  /** For lists by time its newest run, otherwise the run that determines the order. */
  readonly run: number;
  /** Of that run. */
  readonly createdAt: number;
}

/** Lists with at most this many entries are read completely and then paged in memory. */
const maxShortList = 20_000;

/**
 * How long a list is read in its order before its matches are collected and sorted instead: at least this long, and as long as collecting
 * those of a month would take, at about 100 matches a millisecond.
 */
const minWalkMs = 400;
const collectedPerMs = 100;

/** How long all entries of a list by time are collected, to know their number. A page doesn't need them. */
const maxCollectMs = 400;

/** For tests, which have few runs. */
export interface ListLimits {
  readonly maxShortList?: number;
  readonly maxCollectMs?: number;
}

type Connection = TeamDatabase | Transaction<Record<never, never>>;

interface EntryRow {
  readonly conversation_id: string;
  readonly sequence: number;
  readonly created_at: number;
  readonly matching?: number;
}

const entryOf = (row: EntryRow): Entry => ({
  conversation: row.conversation_id,
  run: row.sequence,
  createdAt: row.created_at,
});

/** A planner that trusts its estimates would sort millions of runs for one page, or read a table from its start. */
async function setPlanner(transaction: Connection, strategy: 'walk' | 'collect'): Promise<void> {
  await sql`SET LOCAL enable_seqscan = off`.execute(transaction);
  await sql`SET LOCAL jit = off`.execute(transaction);
  if (strategy === 'walk') {
    // Parts of the statement are read in their order.
    await sql`SET LOCAL max_parallel_workers_per_gather = 0`.execute(transaction);
    await sql`SET LOCAL enable_sort = off`.execute(transaction);
    await sql`SET LOCAL enable_bitmapscan = off`.execute(transaction);
  }
}

const isTimeout = (failure: unknown): boolean => (failure as { code?: string }).code === '57014';

/** One list of conversations. Its entries stay the same while runs arrive, unless runs are removed. */
export class TeamList {
  readonly query: ListQuery;
  readonly #database: TeamDatabase;
  readonly #maxShort: number;
  readonly #maxCollectMs: number;
  #entries: Entry[] | null = null;
  #estimate = 0;
  #isWalkable = true;
  /** Entries that were read, by their offset: where the next page starts. */
  readonly #anchors: { offset: number; entry: Entry }[] = [];

  private constructor(database: TeamDatabase, query: ListQuery, limits: ListLimits) {
    this.#database = database;
    this.#maxShort = limits.maxShortList ?? maxShortList;
    this.#maxCollectMs = limits.maxCollectMs ?? maxCollectMs;
    this.query = query;
  }

  static async open(database: TeamDatabase, query: ListQuery, limits: ListLimits = {}): Promise<TeamList> {
    const list = new TeamList(database, query, limits);
    await list.#prepare();
    return list;
  }

  /** The number of conversations; an estimate unless all entries are known. */
  get total(): { total: number; isTotalExact: boolean } {
    return { total: this.#entries?.length ?? this.#estimate, isTotalExact: this.#entries !== null };
  }

  async slice(offset: number, limit: number): Promise<Entry[]> {
    if (this.#entries !== null) return this.#entries.slice(offset, offset + limit);
    const anchor = isByTime(this.query.sort) ? this.#anchors.findLast((each) => each.offset <= offset) : undefined;
    const found = await this.#page(anchor?.entry ?? null, offset - (anchor?.offset ?? 0), limit);
    const end = offset + found.length;
    if (found.length > 0) this.#noteAnchor(end, found.at(-1)!);
    this.#estimate = found.length < limit ? Math.min(this.#estimate, end) : Math.max(this.#estimate, end + 1);
    return found;
  }

  /** The entries after a conversation, for lists by time. */
  after(entry: Pick<Entry, 'conversation' | 'createdAt'> | null, limit: number): Promise<Entry[]> {
    if (this.#entries === null) return this.#page(entry, 0, limit);
    const isAfter = (each: Entry) => entry === null || this.#compare(each, entry) > 0;
    const start = this.#entries.findIndex(isAfter);
    return Promise.resolve(start < 0 ? [] : this.#entries.slice(start, start + limit));
  }

  /** The number of entries before one that may not be in the list. */
  async countBefore(entry: Pick<Entry, 'conversation' | 'createdAt' | 'run'>): Promise<number> {
    if (this.#entries !== null) {
      const isEntry = (each: Entry) => each.conversation === entry.conversation;
      if (!isByTime(this.query.sort)) return Math.max(0, this.#entries.findIndex(isEntry));
      const index = this.#entries.findIndex((each) => this.#compare(each, entry) >= 0);
      return index < 0 ? this.#entries.length : index;
    }
    if (!isByTime(this.query.sort)) return 0;
    const operator = sql.raw(this.query.sort === 'newest' ? '>' : '<');
    const before = sql`(n.created_at, n.conversation_id) ${operator} (${entry.createdAt}::bigint, ${entry.conversation}::uuid)`;
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM (${collectEntries(this.query, before)}) AS entries`.execute(this.#database);
    return rows[0]!.count;
  }

  #compare(one: Pick<Entry, 'conversation' | 'createdAt'>, other: Pick<Entry, 'conversation' | 'createdAt'>): number {
    const sign = this.query.sort === 'oldest' ? 1 : -1;
    if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? -sign : sign;
    return one.conversation === other.conversation ? 0 : one.conversation < other.conversation ? -sign : sign;
  }

  #noteAnchor(offset: number, entry: Entry): void {
    const index = this.#anchors.findIndex((each) => each.offset >= offset);
    if (index < 0) this.#anchors.push({ offset, entry });
    else if (this.#anchors[index]!.offset > offset) this.#anchors.splice(index, 0, { offset, entry });
  }

  async #prepare(): Promise<void> {
    this.#estimate = await this.#estimateMatches();
    if (this.#estimate > 2 * this.#maxShort) return;
    const statement = sql`${collectEntries(this.query, sql`true`)} LIMIT ${this.#maxShort + 1}`;
    const found = await this.#runFor('collect', statement, isByTime(this.query.sort) ? this.#maxCollectMs : 0);
    if (found === null) this.#isWalkable = false;
    else if (found.length <= this.#maxShort) this.#entries = found;
  }

  async #estimateMatches(): Promise<number> {
    const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
      EXPLAIN (FORMAT JSON) SELECT 1 FROM touchstone.runs AS n WHERE ${matches(this.query.filter, 'n')}`.execute(
      this.#database,
    );
    return rows[0]!['QUERY PLAN'][0].Plan['Plan Rows'];
  }

  #afterEntry(entry: Pick<Entry, 'conversation' | 'createdAt'> | null): Fragment {
    if (entry === null) return sql`true`;
    const operator = sql.raw(this.query.sort === 'oldest' ? '>' : '<');
    return sql`(n.created_at, n.conversation_id) ${operator} (${entry.createdAt}::bigint, ${entry.conversation}::uuid)`;
  }

  async #page(
    entry: Pick<Entry, 'conversation' | 'createdAt'> | null,
    skipped: number,
    limit: number,
  ): Promise<Entry[]> {
    const after = this.#afterEntry(entry);
    const range = sql`LIMIT ${limit} OFFSET ${skipped}`;
    if (this.#isWalkable) {
      const months = isByTime(this.query.sort) ? await readMonths(this.#database) : [];
      // A distant page takes as long as all pages before it.
      const collectMs = this.#estimate / collectedPerMs / Math.max(1, months.length);
      const walk = isByTime(this.query.sort) ? walkTimes(this.query, after, months) : walkValues(this.query);
      const found = await this.#runFor('walk', sql`${walk} ${range}`, Math.max(minWalkMs, collectMs) + skipped / 100);
      if (found !== null) return found;
      this.#isWalkable = false;
    }
    if (!isByTime(this.query.sort) || skipped > maxShortList)
      return this.#run('collect', sql`${collectEntries(this.query, after)} ${range}`);
    return (await this.#collectFirst(entry, skipped + limit)).slice(skipped);
  }

  /** The first entries after one, for lists by time: span by span, until there are enough. */
  async #collectFirst(entry: Pick<Entry, 'conversation' | 'createdAt'> | null, limit: number): Promise<Entry[]> {
    const { sort } = this.query;
    const times = {
      from: entry === null || sort === 'newest' ? -Infinity : entry.createdAt,
      until: entry === null || sort === 'oldest' ? Infinity : entry.createdAt + 1,
    };
    const months = await readMonths(this.#database);
    const found: EntryRow[] = [];
    const known = { matching: 0, share: 0 };
    for (const { statement, share } of collectTimes(this.query, this.#afterEntry(entry), times, months)) {
      const rows = await this.#rows('collect', sql`${statement} LIMIT ${limit - found.length}`);
      found.push(...rows);
      known.matching += rows[0]?.matching ?? 0;
      known.share += share;
      if (found.length >= limit) break;
    }
    // Better than the server's guess, which is the same for all rare words.
    if (entry === null && known.share > 0) this.#estimate = Math.round(known.matching / known.share);
    return found.map(entryOf);
  }

  /** Null if the statement takes longer. 0 milliseconds are no limit, and less than 0 are none at all. */
  async #runFor(strategy: 'walk' | 'collect', statement: Fragment, timeoutMs: number): Promise<Entry[] | null> {
    if (timeoutMs < 0) return null;
    try {
      return await this.#run(strategy, statement, timeoutMs);
    } catch (failure) {
      if (!isTimeout(failure)) throw failure;
      return null;
    }
  }

  async #run(strategy: 'walk' | 'collect', statement: Fragment, timeoutMs = 0): Promise<Entry[]> {
    return (await this.#rows(strategy, statement, timeoutMs)).map(entryOf);
  }

  #rows(strategy: 'walk' | 'collect', statement: Fragment, timeoutMs = 0): Promise<EntryRow[]> {
    return this.#database.transaction().execute(async (transaction) => {
      await setPlanner(transaction, strategy);
      if (timeoutMs > 0) await sql.raw(`SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}`).execute(transaction);
      return (await (statement as RawBuilder<EntryRow>).execute(transaction)).rows;
    });
  }
}
