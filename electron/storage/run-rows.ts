import { startOfText } from '../common/start-of-text.ts';
import type { ModelToolCall, RawUsage } from '../providers/provider.ts';
import type { CallApi } from '../passthrough/read-request.ts';
import type { ModelPrices, RunCost } from '../providers/model-prices.ts';
import type { Citation, FinishReason, Usage, Warning } from '../../shared/contract/completions.ts';
import type { FrameTiming, RunOrigin } from '../../shared/contract/conversations.ts';
import { type Message, textOfMessage } from '../../shared/contract/messages.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import { flagsOf, type RunModeration } from '../../shared/contract/moderation.ts';
import type { OutcomeTextRow, RunRow, RunTextRow } from './schema.ts';
import type { ContinuedResponse } from './thread-store.ts';

/** The fields of a run that are known at its start. Times are milliseconds since 1970. */
export interface NewRun {
  readonly runId: string;
  readonly messageId: string;
  readonly conversationId: string;
  readonly workspaceId: string | null;
  readonly callerId: string;
  /** Null for runs of the window. */
  readonly apiKeyId: string | null;
  readonly promptId: string | null;
  readonly promptVersionId: string | null;
  readonly aiSystem: AiSystem;
  readonly model: string;
  readonly servedBy: string;
  readonly createdAt: number;
  readonly promptText: string;
  readonly systemMessage: string | null;
  readonly replacements: Record<string, unknown> | null;
  readonly renderedPrompt: string;
  /** Null for a single message, whose text is the rendered prompt. */
  readonly messages?: readonly Message[] | null | undefined;
  /** Of the messages, if earlier runs may have sent most of them; see `messageKeys`. */
  readonly messageKeys?: readonly string[];
  /** The response that the provider puts before the messages. */
  readonly continues?: ContinuedResponse;
  readonly configuration: Record<string, unknown> | null;
  readonly dataspaceIds: readonly string[] | null;
  /** Lower-case names without the `x-app-` prefix. */
  readonly appHeaders: Record<string, string>;
  readonly metadata: Record<string, unknown> | null;
  /** Whether the messages have an agent's template around the prompt text. */
  readonly isTemplate?: boolean;
  readonly warnings: readonly Warning[];
  /** Absent for a completion. */
  readonly origin?: RunOrigin;
  /** `import_batches.sequence`; absent for runs that aren't imported. */
  readonly importBatch?: number;
}

/** How a run ended. */
export interface RunOutcome {
  readonly status: 'Completed' | 'Cancelled' | 'Failed';
  readonly content: string;
  readonly reasoning: string | null;
  /** Null if an imported log doesn't have it. */
  readonly finishReason: FinishReason | 'Cancelled' | 'Error' | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly usage: Usage | null;
  /** The provider's own usage object; absent if there is none. */
  readonly rawUsage?: RawUsage | null;
  /** Null if the price or the usage is unknown. The cost in an imported log has no day of prices. */
  readonly cost: RunCost | { readonly amount: number; readonly pricesFrom: null } | null;
  readonly credits: number;
  readonly firstTokenMs: number | null;
  /** Null if an imported log doesn't have it. */
  readonly totalMs: number | null;
  readonly completedAt: number;
  readonly citations: readonly Citation[];
  /** The sent prompt, or messages, with passages. They replace the rendered ones. */
  readonly sentPrompt?: string;
  readonly sentMessages?: readonly Message[] | null;
  /** The guard's findings; absent if it was off. */
  readonly moderation?: RunModeration | null;
  /** Of the response to a recorded call. */
  readonly httpStatus?: number;
  /** Of a recorded stream. */
  readonly frames?: FrameTiming;
  /** Absent where the model called no tool. */
  readonly toolCalls?: readonly ModelToolCall[];
}

/** How another program's call ended, before its response is read. The outcome is made of it. */
export interface UnreadOutcome extends Pick<RunOutcome, 'firstTokenMs' | 'completedAt'> {
  readonly api: CallApi;
  readonly httpStatus: number;
  readonly statusText: string;
  readonly totalMs: number;
  readonly prices: ModelPrices | null;
  /** The bytes of the response as Latin-1, whatever its charset is. */
  readonly body: string;
}

/** Reads what an earlier host had not read. */
export type ReadOutcome = (unread: UnreadOutcome) => RunOutcome;

/** Characters of a run's title and of a conversation's name. */
const titleLength = 120;

/** The first non-blank line of a rendered prompt, truncated to `titleLength`. */
export function titleOf(renderedPrompt: string): string {
  const text = renderedPrompt.trimStart();
  const end = text.indexOf('\n');
  const line = (end === -1 ? text : text.slice(0, end)).trimEnd();
  return startOfText(line, titleLength);
}

function fileNameIn({ content }: Message): string {
  return content.find((part) => part.type === 'file')?.name ?? '';
}

/** Elements that are skipped. More than programs write. */
const maxLeadingElements = 16;

/** Coding agents put what they know about a project before the user's words: `<system-reminder>...</system-reminder>`. */
function withoutLeadingElements(text: string): string {
  let rest = text.trimStart();
  for (let skipped = 0; skipped < maxLeadingElements; skipped++) {
    const [, name] = /^<([a-z][\w:-]{0,63})(?: [^<>\n]{0,500})?>/i.exec(rest) ?? [];
    const end = name === undefined ? -1 : rest.indexOf(`</${name}>`);
    if (end === -1) break;
    rest = rest.slice(end + `</${name}>`.length).trimStart();
  }
  return rest === '' ? text : rest;
}

/**
 * The title of a run: that of its last user message, or the name of its file. In a turn of an agent whose prompt is a template, that is what the user wrote,
 * because the rest is for those who may read the audit.
 */
export function runTitleOf(run: Pick<NewRun, 'promptText' | 'renderedPrompt' | 'messages' | 'isTemplate'>): string {
  if (run.isTemplate === true) return titleOf(run.promptText);
  const last = run.messages?.findLast(({ role }) => role === 'user');
  if (!last) return titleOf(run.renderedPrompt);
  return titleOf(withoutLeadingElements(textOfMessage(last))) || titleOf(fileNameIn(last));
}

/** Null for an empty list or object. Most runs have no headers, warnings or citations, and null needs no space. */
function jsonOrNull(value: object | null): string | null {
  if (value === null) return null;
  const json = JSON.stringify(value);
  return json === '[]' || json === '{}' ? null : json;
}

export function storedJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

export type OutcomeColumns = Pick<
  RunRow,
  | 'status'
  | 'completed_at'
  | 'first_token_ms'
  | 'total_ms'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'total_tokens'
  | 'cached_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'cost'
  | 'prices_from'
  | 'credits'
  | 'finish_reason'
  | 'error_code'
  | 'http_status'
  | 'moderation_flags'
>;
export type OutcomeTexts = Omit<OutcomeTextRow, 'run'>;

const unfinished: OutcomeColumns = {
  status: 'Running',
  completed_at: null,
  first_token_ms: null,
  total_ms: null,
  prompt_tokens: null,
  completion_tokens: null,
  total_tokens: null,
  cached_tokens: null,
  cache_write_tokens: null,
  reasoning_tokens: null,
  cost: null,
  prices_from: null,
  credits: 0,
  finish_reason: null,
  error_code: null,
  http_status: null,
  moderation_flags: null,
};
const noTexts: OutcomeTexts = {
  content: '',
  tool_calls_json: null,
  reasoning: null,
  error_message: null,
  citations_json: null,
  usage_json: null,
  moderation_json: null,
  frames_json: null,
};

function storedFlags(moderation: RunModeration | null | undefined): string | null {
  return moderation == null ? null : flagsOf(moderation).join(',') || null;
}

export function outcomeColumns(outcome: RunOutcome | null): OutcomeColumns {
  if (outcome === null) return unfinished;
  return {
    status: outcome.status,
    completed_at: outcome.completedAt,
    first_token_ms: outcome.firstTokenMs,
    total_ms: outcome.totalMs,
    prompt_tokens: outcome.usage?.prompt_tokens ?? null,
    completion_tokens: outcome.usage?.completion_tokens ?? null,
    total_tokens: outcome.usage?.total_tokens ?? null,
    cached_tokens: outcome.usage?.details?.cached_tokens ?? null,
    cache_write_tokens: outcome.usage?.details?.cache_write_tokens ?? null,
    reasoning_tokens: outcome.usage?.details?.reasoning_tokens ?? null,
    cost: outcome.cost?.amount ?? null,
    prices_from: outcome.cost?.pricesFrom ?? null,
    credits: outcome.credits,
    finish_reason: outcome.finishReason,
    error_code: outcome.error?.code ?? null,
    http_status: outcome.httpStatus ?? null,
    moderation_flags: storedFlags(outcome.moderation),
  };
}

/** Characters of a usage object as JSON: many times what any provider sends. A longer one is not stored. */
const maxRawUsageCharacters = 16_384;

function usageJson(rawUsage: RawUsage | null): string | null {
  const json = jsonOrNull(rawUsage);
  return json !== null && json.length > maxRawUsageCharacters ? null : json;
}

export function outcomeTexts(outcome: RunOutcome | null): OutcomeTexts {
  if (outcome === null) return noTexts;
  return {
    content: outcome.content,
    tool_calls_json: storedJson(outcome.toolCalls ?? null),
    reasoning: outcome.reasoning,
    error_message: outcome.error?.message ?? null,
    citations_json: jsonOrNull(outcome.citations),
    usage_json: usageJson(outcome.rawUsage ?? null),
    moderation_json: storedJson(outcome.moderation ?? null),
    frames_json: storedJson(outcome.frames ?? null),
  };
}

export interface RunPosition {
  readonly sequence: number;
  readonly conversation: number;
}

export function runRow(run: NewRun, outcome: RunOutcome | null, position: RunPosition, draftId: string | null): RunRow {
  return {
    ...position,
    ...outcomeColumns(outcome),
    id: run.runId,
    message_id: run.messageId,
    caller_id: run.callerId,
    api_key_id: run.apiKeyId,
    prompt_id: run.promptId,
    prompt_version_id: run.promptVersionId,
    ai_system: run.aiSystem,
    model: run.model,
    served_by: run.servedBy,
    created_at: run.createdAt,
    title: runTitleOf(run),
    draft_id: draftId,
    app_headers_json: jsonOrNull(run.appHeaders),
    origin_api: run.origin?.api ?? 'completions',
    origin_client: run.origin?.client ?? null,
    import_batch: run.importBatch ?? null,
  };
}

/** `lastMessage` is null for messages that aren't shared. */
export function runTextRow(
  run: NewRun,
  outcome: RunOutcome | null,
  { sequence, lastMessage }: { readonly sequence: number; readonly lastMessage: number | null },
): RunTextRow {
  return {
    ...outcomeTexts(outcome),
    run: sequence,
    prompt_text: run.promptText,
    system_message: run.systemMessage,
    replacements_json: storedJson(run.replacements),
    rendered_prompt: outcome?.sentPrompt ?? run.renderedPrompt,
    messages_json: lastMessage === null ? storedJson(outcome?.sentMessages ?? run.messages ?? null) : null,
    last_message: lastMessage,
    configuration_json: storedJson(run.configuration),
    dataspace_ids_json: storedJson(run.dataspaceIds as string[] | null),
    metadata_json: storedJson(run.metadata),
    warnings_json: jsonOrNull(run.warnings),
  };
}
