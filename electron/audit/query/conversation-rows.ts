import type Database from 'better-sqlite3';
import { type InferResult, type Kysely, sql } from 'kysely';
import type { AuditRow } from '../../../shared/contract/audit.ts';
import type { Conversation, ConversationRun, Feedback } from '../../../shared/contract/conversations.ts';
import { prepareQuery } from '../../storage/queries.ts';
import { originOf, runContentsOf, usageOf } from '../../storage/run-details.ts';
import { wholeMessages } from '../../storage/shared-messages.ts';
import type { ConversationRow, FeedbackRow, Schema } from '../../storage/schema.ts';

export const excerptLength = 200;

type FeedbackColumns = {
  readonly [Name in Exclude<keyof FeedbackRow, 'run'>]: FeedbackRow[Name] | null;
};
export type WholeRow = InferResult<ReturnType<typeof wholeRuns>>[number];
export type ListRow = InferResult<ReturnType<typeof listRow>>[number];

function isoTime(time: number): string {
  return new Date(time).toISOString();
}

function conversationOf(row: ConversationRow, newestRunAt: number = row.updated_at): Conversation {
  return {
    id: row.id,
    name: row.name,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(newestRunAt),
    workspaceId: row.workspace_id,
    callerId: row.caller_id,
  };
}

export function auditRunOf(row: ListRow): AuditRow['run'] {
  return {
    runId: row.id,
    createdAt: isoTime(row.created_at),
    status: row.status as AuditRow['run']['status'],
    aiSystem: row.ai_system as AuditRow['run']['aiSystem'],
    model: row.model,
    servedBy: row.served_by,
    origin: originOf(row),
    title: row.title,
    excerpt: row.answer.slice(0, excerptLength).replace(/[\uD800-\uDBFF]$/, ''),
    totalMs: row.total_ms,
    firstTokenMs: row.first_token_ms,
    usage: usageOf(row),
    cost: row.cost,
    finishReason: row.finish_reason,
    // The lines of the team database don't have it.
    httpStatus: row.http_status ?? null,
    errorCode: row.error_code,
    feedback: feedbackOf(row),
  };
}

export function feedbackOf(row: FeedbackColumns): Feedback | null {
  if (row.updated_at === null) return null;
  return {
    score: row.score,
    scoreText: row.score_text,
    scoreTags: row.score_tags,
    updatedAt: isoTime(row.updated_at),
  };
}

export function conversationRunOf(row: WholeRow, hasFeedback: boolean): ConversationRun {
  const { input, output, appHeaders, metadata, citations, warnings, moderation, frames } = runContentsOf(row);
  return {
    conversationRunId: row.id,
    promptRunId: row.prompt_id === null ? null : row.id,
    promptId: row.prompt_id,
    promptVersionId: row.prompt_version_id,
    agentId: row.agent_id,
    messageId: row.message_id,
    status: row.status as ConversationRun['status'],
    aiSystem: row.ai_system as ConversationRun['aiSystem'],
    model: row.model,
    servedBy: row.served_by,
    origin: originOf(row),
    input,
    output,
    usage: usageOf(row),
    cost: row.cost === null ? null : { amount: row.cost, currency: 'USD', pricesFrom: row.prices_from },
    timing: { firstTokenMs: row.first_token_ms, totalMs: row.total_ms },
    createdAt: isoTime(row.created_at),
    completedAt: row.completed_at === null ? null : isoTime(row.completed_at),
    appHeaders,
    metadata,
    citations,
    warnings,
    ...(moderation === undefined ? {} : { moderation }),
    ...(frames === undefined ? {} : { frames }),
    ...(hasFeedback ? { feedback: feedbackOf(row) } : {}),
  };
}

/** The origin of a branch can be a branch. Each origin counts up to the replaced run. */
export const countTurnsBefore = `
  WITH RECURSIVE origins (id, run) AS (
    SELECT origin_id, origin_run_id FROM conversation_branches WHERE conversation_id = ?
    UNION
    SELECT origin_id, origin_run_id FROM origins JOIN conversation_branches ON conversation_id = origins.id
  )
  SELECT count(*) FROM origins
    CROSS JOIN conversations ON conversations.id = origins.id
    CROSS JOIN runs ON runs.conversation = conversations.sequence
  WHERE runs.sequence < (SELECT sequence FROM runs WHERE id = origins.run)
`;

/** Conversations, runs and lines of the list, in the contract's format. */
export function createConversationRows(database: Database.Database) {
  const queries = conversationQueries(database);
  const turnsBefore = database.prepare<[string], number>(countTurnsBefore).pluck();

  function conversation(sequence: number, newestRunAt?: number): Conversation {
    return conversationOf(queries.conversation.first({ sequence })!, newestRunAt);
  }

  return {
    conversation,
    /** `id` is that of the conversation. */
    isSample: (id: string): boolean => queries.sample.first({ id }) !== undefined,
    /** The number of earlier runs of the conversation that this one branches off from; 0 if it isn't a branch. */
    turnsBefore: (id: string): number => turnsBefore.get(id)!,
    /**
     * The runs up to `last` with their sequences, oldest first. The length of their texts is subtracted from `left`. Null if that isn't
     * enough.
     */
    runs(
      { sequence, last, hasFeedback }: { sequence: number; last: number; hasFeedback: boolean },
      left: { characters: number },
    ): { sequence: number; run: ConversationRun }[] | null {
      const runs = [];
      for (const row of queries.runs.each({ conversation: sequence, last })) {
        for (const name of longTexts) left.characters -= row[name]?.length ?? 0;
        if (left.characters < 0) return null;
        runs.push({ sequence: row.sequence, run: conversationRunOf(row, hasFeedback) });
      }
      return runs;
    },
    /** The same runs, read one by one, because a conversation can be larger than memory. Skips runs that are removed meanwhile. */
    *eachRun(
      sequence: number,
      last: number,
      hasFeedback: boolean,
    ): Generator<{ sequence: number; run: ConversationRun }, void, void> {
      for (let after = 0; ;) {
        const row = queries.nextRun.first({ conversation: sequence, after, last });
        if (row === undefined) return;
        after = row.sequence;
        yield { sequence: after, run: conversationRunOf(row, hasFeedback) };
      }
    },
    /** Sequences of the runs up to `last`, oldest first. */
    runSequences: (sequence: number, last: number): number[] =>
      queries.runSequences.all({ conversation: sequence, last }).map((row) => row.sequence),
    runId: (sequence: number): string => queries.runId.first({ sequence })!.id,
    /** The run of a line of the list. `sequence` is the run's. */
    rowRun: (sequence: number): AuditRow['run'] => auditRunOf(queries.rowRun.first({ sequence })!),
  };
}

export type ConversationRows = ReturnType<typeof createConversationRows>;

const feedbackColumns = [
  'feedback.score',
  'feedback.score_text',
  'feedback.score_tags',
  'feedback.updated_at',
] as const;

/** The characters of a run's long texts. */
const longTexts = [
  'prompt_text',
  'rendered_prompt',
  'messages_json',
  'system_message',
  'replacements_json',
  'content',
  'tool_calls_json',
  'reasoning',
] as const;

/** Columns for the list as well as for complete runs. Each further column of a page costs time, so the others aren't read. */
const summaryColumns = [
  'runs.id',
  'status',
  'ai_system',
  'model',
  'served_by',
  'origin_api',
  'origin_client',
  'runs.created_at',
  'total_ms',
  'first_token_ms',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost',
  'finish_reason',
  'error_code',
  ...feedbackColumns,
] as const;

const wholeColumns = [
  'runs.sequence',
  'message_id',
  'prompt_id',
  'prompt_version_id',
  'agent_runs.agent_id',
  'prices_from',
  'completed_at',
  'app_headers_json',
  'prompt_text',
  'system_message',
  'replacements_json',
  'rendered_prompt',
  'configuration_json',
  'dataspace_ids_json',
  'metadata_json',
  'warnings_json',
  'content',
  'tool_calls_json',
  'reasoning',
  'error_message',
  'citations_json',
  'moderation_json',
  'frames_json',
  ...summaryColumns,
] as const;

/** The complete runs of a conversation up to `last`, oldest first. */
function wholeRuns(tables: Kysely<Schema>, input: { conversation: number; last: number }) {
  return tables
    .selectFrom('runs')
    .innerJoin('run_texts', 'run_texts.run', 'runs.sequence')
    .leftJoin('feedback', 'feedback.run', 'runs.sequence')
    .leftJoin('agent_runs', 'agent_runs.run_id', 'runs.id')
    .select(wholeColumns)
    .select(sql.raw<string | null>(wholeMessages).as('messages_json'))
    .where('runs.conversation', '=', input.conversation)
    .where('runs.sequence', '<=', input.last)
    .orderBy('runs.sequence');
}

/** The run of a line of the list, with the beginning of its answer. */
function listRow(tables: Kysely<Schema>, input: { sequence: number }) {
  return tables
    .selectFrom('runs')
    .innerJoin('run_texts', 'run_texts.run', 'runs.sequence')
    .leftJoin('feedback', 'feedback.run', 'runs.sequence')
    .select(['title', 'http_status', ...summaryColumns])
    .select((expression) =>
      expression.fn<string>('substr', ['run_texts.content', sql.lit(1), sql.lit(excerptLength)]).as('answer'),
    )
    .where('runs.sequence', '=', input.sequence);
}

function conversationQueries(database: Database.Database) {
  return {
    nextRun: prepareQuery(database, (tables, input: { conversation: number; after: number; last: number }) =>
      wholeRuns(tables, input).where('runs.sequence', '>', input.after).limit(1),
    ),
    runSequences: prepareQuery(database, (tables, input: { conversation: number; last: number }) =>
      tables
        .selectFrom('runs')
        .select('sequence')
        .where('conversation', '=', input.conversation)
        .where('sequence', '<=', input.last)
        .orderBy('sequence'),
    ),
    conversation: prepareQuery(database, (tables, input: { sequence: number }) =>
      tables.selectFrom('conversations').selectAll().where('sequence', '=', input.sequence),
    ),
    runs: prepareQuery(database, wholeRuns),
    sample: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('sample_conversations').select('id').where('id', '=', input.id),
    ),
    runId: prepareQuery(database, (tables, input: { sequence: number }) =>
      tables.selectFrom('runs').select('id').where('sequence', '=', input.sequence),
    ),
    rowRun: prepareQuery(database, listRow),
  };
}
