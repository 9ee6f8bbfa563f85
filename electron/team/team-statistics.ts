import { type RawBuilder, sql } from 'kysely';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { AuditFacetCounts, AuditFacets, AuditFilter, AuditSummary } from '../../shared/contract/audit.ts';
import type { OriginApi, RunStatus } from '../../shared/contract/conversations.ts';
import type { ModerationFlag } from '../../shared/contract/moderation.ts';
import type { TeamDatabase } from './connection.ts';
import { timeRangeOf, wholeDays } from './day-range.ts';
import { conditionsOf, matches } from './filter-conditions.ts';
import { conversationsTerm } from './run-counts.ts';
import { type CountingConnection, summarize } from './team-summary.ts';

type Fragment = RawBuilder<unknown>;
type Counted = { value: string; runs: number };
/** Values of one field, and names of headers. */
const maxValues = 200;
const maxHeaders = 50;

/** The number of the runs with each value of a field, the most frequent first. `without` are the filter's own conditions on it. */
const countedFields = {
  models: { field: 'served-model', without: ['models'] },
  aiSystems: { field: 'ai-system', without: ['aiSystems'] },
  callers: { field: 'caller', without: ['callerIds'] },
  statuses: { field: 'status', without: ['statuses'] },
  origins: { field: 'origin', without: ['origins'] },
  clients: { field: 'client', without: ['clients'] },
  finishReasons: { field: 'finish-reason', without: ['finishReasons'] },
  errorCodes: { field: 'error-code', without: ['errorCodes'] },
  moderationFlags: { field: 'moderation', without: ['moderationFlags'] },
  tags: { field: 'tag', without: [] },
} as const satisfies Record<keyof AuditFacetCounts, { field: string; without: readonly (keyof AuditFilter)[] }>;

const valueOf = (term: string): string => term.slice(term.indexOf('=') + 1);

function modelsOf(counted: readonly Counted[]): { aiSystem: AiSystem; model: string; runs: number }[] {
  return counted.map(({ value, runs }) => {
    const [aiSystem, model] = JSON.parse(value) as [AiSystem, string];
    return { aiSystem, model, runs };
  });
}

/** Counts and sums over all runs that match a filter. Those of all runs, or of days, are kept; others take longer with the number of matches. */
export class TeamStatistics {
  readonly #database: TeamDatabase;

  constructor(database: TeamDatabase) {
    this.#database = database;
  }

  /** Counting wants memory for its groups, and compiling takes longer than it saves. */
  #counting<Result>(count: (connection: CountingConnection) => Promise<Result>): Promise<Result> {
    return this.#database.transaction().execute(async (connection) => {
      await sql`SET LOCAL work_mem = '64MB'`.execute(connection);
      await sql`SET LOCAL jit = off`.execute(connection);
      // Reading all texts for one frequent word takes a minute when they aren't in memory.
      await sql`SET LOCAL enable_seqscan = off`.execute(connection);
      return count(connection);
    });
  }

  async summarize(filter: AuditFilter, bucketSize: AuditSummary['bucketSize'] | undefined): Promise<AuditSummary> {
    const maySeeCounts = await this.#maySeeCounts();
    return this.#counting((connection) => summarize(connection, { filter, bucketSize, maySeeCounts }));
  }

  /** Whether the counts of all runs may be read: an auditor of some workspaces must not. */
  async #maySeeCounts(): Promise<boolean> {
    const { rows } = await sql<{ may: boolean }>`
      SELECT has_table_privilege('touchstone.terms', 'SELECT') AND has_table_privilege('touchstone.day_terms', 'SELECT')
        AND has_table_privilege('touchstone.day_models', 'SELECT')
        AND has_table_privilege('touchstone.day_durations', 'SELECT') AS may`.execute(this.#database);
    return rows[0]!.may;
  }

  /** The counts of terms, from those that are kept if possible. */
  async #countsOf(filter: AuditFilter, isField: Fragment): Promise<Fragment> {
    const scanned = (conditions: Fragment) =>
      sql`SELECT term, count(*) AS runs FROM touchstone.runs AS n, unnest(n.terms) AS term
          WHERE ${conditions} AND ${isField} GROUP BY term`;
    const range = timeRangeOf(filter);
    if (range === null || !(await this.#maySeeCounts())) return scanned(matches(filter, 'n'));
    if (conditionsOf(filter, 'n').length === 0) return sql`SELECT term, runs FROM touchstone.terms WHERE ${isField}`;
    const { days, rest } = wholeDays(range);
    if (days === null) return scanned(matches(filter, 'n'));
    const parts = [
      sql`SELECT term, runs FROM touchstone.day_terms WHERE day BETWEEN ${days.first} AND ${days.last} AND ${isField}`,
      ...rest.map(scanned),
    ];
    return sql`SELECT term, sum(runs) AS runs FROM (${sql.join(parts, sql` UNION ALL `)}) AS parts GROUP BY term`;
  }

  /** The values of fields with their numbers of runs. */
  async #counts(filter: AuditFilter, fields: readonly string[], limit: number): Promise<Map<string, Counted[]>> {
    const counts = await this.#countsOf(filter, sql`split_part(term, '=', 1) = ANY(${[...fields]}::text[])`);
    const { rows } = await this.#counting((connection) =>
      sql<{ term: string; runs: number }>`
        SELECT term, runs FROM (
          SELECT *, row_number() OVER (PARTITION BY split_part(term, '=', 1) ORDER BY runs DESC, term) AS rank
          FROM (${counts}) AS counts
        ) AS ranked WHERE rank <= ${limit}::bigint ORDER BY runs DESC, term`.execute(connection),
    );
    const found = new Map<string, Counted[]>(fields.map((field) => [field, []]));
    for (const { term, runs } of rows)
      found.get(term.slice(0, term.indexOf('=')))!.push({ value: valueOf(term), runs });
    return found;
  }

  async countFacets(filter: AuditFilter): Promise<AuditFacetCounts> {
    // Fields without a condition of their own share one query.
    const groups = new Map<string, { filter: AuditFilter; fields: string[] }>();
    for (const { field, without } of Object.values(countedFields)) {
      const others = Object.fromEntries(
        Object.entries(filter).filter(([name]) => !(without as readonly string[]).includes(name)),
      ) as AuditFilter;
      const key = JSON.stringify(others);
      const group = groups.get(key) ?? { filter: others, fields: [] };
      group.fields.push(field);
      groups.set(key, group);
    }
    const found = await Promise.all(
      [...groups.values()].map((group) => this.#counts(group.filter, group.fields, maxValues)),
    );
    const values = new Map(found.flatMap((counts) => [...counts]));
    const of = (name: keyof AuditFacetCounts): Counted[] => values.get(countedFields[name].field)!;
    return {
      models: modelsOf(of('models')),
      aiSystems: of('aiSystems').map(({ value, runs }) => ({ aiSystem: value as AiSystem, runs })),
      callers: of('callers').map(({ value, runs }) => ({ callerId: value, runs })),
      statuses: of('statuses').map(({ value, runs }) => ({ status: value as RunStatus, runs })),
      origins: of('origins').map(({ value, runs }) => ({ api: value as OriginApi, runs })),
      clients: of('clients').map(({ value, runs }) => ({ client: value, runs })),
      finishReasons: of('finishReasons').map(({ value, runs }) => ({ finishReason: value, runs })),
      errorCodes: of('errorCodes').map(({ value, runs }) => ({ errorCode: value, runs })),
      moderationFlags: of('moderationFlags').map(({ value, runs }) => ({ flag: value as ModerationFlag, runs })),
      tags: of('tags').map(({ value, runs }) => ({ tag: value, runs })),
    };
  }

  async facets(windowCallerId: string): Promise<AuditFacets> {
    const headers = (await this.#counts({}, ['header'], maxHeaders)).get('header')!.map(({ value }) => value);
    const fields = Object.values(countedFields).map(({ field }) => field);
    const [counts, totals, names] = await Promise.all([
      this.#counts({}, [...fields, 'prompt', 'workspace', ...headers.map((name) => `header:${name}`)], maxValues),
      this.#overview(),
      this.#callerNames(),
    ]);
    const of = (field: string): Counted[] => counts.get(field)!;
    return {
      ...totals,
      windowCallerId,
      models: modelsOf(of('served-model')),
      callers: of('caller').map(({ value, runs }) => ({ callerId: value, name: names.get(value) ?? null, runs })),
      statuses: of('status').map(({ value, runs }) => ({ status: value as RunStatus, runs })),
      origins: of('origin').map(({ value, runs }) => ({ api: value as OriginApi, runs })),
      clients: of('client').map(({ value, runs }) => ({ client: value, runs })),
      finishReasons: of('finish-reason').map(({ value, runs }) => ({ finishReason: value, runs })),
      errorCodes: of('error-code').map(({ value, runs }) => ({ errorCode: value, runs })),
      moderationFlags: of('moderation').map(({ value, runs }) => ({ flag: value as ModerationFlag, runs })),
      tags: of('tag').map(({ value, runs }) => ({ tag: value, runs })),
      appHeaders: headers.map((name) => ({ name, values: of(`header:${name}`) })),
      promptIds: of('prompt').map(({ value, runs }) => ({ promptId: value, runs })),
      workspaceIds: of('workspace').map(({ value, runs }) => ({ workspaceId: value, runs })),
    };
  }

  async #overview(): Promise<Pick<AuditFacets, 'runs' | 'conversations' | 'firstRunAt' | 'lastRunAt'>> {
    const isCounted = await this.#maySeeCounts();
    const runs = isCounted
      ? sql`(SELECT coalesce(sum(runs), 0) FROM touchstone.terms WHERE split_part(term, '=', 1) = 'status')`
      : sql`(SELECT count(*) FROM touchstone.runs)`;
    const conversations = isCounted
      ? sql`coalesce((SELECT runs FROM touchstone.terms WHERE term = ${conversationsTerm}), 0)`
      : sql`(SELECT count(*) FROM touchstone.conversations)`;
    const { rows } = await sql<{ runs: number; conversations: number; first: number | null; last: number | null }>`
      SELECT ${runs} AS runs, ${conversations} AS conversations,
        (SELECT min(created_at) FROM touchstone.runs) AS first, (SELECT max(created_at) FROM touchstone.runs) AS last
    `.execute(this.#database);
    const found = rows[0]!;
    const isoTime = (time: number | null) => (time === null ? null : new Date(time).toISOString());
    return {
      runs: found.runs,
      conversations: found.conversations,
      firstRunAt: isoTime(found.first),
      lastRunAt: isoTime(found.last),
    };
  }

  async #callerNames(): Promise<Map<string, string>> {
    const { rows } = await sql<{ caller_id: string; name: string }>`
      SELECT caller_id, name FROM touchstone.callers`.execute(this.#database);
    return new Map(rows.map((row) => [row.caller_id, row.name]));
  }
}
