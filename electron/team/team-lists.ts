import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { AuditFilter, AuditSort } from '../../shared/contract/audit.ts';
import type { TeamDatabase } from './connection.ts';
import { matches } from './filter-conditions.ts';

/** A conversation of a list. */
export interface Entry {
  readonly conversation: string;
  /** For lists by time its newest run, otherwise the run that determines the order. */
  readonly run: number;
  /** Of that run. */
  readonly createdAt: number;
}

export interface ListQuery {
  readonly filter: AuditFilter;
  readonly sort: AuditSort;
  /** The newest run when the list was created. */
  readonly last: number;
}

/** Lists with at most this many entries are read completely and then paged in memory. */
export const maxShortList = 20_000;

/**
 * How long a list is read in its order before its matches are collected and sorted instead: at least this long, and as long as collecting
 * would take, at about 100 matches a millisecond.
 */
const minWalkMs = 400;
const collectedPerMs = 100;

type Fragment = RawBuilder<unknown>;
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

const isByTime = (sort: AuditSort): sort is 'newest' | 'oldest' => sort === 'newest' || sort === 'oldest';

/** The condition that a run was the newest one of its conversation when the list was created. */
const wasNewest = (alias: Fragment, last: number): Fragment =>
  sql`${alias}.sequence <= ${last} AND (${alias}.next_sequence IS NULL OR ${alias}.next_sequence > ${last})`;

const timeOrder = (sort: AuditSort): Fragment =>
  sort === 'oldest' ? sql`created_at, conversation_id` : sql`created_at DESC, conversation_id DESC`;

type ValueSort = Exclude<AuditSort, 'newest' | 'oldest'>;

const valueOrders: Readonly<Record<ValueSort, string>> = {
  slowest: 'total_ms DESC NULLS LAST, sequence DESC',
  dearest: 'cost DESC NULLS LAST, sequence DESC',
  'lowest-score': 'score, sequence DESC',
};

const orderOf = (sort: AuditSort): Fragment => (isByTime(sort) ? timeOrder(sort) : sql.raw(valueOrders[sort]));

/** The condition that a run sorts before `n` in a list by value. */
function sortsBefore(sort: ValueSort): Fragment {
  const column = sql.raw({ slowest: 'total_ms', dearest: 'cost', 'lowest-score': 'score' }[sort]);
  const isBetter = sort === 'lowest-score' ? sql`other.${column} < n.${column}` : sql`other.${column} > n.${column}`;
  return sql`(${isBetter} OR (other.${column} IS NOT NULL AND n.${column} IS NULL)
    OR (other.${column} IS NOT DISTINCT FROM n.${column} AND other.sequence > n.sequence))`;
}

/** Milliseconds since 1970; `until` isn't included. */
interface Span {
  readonly from: number;
  readonly until: number;
}

/** The first moment of each month that has a partition. */
async function readMonths(database: TeamDatabase): Promise<Span[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'touchstone.runs'::regclass AND relname ~ '^runs_[0-9]{4}_[0-9]{2}$' ORDER BY relname`.execute(
    database,
  );
  return rows.map(({ name }) => {
    const [, year, month] = name.split('_').map(Number);
    return { from: Date.UTC(year!, month! - 1), until: Date.UTC(year!, month!) };
  });
}

/**
 * Spans of all times, in order. The server reads the partitions of one span one after the other, because none of it is in the partition
 * for other times. Otherwise it would look for a first match in every partition.
 */
function spansOf(months: readonly Span[]): Span[] {
  const spans: { from: number; until: number }[] = [];
  let until = -Infinity;
  for (const month of months) {
    const last = spans.at(-1);
    if (last?.until === month.from && last.from !== -Infinity) last.until = month.until;
    else {
      if (until < month.from) spans.push({ from: until, until: month.from });
      spans.push({ ...month });
    }
    ({ until } = month);
  }
  return [...spans, { from: until, until: Infinity }];
}

function isWithin({ from, until }: Span): Fragment {
  const bounds = [
    ...(from === -Infinity ? [] : [sql`n.created_at >= ${from}::bigint`]),
    ...(until === Infinity ? [] : [sql`n.created_at < ${until}::bigint`]),
  ];
  return bounds.length === 0 ? sql`true` : sql.join(bounds, sql` AND `);
}

/** The entries of a list by time, newest or oldest first, by an index on the time. */
function walkTimes({ filter, sort, last }: ListQuery, after: Fragment, months: readonly Span[]): Fragment {
  const spans = spansOf(months);
  const parts = (sort === 'oldest' ? spans : spans.toReversed()).map(
    (span) => sql`(
      SELECT conversation_id, sequence, created_at FROM touchstone.runs AS n
      WHERE ${isWithin(span)} AND ${wasNewest(sql`n`, last)} AND ${after} AND (${matches(filter, 'n')} OR (n.previous_sequence IS NOT NULL AND EXISTS (
        SELECT 1 FROM touchstone.runs AS m
        WHERE m.conversation_id = n.conversation_id AND m.sequence < n.sequence AND ${matches(filter, 'm')})))
      ORDER BY ${orderOf(sort)})`,
  );
  return sql.join(parts, sql` UNION ALL `);
}

/** The entries of a list by value in its order, by an index on that order. Fast if many runs match. */
function walkValues({ filter, sort, last }: ListQuery): Fragment {
  return sql`
    SELECT conversation_id, sequence, created_at FROM touchstone.runs AS n
    WHERE n.sequence <= ${last} AND ${matches(filter, 'n')} AND (
      (n.previous_sequence IS NULL AND n.next_sequence IS NULL) OR NOT EXISTS (
        SELECT 1 FROM touchstone.runs AS other
        WHERE other.conversation_id = n.conversation_id AND other.sequence <= ${last} AND ${sortsBefore(sort as ValueSort)}
          AND ${matches(filter, 'other')}))
    ORDER BY ${orderOf(sort)}`;
}

/** The same entries from the matching runs, which are collected and sorted. Fast if few runs match. */
function collectEntries({ filter, sort, last }: ListQuery, after: Fragment): Fragment {
  const matching = sql`
    matching AS MATERIALIZED (
      SELECT conversation_id, sequence, created_at, next_sequence, total_ms, cost, score
      FROM touchstone.runs AS n WHERE ${matches(filter, 'n')} AND n.sequence <= ${last}
    )`;
  if (!isByTime(sort)) {
    return sql`
      WITH ${matching} SELECT conversation_id, sequence, created_at FROM (
        SELECT DISTINCT ON (conversation_id) * FROM matching ORDER BY conversation_id, ${orderOf(sort)}
      ) AS n ORDER BY ${orderOf(sort)}`;
  }
  return sql`
    WITH ${matching}, entries AS (
      SELECT conversation_id, sequence, created_at FROM matching AS n WHERE ${wasNewest(sql`n`, last)}
      UNION
      SELECT n.conversation_id, n.sequence, n.created_at
      FROM (SELECT DISTINCT conversation_id FROM matching WHERE next_sequence <= ${last}) AS continued
        JOIN touchstone.runs AS n ON n.conversation_id = continued.conversation_id
      WHERE ${wasNewest(sql`n`, last)}
    )
    SELECT * FROM entries AS n WHERE ${after} ORDER BY ${orderOf(sort)}`;
}

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
