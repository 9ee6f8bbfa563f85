import type { Message } from '../../../shared/contract/messages.ts';
import {
  durationOf,
  finishReasonOf,
  isRecord,
  type LeftOut,
  type LogAnswer,
  type LogCall,
  type LogRecord,
  type LogUsage,
  noAnswer,
  numberOf,
  parsedJson,
  readAnswer,
  readMessages,
  textOf,
  timeOf,
  tokensOf,
} from './log-call.ts';
import { readConfiguration } from './log-configuration.ts';

/** Reads spans of OpenTelemetry in OTLP's JSON format. https://github.com/open-telemetry/semantic-conventions-genai */

/** A value of OTLP: `{"stringValue": "x"}` and so on. */
function valueOf(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = value;
  if (stringValue !== undefined) return stringValue;
  // 64-bit integers are texts.
  if (intValue !== undefined) return Number(intValue);
  if (doubleValue !== undefined) return Number(doubleValue);
  if (boolValue !== undefined) return boolValue;
  if (isRecord(arrayValue)) return listIn(arrayValue, 'values').map(valueOf);
  return isRecord(kvlistValue) ? attributesOf(kvlistValue['values']) : null;
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = isRecord(value) ? value[name] : null;
  return Array.isArray(list) ? list : [];
}

function attributesOf(list: unknown): LogRecord {
  if (!Array.isArray(list)) return {};
  return Object.fromEntries(
    list.flatMap((item: unknown) =>
      isRecord(item) && typeof item['key'] === 'string' ? [[item['key'], valueOf(item['value'])] as const] : [],
    ),
  );
}

function nanoseconds(value: unknown): number | null {
  const number = numberOf(value);
  return number === null ? null : timeOf(number / 1e6);
}

/** Operations that call a model for an answer. */
const calls = new Set(['chat', 'text_completion', 'generate_content', 'completion']);

/** Why a span isn't a call; null for a call. */
function reasonToLeaveOut(attributes: LogRecord): string | null {
  const operation = textOf(attributes['gen_ai.operation.name']) ?? textOf(attributes['llm.request.type']);
  if (operation === 'embeddings') return 'Embeddings, which have no answer';
  if (operation !== null)
    return calls.has(operation) ? null : `Operation "${operation.slice(0, 60)}" is not a call of a model`;
  const hasModel = 'gen_ai.request.model' in attributes || 'gen_ai.response.model' in attributes;
  return hasModel ? null : 'Spans without a call of a model';
}

/** Indexed attributes of OpenLLMetry: `gen_ai.prompt.0.role`. */
function indexedMessages(attributes: LogRecord, prefix: string): LogRecord[] {
  const messages: Record<string, unknown>[] = [];
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(prefix)) continue;
    const [position, ...path] = name.slice(prefix.length).split('.');
    const index = tokensOf(position);
    if (index === null || index > 10_000 || path.length === 0) continue;
    const message = (messages[index] ??= { role: 'user', tool_calls: [] as Record<string, unknown>[] });
    if (path[0] !== 'tool_calls') message[path[0]!] = value;
    else if (path.length === 3) {
      const list = message['tool_calls'] as Record<string, unknown>[];
      const call = tokensOf(path[1]);
      if (call !== null && call < 128) (list[call] ??= {})[path[2]!] = value;
    }
  }
  return messages.filter((message) => message !== undefined);
}

interface SpanEvent {
  readonly name: string;
  readonly attributes: LogRecord;
}

/** Events for each message, as until version 1.36 of the conventions. */
const messageEvents: Readonly<Record<string, Message['role']>> = {
  'gen_ai.system.message': 'system',
  'gen_ai.user.message': 'user',
  'gen_ai.assistant.message': 'assistant',
  'gen_ai.tool.message': 'tool',
};

interface Content {
  readonly messages: readonly Message[];
  readonly answer: LogAnswer;
  readonly finishReason: unknown;
}

function contentOfAttributes(attributes: LogRecord): Content | null {
  const input = parsedJson(attributes['gen_ai.input.messages']);
  const output = parsedJson(attributes['gen_ai.output.messages']);
  const system = attributes['gen_ai.system_instructions'];
  if (input === undefined && output === undefined) return null;
  const [choice] = Array.isArray(output) ? (output as unknown[]) : [];
  const instructions = parsedJson(system) ?? null;
  return {
    messages: [
      ...(instructions === null ? [] : readMessages([{ role: 'system', content: instructions }])),
      ...readMessages(input),
    ],
    answer: readAnswer(output),
    finishReason: isRecord(choice) ? choice['finish_reason'] : null,
  };
}

function bodyOf({ attributes }: SpanEvent): LogRecord {
  const body = parsedJson(attributes['gen_ai.event.content'] ?? attributes['event.body'] ?? attributes['body']);
  return isRecord(body) ? body : attributes;
}

function contentOfEvents(events: readonly SpanEvent[]): Content | null {
  const messages: LogRecord[] = [];
  let choice: LogRecord | null = null;
  for (const event of events) {
    const role = messageEvents[event.name];
    if (role !== undefined) messages.push({ role, ...bodyOf(event) });
    else if (event.name === 'gen_ai.choice') choice ??= bodyOf(event);
    else if (event.name === 'gen_ai.content.prompt') {
      const prompt = parsedJson(event.attributes['gen_ai.prompt']);
      messages.push(...(Array.isArray(prompt) ? prompt.filter(isRecord) : [{ role: 'user', content: prompt }]));
    } else if (event.name === 'gen_ai.content.completion')
      choice ??= { message: event.attributes['gen_ai.completion'] };
  }
  if (messages.length === 0 && choice === null) return null;
  const answer = choice === null ? noAnswer : readAnswer(choice['message'] ?? choice);
  return {
    messages: readMessages(messages.map((message) => ({ ...message, tool_calls: parsedJson(message['tool_calls']) }))),
    answer,
    finishReason: choice?.['finish_reason'] ?? null,
  };
}

/** Attributes of the AI SDK beside those of the conventions, which have no content there. */
function contentOfAiSdk(attributes: LogRecord): Content | null {
  const prompt = attributes['ai.prompt.messages'];
  if (prompt === undefined) return null;
  const toolCalls = parsedJson(attributes['ai.response.toolCalls']);
  const content = [
    { type: 'reasoning', text: attributes['ai.response.reasoning'] },
    { type: 'text', text: attributes['ai.response.text'] ?? attributes['ai.response.object'] },
    ...(Array.isArray(toolCalls) ? toolCalls.filter(isRecord).map((call) => ({ ...call, type: 'tool-call' })) : []),
  ].filter((part) => !('text' in part) || textOf(part.text) !== null);
  return {
    messages: readMessages(prompt),
    answer: content.length === 0 ? noAnswer : readAnswer({ role: 'assistant', content }),
    finishReason: attributes['ai.response.finishReason'],
  };
}

function contentOf(attributes: LogRecord, events: readonly SpanEvent[]): Content {
  const details = events.find(({ name }) => name === 'gen_ai.client.inference.operation.details');
  const found =
    contentOfAttributes(attributes) ??
    (details && contentOfAttributes(details.attributes)) ??
    contentOfAiSdk(attributes) ??
    contentOfEvents(events);
  if (found) return found;
  const prompts = indexedMessages(attributes, 'gen_ai.prompt.');
  const [completion = null] = indexedMessages(attributes, 'gen_ai.completion.');
  return {
    messages: prompts.length > 0 ? readMessages(prompts) : readMessages(attributes['gen_ai.prompt']),
    answer: readAnswer(completion ?? attributes['gen_ai.completion']),
    finishReason: completion?.['finish_reason'] ?? null,
  };
}

function usageOf(attributes: LogRecord): LogUsage {
  const tokens = (...names: string[]) =>
    names.map((name) => tokensOf(attributes[name])).find((count) => count !== null) ?? null;
  const raw = Object.entries(attributes).filter(([name]) => name.startsWith('gen_ai.usage.'));
  return {
    prompt: tokens('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'),
    completion: tokens('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'),
    total: tokens('gen_ai.usage.total_tokens', 'llm.usage.total_tokens'),
    cached: tokens('gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'),
    cacheWrite: tokens(
      'gen_ai.usage.cache_write.input_tokens',
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
    ),
    reasoning: tokens('gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'),
    raw: raw.length === 0 ? null : Object.fromEntries(raw),
  };
}

/** Each is JSON. */
function toolsOfAiSdk(attributes: LogRecord): unknown[] | undefined {
  const tools = attributes['ai.prompt.tools'];
  return Array.isArray(tools) ? tools.map(parsedJson).map(withParameters) : undefined;
}

function withParameters(tool: unknown): unknown {
  return isRecord(tool) && isRecord(tool['inputSchema']) ? { ...tool, parameters: tool['inputSchema'] } : tool;
}

const requestPrefix = 'gen_ai.request.';

function configurationOf(attributes: LogRecord): LogCall['configuration'] {
  const request = Object.entries(attributes).flatMap(([name, value]) =>
    name.startsWith(requestPrefix) ? [[name.slice(requestPrefix.length), value] as const] : [],
  );
  return readConfiguration({
    ...Object.fromEntries(request),
    reasoning_effort: attributes['gen_ai.request.reasoning.level'],
    tools: attributes['gen_ai.tool.definitions'] ?? toolsOfAiSdk(attributes),
  });
}

function errorOf(span: LogRecord, attributes: LogRecord): string | null {
  const status = isRecord(span['status']) ? span['status'] : {};
  const type = textOf(attributes['error.type']);
  const isFailed = status['code'] === 2 || status['code'] === 'STATUS_CODE_ERROR' || type !== null;
  if (!isFailed) return null;
  return [type, textOf(status['message'])].filter((text) => text !== null).join(': ') || 'The call failed';
}

function readSpan(span: LogRecord, resource: LogRecord): LogCall | LeftOut {
  const attributes = attributesOf(span['attributes']);
  const leftOut = reasonToLeaveOut(attributes);
  if (leftOut !== null) return { leftOut };
  const [traceId, spanId] = [textOf(span['traceId']), textOf(span['spanId'])];
  if (traceId === null || spanId === null) return { leftOut: 'Spans without a trace ID and a span ID' };
  const startedAt = nanoseconds(span['startTimeUnixNano']);
  const endedAt = nanoseconds(span['endTimeUnixNano']);
  const events = listIn(span, 'events').flatMap((event): SpanEvent[] =>
    isRecord(event) ? [{ name: textOf(event['name']) ?? '', attributes: attributesOf(event['attributes']) }] : [],
  );
  const { messages, answer, finishReason } = contentOf(attributes, events);
  const [reason] = Array.isArray(attributes['gen_ai.response.finish_reasons'])
    ? (attributes['gen_ai.response.finish_reasons'] as unknown[])
    : [];
  const conversation = textOf(attributes['gen_ai.conversation.id']) ?? textOf(attributes['session.id']);
  const firstTokenSeconds = numberOf(
    attributes['gen_ai.response.time_to_first_chunk'] ?? attributes['gen_ai.server.time_to_first_token'],
  );
  const firstChunkMs = attributes['ai.response.msToFirstChunk'];
  return {
    key: `${traceId.toLowerCase()}:${spanId.toLowerCase()}`,
    conversationKey: conversation ?? traceId.toLowerCase(),
    provider: textOf(attributes['gen_ai.provider.name']) ?? textOf(attributes['gen_ai.system']),
    model: textOf(attributes['gen_ai.request.model']) ?? textOf(attributes['gen_ai.response.model']),
    startedAt,
    endedAt,
    totalMs: startedAt === null || endedAt === null || endedAt < startedAt ? null : endedAt - startedAt,
    firstTokenMs: durationOf(firstTokenSeconds === null ? firstChunkMs : firstTokenSeconds * 1000),
    messages,
    answer,
    finishReason: finishReasonOf(finishReason) ?? finishReasonOf(reason),
    error: errorOf(span, attributes),
    usage: usageOf(attributes),
    cost: null,
    configuration: configurationOf(attributes),
    client: textOf(resource['service.name']),
    metadata: {
      traceId,
      spanId,
      ...(conversation === null ? {} : { conversation }),
      ...(textOf(attributes['gen_ai.response.id']) === null ? {} : { responseId: attributes['gen_ai.response.id'] }),
    },
  };
}

/** Whether a value is a request of OTLP, as collectors write them to files. */
export function isOtlp(value: unknown): value is LogRecord {
  return isRecord(value) && (Array.isArray(value['resourceSpans']) || Array.isArray(value['resource_spans']));
}

/** A value with its fields in camel case. Names of attributes are values. */
function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (!isRecord(value)) return value;
  const nameOf = (name: string) => name.replaceAll(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [nameOf(name), inCamelCase(inner)]));
}

/** The spans of a request in the order of their start. */
export function otlpCalls(request: LogRecord): (LogCall | LeftOut)[] {
  // Some programs write the names of the protocol's definition.
  const read = 'resource_spans' in request ? inCamelCase(request) : request;
  const found = listIn(read, 'resourceSpans').flatMap((resourceSpan) => {
    const resource = isRecord(resourceSpan) ? resourceSpan['resource'] : null;
    const details = attributesOf(isRecord(resource) ? resource['attributes'] : null);
    return listIn(resourceSpan, 'scopeSpans')
      .flatMap((scope) => listIn(scope, 'spans'))
      .map((span) => (isRecord(span) ? readSpan(span, details) : { leftOut: 'Spans that are no objects' }));
  });
  const startOf = (item: LogCall | LeftOut) => ('leftOut' in item ? 0 : (item.startedAt ?? 0));
  return found.toSorted((one, other) => startOf(one) - startOf(other));
}
