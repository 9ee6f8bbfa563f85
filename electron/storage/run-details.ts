import type { AiSystem } from '../../shared/contract/common.ts';
import type { FrameTiming, RunOrigin } from '../../shared/contract/conversations.ts';
import type { RunModeration } from '../../shared/contract/moderation.ts';
import type { RunDetail, RunListItem, RunSummary } from '../../shared/contract/runs.ts';
import type { RunRow, RunTextRow } from './schema.ts';
import { literalMessagesTemplate } from '../prompts/transfer/templates/template-syntax.ts';
import { messagesIn, publicMessages, publicToolCall, toolCallsIn } from './stored-messages.ts';

function isoTime(time: number): string {
  return new Date(time).toISOString();
}

/** Where a run comes from, by its columns. */
export function originOf(row: Pick<RunRow, 'origin_api' | 'origin_client'>): RunOrigin {
  return { api: row.origin_api as RunOrigin['api'], client: row.origin_client };
}

type TokenClass = 'prompt' | 'completion' | 'total' | 'cached' | 'cache_write' | 'reasoning';

export function usageOf(row: Pick<RunRow, `${TokenClass}_tokens`>): RunSummary['usage'] {
  const { prompt_tokens, completion_tokens, total_tokens, cached_tokens, cache_write_tokens, reasoning_tokens } = row;
  if (prompt_tokens === null || completion_tokens === null || total_tokens === null) return null;
  const totals = { prompt_tokens, completion_tokens, total_tokens };
  if (cached_tokens === null && cache_write_tokens === null && reasoning_tokens === null) return totals;
  return { ...totals, details: { cached_tokens, cache_write_tokens, reasoning_tokens } };
}

/** A run's row with the id of its conversation. */
export type ListedRunRow = RunRow & { conversation_id: string };

function runSummaryOf(row: ListedRunRow): RunSummary {
  return {
    runId: row.id,
    conversationId: row.conversation_id,
    status: row.status as RunSummary['status'],
    aiSystem: row.ai_system as AiSystem,
    model: row.model,
    servedBy: row.served_by,
    origin: originOf(row),
    httpStatus: row.http_status,
    createdAt: isoTime(row.created_at),
    completedAt: row.completed_at === null ? null : isoTime(row.completed_at),
    totalMs: row.total_ms,
    firstTokenMs: row.first_token_ms,
    usage: usageOf(row),
    cost: row.cost,
    pricesFrom: row.prices_from,
    errorCode: row.error_code,
    title: row.title,
    draftId: row.draft_id,
  };
}

/** Characters of a row's excerpt. */
export const maxExcerptCharacters = 200;

/** Removes half a character at the end, and collapses white space. */
function excerptOf(text: string): string {
  return text
    .replace(/[\uD800-\uDBFF]$/, '')
    .replace(/\s+/g, ' ')
    .trim();
}

export type RunListRow = ListedRunRow & {
  answer: string;
  prompt: string;
  /** Names of tools. */
  called: string | null;
  prompt_version: number | null;
  score: number | null;
};

function calledText({ called }: RunListRow): string {
  return called === null ? '' : `Called ${called}`.slice(0, maxExcerptCharacters);
}

export function runListItemOf(row: RunListRow): RunListItem {
  return {
    ...runSummaryOf(row),
    excerpt: excerptOf(row.answer) || excerptOf(calledText(row)) || excerptOf(row.prompt),
    promptVersion: row.prompt_version,
    score: row.score,
  };
}

export function parsed<Value>(json: string | null, absent: Value): Value {
  return json === null ? absent : (JSON.parse(json) as Value);
}

type ContentsRow = Pick<RunRow, 'finish_reason' | 'error_code' | 'app_headers_json' | 'origin_api'> &
  Omit<RunTextRow, 'run' | 'usage_json' | 'last_message'>;

/**
 * A template that renders to what the run sent. Recorded and imported calls have only messages: their text is no template, and storing
 * it again would double the size of long conversations.
 */
function promptTextOf(row: ContentsRow): string {
  // Imports of earlier versions have a template.
  const hasTemplate = row.origin_api === 'completions' || (row.origin_api === 'import' && row.prompt_text !== '');
  // The messages of an agent's turn can have its template around the user's text.
  const isTemplate =
    row.prompt_text !== '' && parsed<RunDetail['metadata']>(row.metadata_json, null)?.['isTemplate'] === true;
  return hasTemplate || isTemplate ? row.prompt_text : literalMessagesTemplate(messagesIn(row));
}

/** The metadata alone can be a caller's. */
const isAnonymised = ({ metadata, input, output }: Pick<RunDetail, 'metadata' | 'input' | 'output'>): boolean =>
  metadata?.['anonymised'] === true && input.renderedPrompt === '' && output.content === '';

/** What a run sent and received. */
export function runContentsOf(row: ContentsRow) {
  return {
    input: {
      promptText: promptTextOf(row),
      systemMessage: row.system_message,
      replacements: parsed<RunDetail['input']['replacements']>(row.replacements_json, null),
      renderedPrompt: row.rendered_prompt,
      messages: publicMessages(messagesIn(row)),
      configuration: parsed<RunDetail['input']['configuration']>(row.configuration_json, null),
      dataspaceIds: parsed<RunDetail['input']['dataspaceIds']>(row.dataspace_ids_json, null),
    },
    output: {
      content: row.content,
      ...(row.tool_calls_json === null ? {} : { toolCalls: toolCallsIn(row.tool_calls_json).map(publicToolCall) }),
      reasoning: row.reasoning,
      finishReason: row.finish_reason,
      error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    },
    appHeaders: parsed<RunDetail['appHeaders']>(row.app_headers_json, {}),
    metadata: parsed<RunDetail['metadata']>(row.metadata_json, null),
    citations: parsed<RunDetail['citations']>(row.citations_json, []),
    warnings: parsed<RunDetail['warnings']>(row.warnings_json, []),
    ...(row.moderation_json === null ? {} : { moderation: JSON.parse(row.moderation_json) as RunModeration }),
    ...(row.frames_json === null ? {} : { frames: JSON.parse(row.frames_json) as FrameTiming }),
  };
}

export function runDetailOf(row: ListedRunRow & RunTextRow & { agent_id: string | null }): RunDetail {
  const contents = runContentsOf(row);
  return {
    ...runSummaryOf(row),
    ...contents,
    messageId: row.message_id,
    callerId: row.caller_id,
    agentId: row.agent_id,
    isAnonymised: isAnonymised(contents),
    credits: row.credits,
    rawUsage: parsed(row.usage_json, null),
  };
}
