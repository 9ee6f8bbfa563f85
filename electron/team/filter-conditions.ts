import { type RawBuilder, sql } from 'kysely';
import type { AuditFilter } from '../../shared/contract/audit.ts';
import { firstMillisecond } from '../audit/query/conditions.ts';
import { tagsOf } from '../audit/index/feedback-index.ts';
import { storableText, termOf } from './copied-run.ts';
import { textQuery } from './words.ts';

type Condition = RawBuilder<unknown>;
type Range = { min?: number | null | undefined; max?: number | null | undefined };

const present = <Value>(value: Value | null | undefined): value is Value => value !== null && value !== undefined;

/** The fields of a filter whose values are alternatives, with the field of their terms. */
const listFields = {
  callerIds: 'caller',
  aiSystems: 'ai-system',
  models: 'model',
  statuses: 'status',
  origins: 'origin',
  clients: 'client',
  finishReasons: 'finish-reason',
  errorCodes: 'error-code',
  moderationFlags: 'moderation',
} as const satisfies { [Name in keyof AuditFilter]?: string };

const idFields = {
  callerId: 'caller',
  workspaceId: 'workspace',
  promptId: 'prompt',
  promptVersionId: 'prompt-version',
  agentId: 'agent',
  importId: 'import',
} as const satisfies { [Name in keyof AuditFilter]?: string };

const ids = new Set(['callerIds']);

/** Terms that a run must have: all of `all`, one of each list of `any`, none of `none`. */
interface RequiredTerms {
  readonly all: string[];
  readonly any: string[][];
  readonly none: string[];
}

function requiredTerms(filter: AuditFilter): RequiredTerms {
  const terms: RequiredTerms = { all: [], any: [], none: [] };
  for (const [name, field] of Object.entries(idFields)) {
    const id = filter[name as keyof typeof idFields];
    if (present(id)) terms.all.push(termOf(field, id.toLowerCase()));
  }
  for (const [name, field] of Object.entries(listFields)) {
    const values = filter[name as keyof typeof listFields] as readonly string[] | null | undefined;
    if (!present(values)) continue;
    const found = values.map((value) => termOf(field, ids.has(name) ? value.toLowerCase() : value));
    if (found.length === 1) terms.all.push(found[0]!);
    else terms.any.push(found);
  }
  for (const [name, value] of Object.entries(filter.appHeaders ?? {})) {
    if (value === null) terms.none.push(termOf('header', name.toLowerCase()));
    else terms.all.push(termOf(`header:${name.toLowerCase()}`, value));
  }
  const tags = [...tagsOf(filter.feedback?.scoreTags ?? null), ...(filter.tags ?? []).map((tag) => tag.trim())];
  terms.all.push(...tags.map((tag) => termOf('tag', tag)));
  if (filter.hasFeedback === false) terms.none.push(termOf('feedback', 'any'));
  else if (filter.hasFeedback === true || present(filter.feedback?.scoreText))
    terms.all.push(termOf('feedback', 'any'));
  return terms;
}

function termConditions(filter: AuditFilter, table: RawBuilder<unknown>): Condition[] {
  const { all, any, none } = requiredTerms(filter);
  return [
    ...(all.length === 0 ? [] : [sql`${table}.terms @> ${all}::text[]`]),
    ...any.map((values) => sql`${table}.terms && ${values}::text[]`),
    ...none.map((value) => sql`NOT ${table}.terms @> ${[value]}::text[]`),
  ];
}

function rangeConditions(column: RawBuilder<unknown>, range: Range | null | undefined): Condition[] {
  if (!present(range)) return [];
  const { min, max } = range;
  return [
    ...(present(min) ? [sql`${column} >= ${min}::float8`] : []),
    ...(present(max) ? [sql`${column} <= ${max}::float8`] : []),
    ...(present(min) || present(max) ? [] : [sql`${column} IS NOT NULL`]),
  ];
}

function dateConditions({ startDate, endDate }: AuditFilter, table: RawBuilder<unknown>): Condition[] {
  return [
    ...(present(startDate) ? [sql`${table}.created_at >= ${firstMillisecond(startDate)}::bigint`] : []),
    ...(present(endDate) ? [sql`${table}.created_at <= ${Date.parse(endDate)}::bigint`] : []),
  ];
}

function feedbackConditions({ feedback, score }: AuditFilter, table: RawBuilder<unknown>): Condition[] {
  const text = feedback?.scoreText?.toLowerCase() ?? '';
  return [
    ...(present(feedback?.score) ? [sql`${table}.score = ${feedback.score}::integer`] : []),
    ...rangeConditions(sql`${table}.score`, score),
    ...(text === '' ? [] : [sql`strpos(${table}.score_search, ${storableText(text)}) > 0`]),
  ];
}

function textCondition({ text, textIn }: AuditFilter, table: RawBuilder<unknown>): Condition[] {
  if (!present(text) || text.trim() === '') return [];
  return [
    sql`EXISTS (
      SELECT 1 FROM touchstone.run_texts WHERE run_texts.sequence = ${table}.sequence
        AND run_texts.created_at = ${table}.created_at AND run_texts.words @@ ${textQuery(text, textIn ?? null)}::tsquery
    )`,
  ];
}

/** The parts of a filter as conditions on a run. `alias` is the name of its table in the statement. */
export function conditionsOf(filter: AuditFilter, alias: string): Condition[] {
  const table = sql.raw(alias);
  const { conversationRunId, promptRunId, conversationId } = filter;
  return [
    ...(present(conversationRunId) ? [sql`${table}.id = ${conversationRunId}::uuid`] : []),
    ...(present(promptRunId)
      ? [
          sql`${table}.id = ${promptRunId}::uuid
            AND EXISTS (SELECT 1 FROM unnest(${table}.terms) AS term WHERE term LIKE 'prompt=%')`,
        ]
      : []),
    ...(present(conversationId) ? [sql`${table}.conversation_id = ${conversationId}::uuid`] : []),
    ...termConditions(filter, table),
    ...feedbackConditions(filter, table),
    ...dateConditions(filter, table),
    ...rangeConditions(sql`${table}.total_ms`, filter.totalMs),
    ...rangeConditions(sql`${table}.first_token_ms`, filter.firstTokenMs),
    ...rangeConditions(sql`${table}.cost`, filter.cost),
    ...rangeConditions(sql`${table}.total_tokens`, filter.totalTokens),
    ...textCondition(filter, table),
  ];
}

/** All conditions together; true without any. */
export function matches(filter: AuditFilter, alias: string): Condition {
  const conditions = conditionsOf(filter, alias);
  return conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` AND `)})`;
}
