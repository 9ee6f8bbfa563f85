import { type RawBuilder, sql } from 'kysely';
import type { AuditFilter, AuditSort } from '../../shared/contract/audit.ts';
import { firstMillisecond } from '../audit/query/conditions.ts';
import type { TeamDatabase } from './connection.ts';
import { matches } from './filter-conditions.ts';

export interface ListQuery {
  readonly filter: AuditFilter;
  readonly sort: AuditSort;
  /** The newest run when the list was created. */
  readonly last: number;
}

export type Fragment = RawBuilder<unknown>;

export const isByTime = (sort: AuditSort): sort is 'newest' | 'oldest' => sort === 'newest' || sort === 'oldest';

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
export interface Span {
  readonly from: number;
  readonly until: number;
}

export const allTimes: Span = { from: -Infinity, until: Infinity };

/** The first moment of each month that has a partition. */
export async function readMonths(database: TeamDatabase): Promise<Span[]> {
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

/** The parts of spans that are within a range. */
function clip(spans: readonly Span[], range: Span): Span[] {
  return spans
    .map(({ from, until }) => ({ from: Math.max(from, range.from), until: Math.min(until, range.until) }))
    .filter(({ from, until }) => from < until);
}

/** The range of a filter's dates. */
function rangeOf({ startDate, endDate }: AuditFilter): Span {
  return {
    from: startDate == null ? -Infinity : firstMillisecond(startDate),
    until: endDate == null ? Infinity : Date.parse(endDate) + 1,
  };
}

/**
 * The entries whose newest run is within a span, with an earlier matching run that may be outside. They are found by the times of their
 * conversations: few have runs on both sides of its start or end, but they could be anywhere among all runs of the span.
 */
function walkAcross({ filter, sort, last }: ListQuery, after: Fragment, span: Span): Fragment {
  const moments = [span.from, span.until].filter(Number.isFinite);
  const isAcross = moments.map((moment) => sql`int8range(earliest_at, latest_at, '[]') @> ${moment}::bigint`);
  // By the times of a conversation, the server looks for its runs only in the months in which it has some.
  const isOfConversation = (run: string): Fragment =>
    sql.raw(`${run}.conversation_id = c.id AND ${run}.created_at BETWEEN c.earliest_at AND c.latest_at`);
  return sql`(
    SELECT conversation_id, sequence, created_at
    FROM (SELECT id, earliest_at, latest_at FROM touchstone.conversations
        WHERE earliest_at < latest_at AND (${isAcross.length === 0 ? sql`false` : sql.join(isAcross, sql` OR `)}) OFFSET 0) AS c,
      LATERAL (SELECT conversation_id, sequence, created_at FROM touchstone.runs AS n
        WHERE ${isOfConversation('n')} AND ${isWithin(span)} AND ${wasNewest(sql`n`, last)} AND ${after} OFFSET 0) AS n
    WHERE EXISTS (
      SELECT 1 FROM (SELECT * FROM touchstone.runs AS m WHERE ${isOfConversation('m')} AND m.sequence < n.sequence OFFSET 0) AS m
      WHERE ${matches(filter, 'm')} OFFSET 0)
    ORDER BY ${orderOf(sort)})`;
}

const hasEarlierMatch = (filter: AuditFilter): Fragment => sql`n.previous_sequence IS NOT NULL AND EXISTS (
  SELECT 1 FROM touchstone.runs AS m
  WHERE m.conversation_id = n.conversation_id AND m.sequence < n.sequence AND ${matches(filter, 'm')})`;

/** The entries of a list by time, newest or oldest first, by an index on the time. */
export function walkTimes(query: ListQuery, after: Fragment, months: readonly Span[]): Fragment {
  const { filter, sort, last } = query;
  const range = rangeOf(filter);
  const walkSpan = (span: Span) => sql`(
    SELECT conversation_id, sequence, created_at FROM touchstone.runs AS n
    WHERE ${isWithin(span)} AND ${wasNewest(sql`n`, last)} AND ${after} AND (${matches(filter, 'n')} OR (${hasEarlierMatch(filter)}))
    ORDER BY ${orderOf(sort)})`;
  const parts = [
    ...(range.from === -Infinity ? [] : [walkAcross(query, after, { from: -Infinity, until: range.from })]),
    ...clip(spansOf(months), range).map(walkSpan),
    ...(range.until === Infinity ? [] : [walkAcross(query, after, { from: range.until, until: Infinity })]),
  ];
  return sql.join(sort === 'oldest' ? parts : parts.toReversed(), sql` UNION ALL `);
}

/** The entries of a list by value in its order, by an index on that order. Fast if many runs match. */
export function walkValues({ filter, sort, last }: ListQuery): Fragment {
  return sql`
    SELECT conversation_id, sequence, created_at FROM touchstone.runs AS n
    WHERE n.sequence <= ${last} AND ${matches(filter, 'n')} AND (
      (n.previous_sequence IS NULL AND n.next_sequence IS NULL) OR NOT EXISTS (
        SELECT 1 FROM touchstone.runs AS other
        WHERE other.conversation_id = n.conversation_id AND other.sequence <= ${last} AND ${sortsBefore(sort as ValueSort)}
          AND ${matches(filter, 'other')}))
    ORDER BY ${orderOf(sort)}`;
}

/**
 * The same entries from the matching runs, which are collected and sorted. Fast if few runs match. By the times of a conversation the
 * server looks for its newest run only in the months in which it has runs: that of 27,000 conversations took 1.1 s in 26 partitions.
 */
export function collectEntries(query: ListQuery, after: Fragment): Fragment {
  const { sort, last } = query;
  if (!isByTime(sort)) {
    return sql`
      WITH ${matchingWithin(query, allTimes)} SELECT conversation_id, sequence, created_at FROM (
        SELECT DISTINCT ON (conversation_id) * FROM matching ORDER BY conversation_id, ${orderOf(sort)}
      ) AS n ORDER BY ${orderOf(sort)}`;
  }
  return sql`
    WITH ${matchingWithin(query, allTimes)}, entries AS (
      SELECT conversation_id, sequence, created_at FROM matching AS n WHERE ${wasNewest(sql`n`, last)}
      UNION
      SELECT n.conversation_id, n.sequence, n.created_at FROM (${continuedConversations(last)}) AS continued
        JOIN touchstone.conversations AS c ON c.id = continued.conversation_id
        JOIN touchstone.runs AS n ON n.conversation_id = c.id AND n.created_at BETWEEN c.earliest_at AND c.latest_at
      WHERE ${wasNewest(sql`n`, last)}
    )
    SELECT * FROM entries AS n WHERE ${after} ORDER BY ${orderOf(sort)}`;
}

const matchingWithin = ({ filter, last }: ListQuery, span: Span): Fragment => sql`
  matching AS MATERIALIZED (
    SELECT conversation_id, sequence, created_at, next_sequence, total_ms, cost, score
    FROM touchstone.runs AS n WHERE ${isWithin(span)} AND ${matches(filter, 'n')} AND n.sequence <= ${last}
  )`;

/** Those with a matching run that wasn't their newest one. */
const continuedConversations = (last: number): Fragment =>
  sql`SELECT DISTINCT conversation_id FROM matching WHERE next_sequence <= ${last}`;

/** The entries whose newest run is within a span. */
function collectSpan(query: ListQuery, after: Fragment, span: Span): Fragment {
  const { sort, last } = query;
  return sql`
    WITH ${matchingWithin(query, span)}, entries AS (
      SELECT conversation_id, sequence, created_at FROM matching AS n WHERE ${wasNewest(sql`n`, last)}
      UNION
      SELECT n.conversation_id, n.sequence, n.created_at FROM (${continuedConversations(last)}) AS continued
        JOIN touchstone.runs AS n ON n.conversation_id = continued.conversation_id
      WHERE ${isWithin(span)} AND ${wasNewest(sql`n`, last)}
      UNION
      ${walkAcross(query, after, span)}
    )
    SELECT *, (SELECT count(*) FROM matching) AS matching FROM entries AS n WHERE ${after} ORDER BY ${orderOf(sort)}`;
}

/** A statement for the entries whose newest run is within a span. Each row has the number of runs of the span that match. */
interface SpanStatement {
  readonly statement: Fragment;
  /** The span's part of the filter's months, from 0 to 1. */
  readonly share: number;
}

/**
 * Statements for the entries of a list by time, each for a span, in the order of the list: of two months, eight, and so on. A page is mostly
 * complete after the first one.
 */
export function* collectTimes(
  query: ListQuery,
  after: Fragment,
  times: Span,
  months: readonly Span[],
): Generator<SpanStatement, void, void> {
  const isOldest = query.sort === 'oldest';
  const range = rangeOf(query.filter);
  const moments = [...new Set(months.flatMap(({ from, until }) => [from, until]))];
  const spans = [-Infinity, ...moments].map((from, index) => ({ from, until: moments[index] ?? Infinity }));
  const within = clip(clip(spans, range), times);
  const ordered = isOldest ? within : within.toReversed();
  const beyond = [
    { from: -Infinity, until: range.from },
    { from: range.until, until: Infinity },
  ].map((span) => clip([span], times).map((each) => ({ statement: collectSpan(query, after, each), share: 0 })));
  if (!isOldest) beyond.reverse();
  yield* beyond[0]!;
  for (let start = 0, many = 2; start < ordered.length; start += many, many *= 4) {
    const part = ordered.slice(start, start + many);
    const span = {
      from: Math.min(...part.map(({ from }) => from)),
      until: Math.max(...part.map(({ until }) => until)),
    };
    yield { statement: collectSpan(query, after, span), share: part.length / ordered.length };
  }
  yield* beyond[1]!;
}
