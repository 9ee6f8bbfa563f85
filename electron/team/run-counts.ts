import { sql, type Transaction } from 'kysely';
import { classCount, classOf, classOffset, classRatio } from '../audit/query/histogram.ts';

type Connection = Transaction<Record<never, never>>;

/** The stored columns of a run that are counted. */
export interface CountedRun {
  readonly created_at: number;
  readonly served_model: string;
  readonly status: string;
  readonly terms: readonly string[];
  readonly total_ms: number | null;
  readonly first_token_ms: number | null;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly total_tokens: number | null;
  readonly cost: number | null;
  readonly score: number | null;
}

/** The columns of `CountedRun` in `touchstone.runs`. */
export const countedColumns = sql.raw(
  'created_at, served_model, status, terms, total_ms, first_token_ms, prompt_tokens, completion_tokens, total_tokens, cost, score',
);

export const dayMs = 86_400_000;
export const dayOf = (time: number): number => Math.floor(time / dayMs);

/** The number of all conversations, as a term. */
export const conversationsTerm = 'all=conversations';

/** The fields whose values are counted for each day. */
const dayFields = new Set([
  'served-model',
  'ai-system',
  'caller',
  'status',
  'origin',
  'client',
  'finish-reason',
  'error-code',
  'moderation',
  'tag',
]);

const durationKinds = ['total_ms', 'first_token_ms'] as const;

/** The class of a duration in a histogram; null stays null. */
export function durationClass(column: ReturnType<typeof sql.raw>) {
  return sql`CASE WHEN ${column} <= 0.01 THEN 0
    ELSE least(${sql.raw(String(classCount - 1))}, floor((ln(${column}) - ${classOffset}::float8) / ${classRatio}::float8)) END`;
}

function count<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  counts.set(key, (counts.get(key) ?? 0) + change);
}

interface Duration {
  readonly day: number;
  readonly kind: (typeof durationKinds)[number];
  readonly class: number;
  change: number;
  longest: number;
}

/** Changes of the counts of all runs and of each day, written in the transaction that changes the runs. */
export class RunCounts {
  readonly #terms = new Map<string, number>();
  readonly #dayTerms = new Map<string, number>();
  readonly #durations = new Map<string, Duration>();
  readonly #runs: { run: CountedRun; change: 1 | -1 }[] = [];

  add(run: CountedRun, change: 1 | -1): void {
    const day = dayOf(run.created_at);
    this.#runs.push({ run, change });
    for (const term of run.terms) {
      count(this.#terms, term, change);
      if (dayFields.has(term.slice(0, term.indexOf('=')))) count(this.#dayTerms, `${day} ${term}`, change);
    }
    if (run.score !== null) count(this.#dayTerms, `${day} score=${run.score}`, change);
    for (const kind of durationKinds) {
      const value = run[kind];
      if (value === null) continue;
      const key = { day, kind, class: classOf(value) };
      const name = `${day} ${kind} ${key.class}`;
      const known = this.#durations.get(name) ?? { ...key, change: 0, longest: -Infinity };
      known.change += change;
      known.longest = Math.max(known.longest, value);
      this.#durations.set(name, known);
    }
  }

  addConversations(change: number): void {
    count(this.#terms, conversationsTerm, change);
  }

  async write(transaction: Connection): Promise<void> {
    const changes = (counts: ReadonlyMap<string, number>) => [...counts].filter(([, change]) => change !== 0);
    const terms = changes(this.#terms);
    if (terms.length > 0) await writeTerms(transaction, terms);
    const dayTerms = changes(this.#dayTerms);
    if (dayTerms.length > 0) await writeDayTerms(transaction, dayTerms);
    if (this.#runs.length > 0) await writeDayModels(transaction, this.#runs);
    const durations = [...this.#durations.values()].filter(({ change }) => change !== 0);
    if (durations.length > 0) await writeDurations(transaction, durations);
  }
}

async function writeTerms(transaction: Connection, changes: readonly [string, number][]): Promise<void> {
  const names = changes.map(([term]) => term);
  await sql`
    INSERT INTO touchstone.terms (term, runs)
    SELECT * FROM unnest(${names}::text[], ${changes.map(([, change]) => change)}::bigint[])
    ON CONFLICT (term) DO UPDATE SET runs = terms.runs + excluded.runs`.execute(transaction);
  if (changes.every(([, change]) => change > 0)) return;
  await sql`DELETE FROM touchstone.terms WHERE runs <= 0 AND term = ANY(${names}::text[])`.execute(transaction);
}

async function writeDayTerms(transaction: Connection, changes: readonly [string, number][]): Promise<void> {
  const days = changes.map(([key]) => Number.parseInt(key));
  const names = changes.map(([key]) => key.slice(key.indexOf(' ') + 1));
  await sql`
    INSERT INTO touchstone.day_terms (day, term, runs)
    SELECT * FROM unnest(${days}::integer[], ${names}::text[], ${changes.map(([, change]) => change)}::bigint[])
    ON CONFLICT (day, term) DO UPDATE SET runs = day_terms.runs + excluded.runs`.execute(transaction);
  if (changes.every(([, change]) => change > 0)) return;
  await sql`
    DELETE FROM touchstone.day_terms WHERE runs <= 0
      AND (day, term) IN (SELECT * FROM unnest(${days}::integer[], ${names}::text[]))`.execute(transaction);
}

/** The server adds amounts up as decimals, so that what is added and subtracted later leaves nothing over. */
async function writeDayModels(
  transaction: Connection,
  runs: readonly { readonly run: CountedRun; readonly change: 1 | -1 }[],
): Promise<void> {
  const rows = runs.map(({ run, change }) => ({
    day: dayOf(run.created_at),
    change,
    served_model: run.served_model,
    status: run.status,
    prompt_tokens: run.prompt_tokens,
    completion_tokens: run.completion_tokens,
    total_tokens: run.total_tokens,
    cost: run.cost,
    score: run.score,
    has_feedback: run.terms.includes('feedback=any'),
  }));
  await sql`
    INSERT INTO touchstone.day_models
    SELECT day, served_model, sum(change), coalesce(sum(change) FILTER (WHERE status = 'Failed'), 0),
      coalesce(sum(change * prompt_tokens), 0), coalesce(sum(change * completion_tokens), 0),
      coalesce(sum(change * total_tokens), 0), coalesce(sum(change * cost), 0),
      coalesce(sum(change) FILTER (WHERE cost IS NULL), 0), coalesce(sum(change) FILTER (WHERE has_feedback), 0),
      coalesce(sum(change) FILTER (WHERE score IS NOT NULL), 0), coalesce(sum(change * score), 0)
    FROM json_to_recordset(${JSON.stringify(rows)}) AS changes (day integer, served_model text, change integer, status text,
      prompt_tokens numeric, completion_tokens numeric, total_tokens numeric, cost numeric, has_feedback boolean, score integer)
    GROUP BY day, served_model
    ON CONFLICT (day, model) DO UPDATE SET runs = day_models.runs + excluded.runs, failed = day_models.failed + excluded.failed,
      prompt_tokens = day_models.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = day_models.completion_tokens + excluded.completion_tokens,
      total_tokens = day_models.total_tokens + excluded.total_tokens, cost = day_models.cost + excluded.cost,
      without_cost = day_models.without_cost + excluded.without_cost, feedback = day_models.feedback + excluded.feedback,
      scored = day_models.scored + excluded.scored, score = day_models.score + excluded.score`.execute(transaction);
  const removed = [...new Set(runs.filter(({ change }) => change < 0).map(({ run }) => dayOf(run.created_at)))];
  if (removed.length === 0) return;
  await sql`DELETE FROM touchstone.day_models WHERE runs = 0 AND day = ANY(${removed}::integer[])`.execute(transaction);
}

async function writeDurations(transaction: Connection, changes: readonly Duration[]): Promise<void> {
  const keys = sql`${changes.map(({ day }) => day)}::integer[], ${changes.map(({ kind }) => kind)}::text[],
    ${changes.map((each) => each.class)}::integer[]`;
  await sql`
    INSERT INTO touchstone.day_durations (day, kind, class, runs, longest)
    SELECT * FROM unnest(${keys}, ${changes.map(({ change }) => change)}::bigint[],
      ${changes.map(({ longest }) => longest)}::float8[])
    ON CONFLICT (day, kind, class) DO UPDATE SET runs = day_durations.runs + excluded.runs,
      longest = greatest(day_durations.longest, excluded.longest)`.execute(transaction);
  const removed = changes.filter(({ change }) => change < 0);
  if (removed.length > 0) await shortenDurations(transaction, removed);
}

/** After removals: the longest of a class may have been among them. */
async function shortenDurations(transaction: Connection, removed: readonly Duration[]): Promise<void> {
  await sql`
    DELETE FROM touchstone.day_durations WHERE runs <= 0 AND day = ANY(${removed.map(({ day }) => day)}::integer[])`.execute(
    transaction,
  );
  for (const kind of durationKinds) {
    const column = sql.raw(kind);
    const ofKind = removed.filter((each) => each.kind === kind);
    if (ofKind.length === 0) continue;
    await sql`
      UPDATE touchstone.day_durations SET longest = (
        SELECT max(${column}) FROM touchstone.runs
        WHERE created_at >= day_durations.day * ${dayMs}::bigint AND created_at < (day_durations.day + 1) * ${dayMs}::bigint
          AND ${durationClass(column)} = day_durations.class)
      FROM unnest(${ofKind.map(({ day }) => day)}::integer[], ${ofKind.map((each) => each.class)}::integer[],
        ${ofKind.map(({ longest }) => longest)}::float8[]) AS removed (day, class, longest)
      WHERE kind = ${kind} AND day_durations.day = removed.day AND day_durations.class = removed.class
        AND day_durations.longest <= removed.longest`.execute(transaction);
  }
}
