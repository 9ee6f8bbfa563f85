import { createHash } from 'node:crypto';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { type Message, textMessage } from '../../../shared/contract/messages.ts';
import type { ToolCall } from '../../../shared/contract/tools.ts';
import { limitCalls, limitMessages, limitText } from '../../passthrough/record-limits.ts';
import type { NewRun, RunOutcome } from '../../storage/run-rows.ts';

/** An ended run as it was recorded. */
export interface EndedRun {
  readonly run: NewRun;
  readonly outcome: RunOutcome;
}

type Value = string | number | boolean | readonly string[] | null | undefined;

/** Collectors may type an attribute by its first value, so these are never whole numbers. */
const doubles = new Set([
  'gen_ai.request.temperature',
  'gen_ai.request.top_p',
  'gen_ai.response.time_to_first_chunk',
  'touchstone.cost.usd',
]);

function valueOf(key: string, value: NonNullable<Value>): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isInteger(value) && !doubles.has(key) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((item) => ({ stringValue: item })) } };
}

/** Attributes without those that are unknown. */
export function attributesOf(values: Readonly<Record<string, Value>>): object[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: valueOf(key, value) }],
  );
}

/** Names of providers in the conventions. */
const providers: Readonly<Record<AiSystem, string>> = {
  ServiceAi: 'touchstone',
  OpenAi: 'openai',
  Anthropic: 'anthropic',
  GoogleGemini: 'gcp.gemini',
  Groq: 'groq',
  Cohere: 'cohere',
  OpenAiCompatible: 'openai_compatible',
};

const finishReasons: Readonly<Record<string, string>> = {
  Stop: 'stop',
  Length: 'length',
  ContentFilter: 'content_filter',
  ToolCalls: 'tool_call',
  Error: 'error',
};

function callPart({ id, name, arguments: text }: ToolCall): object {
  return { type: 'tool_call', id, name, arguments: text };
}

function partsOf({ content }: Message): object[] {
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', content: part.text };
    if (part.type === 'toolCall') return callPart(part);
    if (part.type === 'toolResult') return { type: 'tool_call_response', id: part.toolCallId, response: part.content };
    return { type: 'file', modality: 'document', mime_type: part.mediaType, file_id: part.fileId };
  });
}

/** What a span has of a run's texts: collectors reject requests of a few megabytes. The newest messages stay. */
const limits = { parts: 1024, characters: 262_144, cutMessages: 1 };

function contentOf({ run, outcome }: EndedRun): Record<string, Value> {
  const all = outcome.sentMessages ?? run.messages ?? [textMessage('user', outcome.sentPrompt ?? run.renderedPrompt)];
  const { messages } = limitMessages(all, 0, limits);
  const text = limitText(outcome.content, limits.characters);
  const system = run.systemMessage === null ? null : limitText(run.systemMessage, limits.characters);
  const answer = [
    ...(text === '' ? [] : [{ type: 'text', content: text }]),
    ...limitCalls(outcome.toolCalls ?? [], limits).map(callPart),
  ];
  const reason = finishReasons[outcome.finishReason ?? ''] ?? 'stop';
  return {
    'gen_ai.system_instructions': system === null ? null : JSON.stringify([{ type: 'text', content: system }]),
    'gen_ai.input.messages': JSON.stringify(messages.map((each) => ({ role: each.role, parts: partsOf(each) }))),
    'gen_ai.output.messages':
      answer.length === 0 ? null : JSON.stringify([{ role: 'assistant', parts: answer, finish_reason: reason }]),
  };
}

function numberIn(configuration: NewRun['configuration'], name: string): number | null {
  const value = configuration?.[name];
  return typeof value === 'number' ? value : null;
}

const operationOf = ({ origin }: NewRun) => (origin?.api === 'openai-embeddings' ? 'embeddings' : 'chat');

function metadataOf({ run, outcome }: EndedRun): Record<string, Value> {
  const { usage, finishReason } = outcome;
  const number = (name: string) => numberIn(run.configuration, name);
  const reason = finishReasons[finishReason ?? ''];
  return {
    'gen_ai.operation.name': operationOf(run),
    'gen_ai.provider.name': providers[run.aiSystem],
    'gen_ai.request.model': run.model,
    'gen_ai.conversation.id': run.conversationId,
    'gen_ai.request.temperature': number('temperature'),
    'gen_ai.request.top_p': number('top_p'),
    'gen_ai.request.max_tokens': number('max_tokens'),
    'gen_ai.request.seed': number('seed'),
    'gen_ai.response.finish_reasons': reason === undefined ? null : [reason],
    'gen_ai.response.time_to_first_chunk': outcome.firstTokenMs === null ? null : outcome.firstTokenMs / 1000,
    'gen_ai.usage.input_tokens': usage?.prompt_tokens,
    'gen_ai.usage.output_tokens': usage?.completion_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.details?.cached_tokens,
    'gen_ai.usage.cache_write.input_tokens': usage?.details?.cache_write_tokens,
    'gen_ai.usage.reasoning.output_tokens': usage?.details?.reasoning_tokens,
    'error.type': outcome.error?.code,
    'touchstone.run.id': run.runId,
    'touchstone.origin.api': run.origin?.api ?? 'completions',
    'touchstone.origin.client': run.origin?.client,
    'touchstone.cost.usd': outcome.cost?.amount,
  };
}

function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`;
}

/** A run as a span of OTLP. The runs of a conversation are one trace. */
export function spanOf(ended: EndedRun, hasContent: boolean): object {
  const { run, outcome } = ended;
  const isFailed = outcome.status === 'Failed';
  return {
    traceId: run.conversationId.replaceAll('-', ''),
    spanId: createHash('sha256').update(run.runId).digest('hex').slice(0, 16),
    name: `${operationOf(run)} ${run.model}`,
    // A client.
    kind: 3,
    startTimeUnixNano: nanoseconds(run.createdAt),
    endTimeUnixNano: nanoseconds(outcome.completedAt),
    attributes: attributesOf({ ...metadataOf(ended), ...(hasContent ? contentOf(ended) : {}) }),
    // A message of an error can quote the prompt.
    status: isFailed ? { code: 2, ...(hasContent && { message: outcome.error?.message ?? '' }) } : { code: 0 },
  };
}
