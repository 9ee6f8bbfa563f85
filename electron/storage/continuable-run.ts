import type { Citation } from '../../shared/contract/completions.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { ModelToolCall } from '../providers/provider.ts';
import { type ListedRunRow, parsed } from './run-details.ts';
import type { NewRun } from './run-rows.ts';
import type { RunTextRow } from './schema.ts';
import { messagesIn, toolCallsIn } from './stored-messages.ts';

/** The fields of a run that a continuation with tool results needs. */
export interface ContinuableRun extends Pick<NewRun, 'callerId' | 'conversationId' | 'promptId' | 'promptVersionId'> {
  /** The agent whose turn it is; null for other runs. Metadata can't tell, because callers set them. */
  readonly agentId: string | null;
  readonly status: string;
  readonly finishReason: string | null;
  readonly aiSystem: AiSystem;
  readonly model: string;
  /** The model that answered. For a built-in model it depends on the settings at that time. */
  readonly servedBy: string;
  readonly promptText: string;
  readonly systemMessage: string | null;
  readonly replacements: Record<string, unknown> | null;
  readonly configuration: Record<string, unknown> | null;
  readonly metadata: Record<string, unknown> | null;
  readonly messages: readonly Message[];
  readonly content: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly citations: readonly Citation[];
}

export type ContinuableRow = ListedRunRow & RunTextRow & { readonly agent_id: string | null };

export function continuableRunOf(row: ContinuableRow): ContinuableRun {
  return {
    callerId: row.caller_id,
    conversationId: row.conversation_id,
    promptId: row.prompt_id,
    promptVersionId: row.prompt_version_id,
    agentId: row.agent_id,
    status: row.status,
    finishReason: row.finish_reason,
    aiSystem: row.ai_system as AiSystem,
    model: row.model,
    servedBy: row.served_by,
    promptText: row.prompt_text,
    systemMessage: row.system_message,
    replacements: parsed(row.replacements_json, null),
    configuration: parsed(row.configuration_json, null),
    metadata: parsed(row.metadata_json, null),
    messages: messagesIn(row),
    content: row.content,
    toolCalls: row.tool_calls_json === null ? [] : toolCallsIn(row.tool_calls_json),
    citations: parsed(row.citations_json, []),
  };
}
