import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { AuditBucket, AuditFilter, AuditSummary } from '../../shared/contract/audit.ts';
import type { RunStatus } from '../../shared/contract/conversations.ts';
import { Histogram, timeBuckets } from '../audit/query/histogram.ts';
import { timeRangeOf, wholeDays } from './day-range.ts';
import { matches } from './filter-conditions.ts';
import { conversationsTerm, dayMs, durationClass } from './run-counts.ts';

type Fragment = RawBuilder<unknown>;
/** A transaction whose statements are planned for counting. */
export type CountingConnection = Transaction<Record<never, never>>;
type BucketSize = AuditSummary['bucketSize'];

const maxModels = 20;

interface Sums {
  runs: number;
  failed: number;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cost: number;
  without_cost: number;
  feedback: number;
  scored: number;
  score: number;
}

const sumNames = [
  'runs',
  'failed',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cost',
  'without_cost',
  'feedback',
  'scored',
  'score',
] as const satisfies (keyof Sums)[];

const noSums = (): Sums => Object.fromEntries(sumNames.map((name) => [name, 0])) as unknown as Sums;

function addTo(sums: Sums, row: Sums): void {
  for (const name of sumNames) sums[name] += row[name];
}

/** A group of runs: by bucket and model with sums, or by class of a duration, status or score. `bucket` counts from 1; 0 is before the first. */
interface Group extends Sums {
  readonly kind: 'model' | 'total_ms' | 'first_token_ms' | 'status' | 'score';
  readonly bucket: number;
  readonly value: string;
  readonly longest: number | null;
}

const averageOf = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);

/** Adds up groups of runs. A group may come in several parts. */
class Figures {
  readonly #all = noSums();
  readonly #buckets: { sums: Sums; latency: Histogram }[];
  readonly #models = new Map<string, Sums>();
  readonly #statuses = new Map<string, number>();
  readonly #scores = new Map<number, number>();
  readonly #latency = new Histogram();
  readonly #firstToken = new Histogram();
  readonly #starts: readonly number[];

  constructor(starts: readonly number[]) {
    this.#starts = starts;
    this.#buckets = starts.map(() => ({ sums: noSums(), latency: new Histogram() }));
  }

  add(group: Group): void {
    const { kind, value, runs, longest } = group;
    const bucket = this.#buckets[group.bucket - 1];
    if (kind === 'model') {
      addTo(this.#all, group);
      if (bucket) addTo(bucket.sums, group);
      const model = this.#models.get(value) ?? noSums();
      addTo(model, group);
      this.#models.set(value, model);
    } else if (kind === 'status') this.#statuses.set(value, (this.#statuses.get(value) ?? 0) + runs);
    else if (kind === 'score') this.#scores.set(Number(value), (this.#scores.get(Number(value)) ?? 0) + runs);
    else if (kind === 'first_token_ms') this.#firstToken.addClass(Number(value), runs, longest!);
    else {
      this.#latency.addClass(Number(value), runs, longest!);
      bucket?.latency.addClass(Number(value), runs, longest!);
    }
  }

  /** `conversations` are counted elsewhere: those of two groups can be the same. */
  summary(conversations: number, bucketSize: BucketSize): AuditSummary {
    const all = this.#all;
    return {
      runs: all.runs,
      conversations,
      promptTokens: all.prompt_tokens,
      completionTokens: all.completion_tokens,
      totalTokens: all.total_tokens,
      cost: all.cost,
      runsWithoutCost: all.without_cost,
      latency: this.#latency.percentiles(),
      firstToken: this.#firstToken.percentiles(),
      statuses: [...this.#statuses].map(([status, runs]) => ({ status: status as RunStatus, runs })),
      models: this.#modelFigures(),
      feedback: {
        count: all.feedback,
        averageScore: averageOf(all.score, all.scored),
        scores: [...this.#scores].toSorted(([one], [other]) => one - other).map(([score, runs]) => ({ score, runs })),
      },
      bucketSize,
      buckets: this.#buckets.map((_, index) => this.#bucketFigures(index)),
    };
  }

  #modelFigures(): AuditSummary['models'] {
    return [...this.#models]
      .filter(([model]) => model !== '')
      .toSorted(([, one], [, other]) => other.runs - one.runs)
      .slice(0, maxModels)
      .map(([name, { runs, total_tokens: totalTokens, cost }]) => {
        const [aiSystem, model] = JSON.parse(name) as [AiSystem, string];
        return { aiSystem, model, runs, totalTokens, cost };
      });
  }

  #bucketFigures(index: number): AuditBucket {
    const { sums, latency } = this.#buckets[index]!;
    return {
      start: new Date(this.#starts[index]!).toISOString(),
      runs: sums.runs,
      failed: sums.failed,
      totalTokens: sums.total_tokens,
      cost: sums.cost,
      runsWithoutCost: sums.without_cost,
      p50: latency.at(0.5),
      p95: latency.at(0.95),
      feedback: { count: sums.feedback, averageScore: averageOf(sums.score, sums.scored) },
    };
  }
}

const oneOf = (kind: Group['kind']): Fragment => sql.raw(`'${kind}'::text AS kind`);

/** The groups of runs that meet a condition on `n`, in one pass. */
async function scannedGroups(connection: CountingConnection, condition: Fragment, bucket: Fragment): Promise<Group[]> {
  const { rows } = await sql<Group>`
    SELECT CASE GROUPING(served_model, class, first_class, status, score) WHEN 15 THEN 'model' WHEN 23 THEN 'total_ms'
        WHEN 27 THEN 'first_token_ms' WHEN 29 THEN 'status' ELSE 'score' END AS kind,
      bucket, coalesce(served_model, class::text, first_class::text, status, score::text) AS value, count(*) AS runs,
      count(*) FILTER (WHERE is_failed) AS failed, coalesce(sum(prompt_tokens), 0) AS prompt_tokens,
      coalesce(sum(completion_tokens), 0) AS completion_tokens, coalesce(sum(total_tokens), 0) AS total_tokens,
      coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE cost IS NULL) AS without_cost,
      count(*) FILTER (WHERE has_feedback) AS feedback, count(given) AS scored, coalesce(sum(given), 0) AS score,
      CASE WHEN GROUPING(class) = 0 THEN max(total_ms) ELSE max(first_token_ms) END AS longest
    FROM (
      SELECT ${bucket} AS bucket, served_model, status, status = 'Failed' AS is_failed, score, score AS given, cost,
        prompt_tokens, completion_tokens, total_tokens, total_ms, first_token_ms,
        num_nonnulls(score, score_text, score_tags) > 0 AS has_feedback,
        ${durationClass(sql.raw('total_ms'))}::integer AS class, ${durationClass(sql.raw('first_token_ms'))}::integer AS first_class
      FROM touchstone.runs AS n WHERE ${condition}
    ) AS n
    GROUP BY GROUPING SETS ((bucket, served_model), (bucket, class), (first_class), (status), (score))`.execute(
    connection,
  );
  return rows.filter(({ value }) => value !== null);
}

/** The groups of whole days. */
async function dayGroups(
  connection: CountingConnection,
  { first, last }: { readonly first: number; readonly last: number },
  starts: readonly number[],
): Promise<Group[]> {
  const bucket = sql`width_bucket(day * ${dayMs}::bigint, ${starts}::bigint[])`;
  const isWithin = sql`day BETWEEN ${first} AND ${last}`;
  const sums = sql.raw(sumNames.map((name) => `sum(${name}) AS ${name}`).join(', '));
  const [models, terms, durations] = [
    await sql<Group>`SELECT ${oneOf('model')}, ${bucket} AS bucket, model AS value, ${sums} FROM touchstone.day_models
      WHERE ${isWithin} GROUP BY 2, 3`.execute(connection),
    await sql<Group>`SELECT split_part(term, '=', 1) AS kind, split_part(term, '=', 2) AS value, sum(runs) AS runs
      FROM touchstone.day_terms WHERE ${isWithin} AND (term LIKE 'status=%' OR term LIKE 'score=%') GROUP BY term`.execute(
      connection,
    ),
    await sql<Group>`SELECT kind, ${bucket} AS bucket, class AS value, sum(runs) AS runs, max(longest) AS longest
      FROM touchstone.day_durations WHERE ${isWithin} GROUP BY 1, 2, 3`.execute(connection),
  ];
  return [...models.rows, ...terms.rows, ...durations.rows];
}

async function countConversations(connection: CountingConnection, condition: Fragment | null): Promise<number> {
  const counts =
    condition === null
      ? sql<{
          count: number;
        }>`SELECT coalesce(sum(runs), 0) AS count FROM touchstone.terms WHERE term = ${conversationsTerm}`
      : sql<{ count: number }>`SELECT count(*) AS count FROM (
          SELECT conversation_id FROM touchstone.runs AS n WHERE ${condition} GROUP BY conversation_id) AS conversations`;
  return (await counts.execute(connection)).rows[0]!.count;
}

interface SummaryRequest {
  readonly filter: AuditFilter;
  readonly bucketSize: BucketSize | undefined;
  /** Whether the counts of days may be read. */
  readonly maySeeCounts: boolean;
}

const isOfDays = (size: BucketSize): boolean => size !== 'minute' && size !== 'hour';

/** The summary of all runs that match a filter, from the counts of days where the filter has only dates. */
export async function summarize(
  connection: CountingConnection,
  { filter, bucketSize: requested, maySeeCounts }: SummaryRequest,
): Promise<AuditSummary> {
  const condition = matches(filter, 'n');
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    SELECT min(created_at) AS first, max(created_at) AS last FROM touchstone.runs AS n WHERE ${condition}`.execute(
    connection,
  );
  const { first, last } = rows[0]!;
  if (first === null || last === null) return new Figures([]).summary(0, requested ?? 'day');
  const { bucketSize, starts } = timeBuckets(first, last, requested);
  const figures = new Figures(starts);
  const range = maySeeCounts && isOfDays(bucketSize) ? timeRangeOf(filter) : null;
  const { days, rest } = range === null ? { days: null, rest: [] } : wholeDays(range);
  const bucket = sql`width_bucket(n.created_at, ${starts}::bigint[])`;
  if (days !== null) for (const group of await dayGroups(connection, days, starts)) figures.add(group);
  for (const part of days === null ? [condition] : rest)
    for (const group of await scannedGroups(connection, part, bucket)) figures.add(group);
  const isEverything = days !== null && range?.from === null && range.to === null;
  return figures.summary(await countConversations(connection, isEverything ? null : condition), bucketSize);
}
