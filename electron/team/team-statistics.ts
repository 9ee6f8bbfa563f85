import { type RawBuilder, sql } from 'kysely';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { AuditFacetCounts, AuditFacets, AuditFilter, AuditSummary } from '../../shared/contract/audit.ts';
import type { OriginApi, RunStatus } from '../../shared/contract/conversations.ts';
import type { ModerationFlag } from '../../shared/contract/moderation.ts';
import { classCount, classOffset, classRatio, Histogram, timeBuckets } from '../audit/query/histogram.ts';
import type { TeamDatabase } from './connection.ts';
import { conditionsOf, matches } from './filter-conditions.ts';

type Fragment = RawBuilder<unknown>;
type BucketSize = AuditSummary['bucketSize'];
type Counted = { value: string; runs: number };

/** Values of one field, and names of headers. */
const maxValues = 200;
const maxHeaders = 50;
const maxModels = 20;

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

interface Totals {
  readonly runs: number;
  readonly conversations: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly cost: number;
  readonly without_cost: number;
  readonly first: number | null;
  readonly last: number | null;
}

interface BucketRow {
  readonly bucket: number;
  readonly runs: number;
  readonly failed: number;
  readonly total_tokens: number;
  readonly cost: number;
  readonly without_cost: number;
  readonly feedback: number;
  readonly scored: number;
  readonly score: number;
}

/** The class of a duration in a histogram. Other values than these have no class: the column is null. */
function classOf(column: Fragment): Fragment {
  return sql`CASE WHEN ${column} <= 0.01 THEN 0
    ELSE least(${classCount - 1}, floor((ln(${column}) - ${classOffset}::float8) / ${classRatio}::float8)) END`;
}

const averageOf = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);

/** Counts and sums over all runs that match a filter. They take longer with the number of matches. */
export class TeamStatistics {
  readonly #database: TeamDatabase;

  constructor(database: TeamDatabase) {
    this.#database = database;
  }

  async summarize(filter: AuditFilter, requestedSize: BucketSize | undefined): Promise<AuditSummary> {
    const matching = sql`FROM touchstone.runs AS n WHERE ${matches(filter, 'n')}`;
    const totals = await this.#totals(matching);
    const { bucketSize, starts } =
      totals.first === null || totals.last === null
        ? { bucketSize: requestedSize ?? ('day' as const), starts: [] as number[] }
        : timeBuckets(totals.first, totals.last, requestedSize);
    const bucket = starts.length === 0 ? sql`0` : sql`width_bucket(n.created_at, ${starts}::bigint[])`;
    const [rows, latencies, firstTokens, statuses, models, scores] = await Promise.all([
      this.#buckets(matching, bucket),
      this.#histograms(matching, bucket, sql`n.total_ms`),
      this.#histograms(matching, sql`0`, sql`n.first_token_ms`),
      this.#values(filter, ['status'], null),
      this.#models(matching),
      this.#scores(matching),
    ]);
    const all = { ...totals, feedback: 0, scored: 0, score: 0 };
    for (const row of rows) {
      all.feedback += row.feedback;
      all.scored += row.scored;
      all.score += row.score;
    }
    return {
      runs: totals.runs,
      conversations: totals.conversations,
      promptTokens: totals.prompt_tokens,
      completionTokens: totals.completion_tokens,
      totalTokens: totals.total_tokens,
      cost: totals.cost,
      runsWithoutCost: totals.without_cost,
      latency: latencies.all.percentiles(),
      firstToken: firstTokens.all.percentiles(),
      statuses: statuses.map(({ value, runs }) => ({ status: value as RunStatus, runs })),
      models,
      feedback: { count: all.feedback, averageScore: averageOf(all.score, all.scored), scores },
      bucketSize,
      buckets: starts.map((start, index) => {
        const row = rows.find((each) => each.bucket === index + 1);
        const latency = latencies.byBucket.get(index + 1);
        return {
          start: new Date(start).toISOString(),
          runs: row?.runs ?? 0,
          failed: row?.failed ?? 0,
          totalTokens: row?.total_tokens ?? 0,
          cost: row?.cost ?? 0,
          runsWithoutCost: row?.without_cost ?? 0,
          p50: latency?.at(0.5) ?? null,
          p95: latency?.at(0.95) ?? null,
          feedback: { count: row?.feedback ?? 0, averageScore: averageOf(row?.score ?? 0, row?.scored ?? 0) },
        };
      }),
    };
  }

  async #totals(matching: Fragment): Promise<Totals> {
    const { rows } = await sql<Totals>`
      SELECT count(*) AS runs, count(DISTINCT conversation_id) AS conversations,
        coalesce(sum(prompt_tokens), 0) AS prompt_tokens, coalesce(sum(completion_tokens), 0) AS completion_tokens,
        coalesce(sum(total_tokens), 0) AS total_tokens, coalesce(sum(cost), 0) AS cost,
        count(*) FILTER (WHERE cost IS NULL) AS without_cost, min(created_at) AS first, max(created_at) AS last
      ${matching}`.execute(this.#database);
    return rows[0]!;
  }

  async #buckets(matching: Fragment, bucket: Fragment): Promise<BucketRow[]> {
    const { rows } = await sql<BucketRow>`
      SELECT ${bucket} AS bucket, count(*) AS runs, count(*) FILTER (WHERE terms @> '{status=Failed}') AS failed,
        coalesce(sum(total_tokens), 0) AS total_tokens, coalesce(sum(cost), 0) AS cost,
        count(*) FILTER (WHERE cost IS NULL) AS without_cost,
        count(*) FILTER (WHERE terms @> '{feedback=any}') AS feedback, count(score) AS scored,
        coalesce(sum(score), 0) AS score
      ${matching} GROUP BY 1`.execute(this.#database);
    return rows;
  }

  async #histograms(matching: Fragment, bucket: Fragment, column: Fragment) {
    const { rows } = await sql<{ bucket: number; class: number; count: number; max: number }>`
      SELECT ${bucket} AS bucket, ${classOf(column)}::integer AS class, count(*) AS count, max(${column}) AS max
      ${matching} AND ${column} IS NOT NULL GROUP BY 1, 2`.execute(this.#database);
    const all = new Histogram();
    const byBucket = new Map<number, Histogram>();
    for (const row of rows) {
      all.addClass(row.class, row.count, row.max);
      const histogram = byBucket.get(row.bucket) ?? new Histogram();
      histogram.addClass(row.class, row.count, row.max);
      byBucket.set(row.bucket, histogram);
    }
    return { all, byBucket };
  }

  async #models(matching: Fragment): Promise<AuditSummary['models']> {
    const { rows } = await sql<{ term: string; runs: number; tokens: number; cost: number }>`
      SELECT term, count(*) AS runs, coalesce(sum(total_tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost
      FROM (
        SELECT (SELECT term FROM unnest(n.terms) AS term WHERE term LIKE 'served-model=%') AS term, total_tokens, cost
        ${matching}
      ) AS runs
      WHERE term IS NOT NULL GROUP BY term ORDER BY runs DESC LIMIT ${maxModels}`.execute(this.#database);
    return rows.map(({ term, runs, tokens, cost }) => {
      const [aiSystem, model] = JSON.parse(valueOf(term)) as [AiSystem, string];
      return { aiSystem, model, runs, totalTokens: tokens, cost };
    });
  }

  async #scores(matching: Fragment): Promise<{ score: number; runs: number }[]> {
    const { rows } = await sql<{ score: number; runs: number }>`
      SELECT score, count(*) AS runs ${matching} AND score IS NOT NULL GROUP BY score ORDER BY score`.execute(
      this.#database,
    );
    return rows;
  }

  /** Whether the counts of all runs may be read: an auditor of some workspaces must not. */
  async #maySeeCounts(): Promise<boolean> {
    const { rows } = await sql<{ may: boolean }>`
      SELECT has_table_privilege('touchstone.terms', 'SELECT') AS may`.execute(this.#database);
    return rows[0]!.may;
  }

  /** The values of fields with their numbers of runs. */
  async #counts(filter: AuditFilter, fields: readonly string[], limit: number | null): Promise<Map<string, Counted[]>> {
    const isField = sql`split_part(term, '=', 1) = ANY(${[...fields]}::text[])`;
    const isEverything = conditionsOf(filter, 'n').length === 0 && (await this.#maySeeCounts());
    const counts = isEverything
      ? sql`SELECT term, runs FROM touchstone.terms WHERE ${isField}`
      : sql`SELECT term, count(*) AS runs FROM touchstone.runs AS n, unnest(n.terms) AS term
          WHERE ${matches(filter, 'n')} AND ${isField} GROUP BY term`;
    const { rows } = await sql<{ term: string; runs: number }>`
      SELECT term, runs FROM (
        SELECT *, row_number() OVER (PARTITION BY split_part(term, '=', 1) ORDER BY runs DESC, term) AS rank
        FROM (${counts}) AS counts
      ) AS ranked WHERE rank <= ${limit ?? 2_147_483_647}::bigint ORDER BY runs DESC, term`.execute(this.#database);
    const found = new Map<string, Counted[]>(fields.map((field) => [field, []]));
    for (const { term, runs } of rows)
      found.get(term.slice(0, term.indexOf('=')))!.push({ value: valueOf(term), runs });
    return found;
  }

  async #values(filter: AuditFilter, fields: readonly [string], limit: number | null): Promise<Counted[]> {
    return (await this.#counts(filter, fields, limit)).get(fields[0])!;
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
    const headers = (await this.#values({}, ['header'], maxHeaders)).map(({ value }) => value);
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
    const { rows } = await sql<{ runs: number; conversations: number; first: number | null; last: number | null }>`
      SELECT ${runs} AS runs, (SELECT count(*) FROM touchstone.conversations) AS conversations,
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
