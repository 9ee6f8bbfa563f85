import { redactedColumns, type ExportColumn } from '../../../shared/contract/audit-exports.ts';
import { messagesIn, publicMessages, publicToolCall, toolCallsIn } from '../../storage/stored-messages.ts';
import type { ExportRow } from '../../storage/export-rows.ts';
import { findReplaced } from '../query/feedback-store.ts';
import type { AnswerValue } from '../../../shared/contract/rubrics.ts';
import type { MatchListener, Redactor } from './redaction.ts';

/** The selected columns of one run. */
export type ExportRecord = Partial<Record<ExportColumn, unknown>>;

/** The snapshot time of the pack, and whether the run matches the filter. */
export interface RecordContext {
  readonly snapshotAt: number;
  readonly isMatched: boolean;
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function parsed(json: string | null): unknown {
  return json === null ? null : (JSON.parse(json) as unknown);
}

type Reader = (row: ExportRow, context: RecordContext) => unknown;

/** For a run that ended after the snapshot, only the fields that were known then. */
function onceEnded(read: (row: ExportRow) => unknown, before: unknown = null): Reader {
  return (row, { snapshotAt }) => (row.completed_at !== null && row.completed_at < snapshotAt ? read(row) : before);
}

/** Fields with ids of Touchstone. Only in an agent's run they are reliable. Other callers can set any metadata. */
const agentFields = ['agentId', 'branchOf'] as const;

function callerSupplied({ workspace_id, metadata_json, agent_id }: ExportRow): string[] {
  const metadata = agent_id === null ? (parsed(metadata_json) as Record<string, unknown> | null) : null;
  return [
    ...(workspace_id === null ? [] : ['workspaceId']),
    ...agentFields.filter((name) => metadata?.[name] != null).map((name) => `metadata.${name}`),
  ];
}

interface HistoryEntry {
  readonly id: string;
  readonly reviewer: string | null;
  readonly rubricItemId: string | null;
  readonly question: string | null;
  /** Null for feedback, and for a text, which is the note. */
  readonly value: AnswerValue | null;
  readonly note: string | null;
  readonly score: number | null;
  readonly scoreTags: string | null;
  readonly createdAt: number;
}

/** Oldest first; null without any. */
function historyOf(json: string): unknown {
  const entries = JSON.parse(json) as HistoryEntry[];
  const replaced = findReplaced(entries);
  const described = entries.map(
    ({ id, reviewer, rubricItemId, question, value, note, score, scoreTags, createdAt }) => ({
      id,
      reviewer,
      ...(rubricItemId === null
        ? { score, scoreTags, note }
        : { rubricItemId, question, value: value ?? note, note: value === null ? null : note }),
      createdAt: isoTime(createdAt),
      replaces: replaced.get(id) ?? null,
    }),
  );
  return described.length === 0 ? null : described;
}

const readers: Readonly<Record<ExportColumn, Reader>> = {
  conversationId: (row) => row.conversation_id,
  conversationName: (row) => row.conversation_name,
  runId: (row) => row.id,
  messageId: (row) => row.message_id,
  matched: (_, { isMatched }) => isMatched,
  createdAt: (row) => isoTime(row.created_at),
  completedAt: onceEnded((row) => isoTime(row.completed_at)),
  status: onceEnded((row) => row.status, 'Running'),
  callerId: (row) => row.caller_id,
  workspaceId: (row) => row.workspace_id,
  promptId: (row) => row.prompt_id,
  promptVersionId: (row) => row.prompt_version_id,
  aiSystem: (row) => row.ai_system,
  model: (row) => row.model,
  servedBy: (row) => row.served_by,
  originApi: (row) => row.origin_api,
  originClient: (row) => row.origin_client,
  httpStatus: onceEnded((row) => row.http_status),
  importId: (row) => row.import_id,
  systemMessage: (row) => row.system_message,
  promptText: (row) => row.prompt_text,
  replacements: (row) => parsed(row.replacements_json),
  renderedPrompt: (row) => row.rendered_prompt,
  /** Null for a single message: its text is the rendered prompt. */
  messages: (row) => (row.messages_json === null ? null : publicMessages(messagesIn(row))),
  content: onceEnded((row) => row.content, ''),
  /** Null if the model called no tool. */
  toolCalls: onceEnded((row) =>
    row.tool_calls_json === null ? null : toolCallsIn(row.tool_calls_json).map(publicToolCall),
  ),
  reasoning: onceEnded((row) => row.reasoning),
  finishReason: onceEnded((row) => row.finish_reason),
  errorCode: onceEnded((row) => row.error_code),
  errorMessage: onceEnded((row) => row.error_message),
  configuration: (row) => parsed(row.configuration_json),
  dataspaceIds: (row) => parsed(row.dataspace_ids_json),
  promptTokens: onceEnded((row) => row.prompt_tokens),
  completionTokens: onceEnded((row) => row.completion_tokens),
  totalTokens: onceEnded((row) => row.total_tokens),
  cachedTokens: onceEnded((row) => row.cached_tokens),
  cacheWriteTokens: onceEnded((row) => row.cache_write_tokens),
  reasoningTokens: onceEnded((row) => row.reasoning_tokens),
  cost: onceEnded((row) => row.cost),
  pricesFrom: onceEnded((row) => row.prices_from),
  rawUsage: onceEnded((row) => parsed(row.usage_json)),
  firstTokenMs: onceEnded((row) => row.first_token_ms),
  totalMs: onceEnded((row) => row.total_ms),
  appHeaders: (row) => parsed(row.app_headers_json) ?? {},
  metadata: (row) => parsed(row.metadata_json),
  callerSupplied,
  citations: onceEnded((row) => parsed(row.citations_json) ?? [], []),
  warnings: (row) => parsed(row.warnings_json) ?? [],
  moderationFlags: onceEnded((row) => row.moderation_flags),
  moderation: onceEnded((row) => parsed(row.moderation_json)),
  feedbackScore: (row) => row.score,
  feedbackText: (row) => row.score_text,
  feedbackTags: (row) => row.score_tags,
  feedbackAt: (row) => isoTime(row.feedback_at),
  feedbackHistory: ({ feedback_history_json }) => historyOf(feedback_history_json),
};

const redacted: ReadonlySet<ExportColumn> = new Set(redactedColumns);

/** Called for each match that a rule replaces, with its column. */
export type ColumnListener = (column: ExportColumn, ...found: Parameters<MatchListener>) => void;

/** Reads the columns of a run and applies the rules, once for all formats. */
export function exportRecord(
  row: ExportRow,
  columns: readonly ExportColumn[],
  context: RecordContext,
  redactor: Redactor,
  onMatch?: ColumnListener,
): ExportRecord {
  const record: ExportRecord = {};
  for (const column of columns) {
    const value = readers[column](row, context);
    const listener = onMatch && ((...found: Parameters<MatchListener>) => onMatch(column, ...found));
    record[column] = redacted.has(column) ? redactor.value(value, listener) : value;
  }
  return record;
}
