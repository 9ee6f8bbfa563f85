import type Database from 'better-sqlite3';
import { sql, type Kysely } from 'kysely';
import { prepareQuery, valuesOf } from './queries.ts';
import { maxExcerptCharacters } from './run-details.ts';
import type { OutcomeColumns } from './run-rows.ts';
import type { OutcomeTextRow, RunRow, RunTextRow, Schema } from './schema.ts';
import { wholeMessages } from './shared-messages.ts';

const outcomeColumns = [
  'status',
  'completed_at',
  'first_token_ms',
  'total_ms',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost',
  'prices_from',
  'credits',
  'finish_reason',
  'error_code',
  'http_status',
  'moderation_flags',
] as const satisfies (keyof RunRow)[];

const runColumns = [
  'sequence',
  'id',
  'conversation',
  'message_id',
  'caller_id',
  'api_key_id',
  'prompt_id',
  'prompt_version_id',
  'ai_system',
  'model',
  'served_by',
  'created_at',
  'title',
  'draft_id',
  'app_headers_json',
  'origin_api',
  'origin_client',
  'import_batch',
  ...outcomeColumns,
] as const satisfies (keyof RunRow)[];

const outcomeTextColumns = [
  'content',
  'tool_calls_json',
  'reasoning',
  'error_message',
  'citations_json',
  'usage_json',
  'moderation_json',
  'frames_json',
] as const satisfies (keyof RunTextRow)[];

/** All columns of the texts but the messages. */
const plainTextColumns = [
  'run',
  'prompt_text',
  'system_message',
  'replacements_json',
  'rendered_prompt',
  'last_message',
  'configuration_json',
  'dataspace_ids_json',
  'metadata_json',
  'warnings_json',
  ...outcomeTextColumns,
] as const satisfies (keyof RunTextRow)[];

/** The same in a query of several tables. The messages are read with `wholeMessages`. */
export const runTextColumns = plainTextColumns.map((column) => `run_texts.${column}` as const);

/** Statements that write runs. */
export function runWriteQueries(database: Database.Database) {
  return {
    insertRun: prepareQuery(database, (tables, input: RunRow) =>
      tables.insertInto('runs').values(valuesOf(input, runColumns)),
    ),
    insertTexts: prepareQuery(database, (tables, input: RunTextRow) =>
      tables.insertInto('stored_texts').values(valuesOf(input, [...plainTextColumns, 'messages_json'])),
    ),
    endRun: prepareQuery(database, (tables, input: OutcomeColumns & { sequence: number }) =>
      tables.updateTable('runs').set(valuesOf(input, outcomeColumns)).where('sequence', '=', input.sequence),
    ),
    endTexts: prepareQuery(database, (tables, input: OutcomeTextRow) =>
      tables.updateTable('stored_texts').set(valuesOf(input, outcomeTextColumns)).where('run', '=', input.run),
    ),
    insertLateAnswer: prepareQuery(database, (tables, input: OutcomeTextRow) =>
      tables.insertInto('late_answers').values(valuesOf(input, ['run', ...outcomeTextColumns])),
    ),
    keepSentPrompt: prepareQuery(
      database,
      (tables, input: Pick<RunTextRow, 'rendered_prompt' | 'messages_json' | 'run'>) =>
        tables
          .updateTable('stored_texts')
          .set(valuesOf(input, ['rendered_prompt', 'messages_json']))
          .where('run', '=', input.run),
    ),
    insertCredits: prepareQuery(database, (tables, input: Schema['credit_entries']) =>
      tables.insertInto('credit_entries').values(valuesOf(input, ['run', 'api_key_id', 'credits', 'created_at'])),
    ),
    addCreditsUsed: prepareQuery(database, (tables, input: { id: string; credits: number }) =>
      tables
        .updateTable('api_keys')
        .set((expression) => ({ credits_used: expression('credits_used', '+', input.credits) }))
        .where('id', '=', input.id),
    ),
    interruptTexts: prepareQuery(database, (tables, input: { error_message: string }) =>
      tables
        .updateTable('stored_texts')
        .set({ error_message: input.error_message })
        .where('run', 'in', (inner) => inner.selectFrom('runs').select('sequence').where('status', '=', 'Running')),
    ),
    interruptRuns: prepareQuery(database, (tables) =>
      tables
        .updateTable('runs')
        .set({ status: 'Failed', finish_reason: 'Error', error_code: 'interrupted' })
        .where('status', '=', 'Running'),
    ),
  };
}

/** The names of the tools that a run called; null for none. Long lists aren't read for a row. */
const calledTools = sql<string | null>`
  case
    when run_texts.tool_calls_json is null then null
    when octet_length(run_texts.tool_calls_json) > 100000 then 'several tools'
    else (select group_concat(json_extract(value, '$.name'), ', ') from json_each(run_texts.tool_calls_json))
  end`;

/** Rows of the history, newest first. It reads only the beginning of long texts. */
function listedRuns(tables: Kysely<Schema>, { before, limit }: { before: number; limit: number }) {
  return tables
    .selectFrom('runs')
    .innerJoin('conversations', 'conversations.sequence', 'runs.conversation')
    .innerJoin('run_texts', 'run_texts.run', 'runs.sequence')
    .leftJoin('feedback', 'feedback.run', 'runs.sequence')
    .leftJoin('prompt_versions', 'prompt_versions.id', 'runs.prompt_version_id')
    .selectAll('runs')
    .select((expression) => [
      'conversations.id as conversation_id',
      'feedback.score as score',
      'prompt_versions.number as prompt_version',
      expression.fn<string>('substr', ['run_texts.content', sql.lit(1), sql.lit(maxExcerptCharacters)]).as('answer'),
      expression
        .fn<string>('substr', ['run_texts.rendered_prompt', sql.lit(1), sql.lit(maxExcerptCharacters)])
        .as('prompt'),
      calledTools.as('called'),
    ])
    .where('runs.sequence', '<', before)
    .orderBy('runs.sequence', 'desc')
    .limit(limit);
}

/** Statements that read runs. `before` is the last sequence of the previous page. */
export function runReadQueries(database: Database.Database) {
  return {
    newest: prepareQuery(database, (tables) =>
      tables.selectFrom('runs').select('sequence').orderBy('sequence', 'desc').limit(1),
    ),
    page: prepareQuery(database, listedRuns),
    pageOfDraft: prepareQuery(database, (tables, input: { before: number; limit: number; draft_id: string }) =>
      listedRuns(tables, input).where('runs.draft_id', '=', input.draft_id),
    ),
    answer: prepareQuery(database, (tables, input: { id: string }) =>
      tables
        .selectFrom('runs')
        .innerJoin('run_texts', 'run_texts.run', 'runs.sequence')
        .select(['run_texts.content', 'run_texts.tool_calls_json'])
        .where('runs.id', '=', input.id)
        .where('runs.status', '=', 'Completed'),
    ),
    whole: prepareQuery(database, (tables, input: { id: string }) =>
      tables
        .selectFrom('runs')
        .innerJoin('conversations', 'conversations.sequence', 'runs.conversation')
        .innerJoin('run_texts', 'run_texts.run', 'runs.sequence')
        .leftJoin('agent_runs', 'agent_runs.run_id', 'runs.id')
        .selectAll('runs')
        .select(runTextColumns)
        .select('agent_runs.agent_id')
        .select(sql.raw<string | null>(wholeMessages).as('messages_json'))
        .select('conversations.id as conversation_id')
        .where('runs.id', '=', input.id),
    ),
  };
}
