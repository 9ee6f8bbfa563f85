import { createHash } from 'node:crypto';
import type { RedactionRule } from '../../../shared/contract/audit-exports.ts';
import { type AiSystem, keyedProviders, type RecordLevel } from '../../../shared/contract/common.ts';
import { type Message, textOfMessage, textOfMessages } from '../../../shared/contract/messages.ts';
import type { Usage } from '../../../shared/contract/completions.ts';
import type { LogFormat } from '../../../shared/contract/log-imports.ts';
import { findEntry } from '../../providers/catalogue.ts';
import { cataloguePrices, costOf } from '../../providers/model-prices.ts';
import type { NewRun, RunOutcome } from '../../storage/run-rows.ts';
import { redactedCall, redactedMessages, redactorOf } from '../../passthrough/read-call.ts';
import { limitAnswer, limitFields, limitMessages, limitText } from '../../passthrough/record-limits.ts';
import { messageKeys } from '../../storage/stored-messages.ts';
import { type LogCall, type LogUsage, noAnswer } from './log-call.ts';

/** A run as it is stored, with the origin of its cost. */
export interface ImportedRun {
  readonly run: NewRun;
  readonly outcome: RunOutcome;
  readonly earlierId: string;
  readonly costFrom: 'log' | 'catalogue' | null;
}

/** A UUID of version 8 of a text: the same in every import. */
function stableId(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Names of providers in the conventions of OpenTelemetry and in other logs. */
const systems: Readonly<Record<string, AiSystem>> = {
  openai: 'OpenAi',
  anthropic: 'Anthropic',
  'gcp.gemini': 'GoogleGemini',
  'gcp.gen_ai': 'GoogleGemini',
  gemini: 'GoogleGemini',
  google: 'GoogleGemini',
  groq: 'Groq',
  cohere: 'Cohere',
};

const maxNameCharacters = 200;

/** The AI SDK writes the API after a point: `openai.chat`, `google.generative-ai`. */
function systemOf(provider: string): AiSystem | undefined {
  const name = provider.toLowerCase();
  const known = [name, name.split('.', 1)[0]!].find((each) => Object.hasOwn(systems, each));
  return known === undefined ? undefined : systems[known];
}

/** The provider and model as the audit names them. Others than ours are `<provider>/<model>`, like compatible endpoints. */
function modelOf({ provider, model }: LogCall): { aiSystem: AiSystem; model: string } {
  const name = (model ?? 'unknown').slice(0, maxNameCharacters);
  const known = provider === null ? undefined : systemOf(provider);
  if (known !== undefined) return { aiSystem: known, model: name };
  const listed = provider === null ? keyedProviders.find((system) => findEntry(system, name) !== null) : undefined;
  if (listed !== undefined) return { aiSystem: listed, model: name };
  return { aiSystem: 'OpenAiCompatible', model: `${(provider ?? 'unknown').slice(0, maxNameCharacters)}/${name}` };
}

/** Null unless the log reports both counts: an unreported count is never 0. */
function usageOf({ prompt, completion, total, cached, cacheWrite, reasoning }: LogUsage): Usage | null {
  if (prompt === null || completion === null) return null;
  const totals = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total ?? prompt + completion };
  if (cached === null && cacheWrite === null && reasoning === null) return totals;
  return { ...totals, details: { cached_tokens: cached, cache_write_tokens: cacheWrite, reasoning_tokens: reasoning } };
}

type Cost = Pick<ImportedRun, 'costFrom'> & { readonly cost: RunOutcome['cost'] };

function costOfCall(call: LogCall, { aiSystem, model }: ReturnType<typeof modelOf>, usage: Usage | null): Cost {
  if (call.cost !== null && call.cost >= 0) return { cost: { amount: call.cost, pricesFrom: null }, costFrom: 'log' };
  const system = keyedProviders.find((name) => name === aiSystem);
  if (usage === null || system === undefined) return { cost: null, costFrom: null };
  const cost = costOf(cataloguePrices(findEntry(system, model)), usage, call.usage.raw);
  return { cost, costFrom: cost === null ? null : 'catalogue' };
}

/** Values of what a log says about a call beside its messages. */
const maxMetadataValues = 5000;
const maxUsageValues = 500;

function outcomeOf(
  call: LogCall,
  served: ReturnType<typeof modelOf>,
  startedAt: number,
): Pick<ImportedRun, 'outcome' | 'costFrom'> {
  const usage = usageOf(call.usage);
  const { cost, costFrom } = costOfCall(call, served, usage);
  const isFailed = call.error !== null;
  const answer = limitAnswer(call.answer);
  const outcome: RunOutcome = {
    status: isFailed ? 'Failed' : 'Completed',
    content: answer.content,
    reasoning: answer.reasoning,
    finishReason: isFailed ? 'Error' : (call.finishReason ?? (call.answer.toolCalls.length > 0 ? 'ToolCalls' : null)),
    error: isFailed ? { code: 'provider_failed', message: call.error } : null,
    usage,
    rawUsage: call.usage.raw && limitFields(call.usage.raw, maxUsageValues),
    cost,
    credits: 0,
    firstTokenMs: call.firstTokenMs,
    totalMs: call.totalMs,
    completedAt: Math.max(call.endedAt ?? startedAt, startedAt),
    citations: [],
    ...(answer.toolCalls.length > 0 && { toolCalls: answer.toolCalls }),
  };
  return { outcome, costFrom };
}

/** Messages that are noted; after them it starts again, and a text is stored and found twice. */
const maxSeenMessages = 500_000;

/** The messages of the calls before. Programs repeat their conversation with every call. */
export class SeenMessages {
  readonly #keys = new Set<string>();

  /** Where the messages begin that no call before had: at the latest after the last answer. `keys` are those of `messageKeys`. */
  firstNew(messages: readonly Message[], keys: readonly string[]): number {
    const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
    let first = keys.findIndex((key) => !this.#keys.has(key));
    // It is the answer of the call before.
    if (first > 0 && messages[first]!.role === 'assistant') first += 1;
    if (this.#keys.size > maxSeenMessages) this.#keys.clear();
    for (const key of keys) this.#keys.add(key);
    return first === -1 ? lastAnswer + 1 : Math.min(first, lastAnswer + 1);
  }
}

export interface CallSource {
  /** Null if the run isn't stored. */
  readonly seen: SeenMessages | null;
  readonly format: LogFormat;
  /** Identifies the data folder. */
  readonly hostId: string;
  readonly callerId: string;
  readonly apiKeyId: string | null;
  /** The time of calls whose log has none. */
  readonly importedAt: number;
  readonly level: Exclude<RecordLevel, 'none'>;
  readonly rules: readonly RedactionRule[];
}

/**
 * The ID of a call's run, which is another one on each host: in a team database, two hosts that import one log each have their own runs.
 * `earlierId` is that of earlier versions, for calls that are stored already.
 */
export function runIdsOf(call: LogCall, { format, hostId }: Pick<CallSource, 'format' | 'hostId'>) {
  return { runId: stableId('run', format, call.key, hostId), earlierId: stableId('run', format, call.key) };
}

/** What the level and the rules leave of a call. What a log says beside the messages can be anything, so it is no metadata here. */
function recordedCall(call: LogCall, { level, rules }: Pick<CallSource, 'level' | 'rules'>): LogCall {
  const redactor = rules.length === 0 ? null : redactorOf(rules);
  const clean = (text: string | null) => (text === null || redactor === null ? text : redactor.text(text));
  const { answer, messages, configuration, metadata } = call;
  const client = clean(call.client);
  if (level === 'metadata') {
    const error = call.error === null ? null : '';
    return { ...call, client, error, messages: [], answer: noAnswer, configuration: null, metadata: {} };
  }
  if (redactor === null) return call;
  return {
    ...call,
    client,
    error: clean(call.error),
    messages: redactedMessages(messages, redactor),
    answer: {
      content: redactor.text(answer.content),
      reasoning: clean(answer.reasoning),
      toolCalls: answer.toolCalls.map((each) => redactedCall(each, redactor)),
    },
    configuration: redactor.value(configuration) as LogCall['configuration'],
    metadata: redactor.value(metadata) as LogCall['metadata'],
  };
}

/** The run of a call. Its conversation belongs to the caller that imports it. */
export function runOfCall(read: LogCall, source: CallSource): ImportedRun {
  const { format, callerId, apiKeyId, importedAt, seen } = source;
  const call = recordedCall(read, source);
  const served = modelOf(call);
  const startedAt = call.startedAt ?? importedAt;
  const [first] = call.messages;
  const system = first?.role === 'system' && call.messages.length > 1 ? textOfMessage(first) : null;
  const { messages } = limitMessages(system === null ? call.messages : call.messages.slice(1), 0);
  const [only] = messages;
  const isText = messages.length === 1 && only?.role === 'user' && only.content.every(({ type }) => type === 'text');
  const keys = isText || seen === null ? [] : messageKeys(messages);
  const firstNew = keys.length === 0 ? 0 : seen!.firstNew(messages, keys);
  const { runId, earlierId } = runIdsOf(call, source);
  const run: NewRun = {
    runId,
    messageId: stableId('message', format, call.key),
    conversationId: stableId('conversation', format, callerId, call.conversationKey),
    workspaceId: null,
    callerId,
    apiKeyId,
    promptId: null,
    promptVersionId: null,
    ...served,
    servedBy: `${served.aiSystem}/${served.model}`,
    createdAt: startedAt,
    // The messages have it.
    promptText: '',
    systemMessage: system === null ? null : limitText(system),
    replacements: null,
    renderedPrompt: textOfMessages(messages.slice(firstNew)),
    messages: isText ? null : messages,
    messageKeys: keys,
    configuration: call.configuration && limitFields(call.configuration),
    dataspaceIds: null,
    appHeaders: {},
    metadata: limitFields(call.metadata, maxMetadataValues),
    warnings: [],
    origin: { api: 'import', client: call.client?.slice(0, maxNameCharacters) ?? null },
  };
  return { run, earlierId, ...outcomeOf(call, served, startedAt) };
}
