import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { TeamDatabase } from './connection.ts';
import { matches } from './filter-conditions.ts';
import {
  collectEntries,
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
export const maxShortList = 20_000;

/**
 * How long a list is read in its order before its matches are collected and sorted instead: at least this long, and as long as collecting
 * would take, at about 100 matches a millisecond.
 */
const minWalkMs = 400;
const collectedPerMs = 100;

type Connection = TeamDatabase | Transaction<Record<never, never>>;

interface EntryRow {
  readonly conversation_id: string;
  readonly sequence: number;
  readonly created_at: number;
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
  #entries: Entry[] | null = null;
  #estimate = 0;
  #isWalkable = true;
  /** Entries that were read, by their offset: where the next page starts. */
  readonly #anchors: { offset: number; entry: Entry }[] = [];

  private constructor(database: TeamDatabase, query: ListQuery, maxShort: number) {
    this.#database = database;
    this.#maxShort = maxShort;
    this.query = query;
  }

  static async open(database: TeamDatabase, query: ListQuery, maxShort = maxShortList): Promise<TeamList> {
    const list = new TeamList(database, query, maxShort);
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
    const found = await this.#run('collect', sql`${collectEntries(this.query, sql`true`)} LIMIT ${this.#maxShort + 1}`);
    if (found.length <= this.#maxShort) this.#entries = found;
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
      try {
        // A distant page takes as long as all pages before it.
        const timeoutMs = Math.max(minWalkMs, this.#estimate / collectedPerMs) + skipped / 100;
        return await this.#run('walk', sql`${await this.#walk(after)} ${range}`, timeoutMs);
      } catch (failure) {
        if (!isTimeout(failure)) throw failure;
        this.#isWalkable = false;
      }
    }
    return this.#run('collect', sql`${collectEntries(this.query, after)} ${range}`);
  }

  async #walk(after: Fragment): Promise<Fragment> {
    if (!isByTime(this.query.sort)) return walkValues(this.query);
    return walkTimes(this.query, after, await readMonths(this.#database));
  }

  #run(strategy: 'walk' | 'collect', statement: Fragment, timeoutMs = 0): Promise<Entry[]> {
    return this.#database.transaction().execute(async (transaction) => {
      await setPlanner(transaction, strategy);
      if (timeoutMs > 0) await sql.raw(`SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}`).execute(transaction);
      const { rows } = await (statement as RawBuilder<EntryRow>).execute(transaction);
      return rows.map(entryOf);
    });
  }
}
