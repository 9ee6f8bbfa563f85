import { type Message, type MessagePart, textMessage } from '../../../shared/contract/messages.ts';
import { limitLevels } from '../../passthrough/fields.ts';
import type { FinishReason } from '../../../shared/contract/completions.ts';
import type { ToolCall } from '../../../shared/contract/tools.ts';

/** Tokens as a log reports them; null for what it doesn't report, which is never 0. */
export interface LogUsage {
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly total: number | null;
  readonly cached: number | null;
  readonly cacheWrite: number | null;
  readonly reasoning: number | null;
  /** The object or attributes that they are from. */
  readonly raw: Readonly<Record<string, unknown>> | null;
}

/** What a model answered. */
export interface LogAnswer {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly reasoning: string | null;
}

/** One call of a model in any log. */
export interface LogCall {
  /** Identifies the call in its kind of log, so that importing it twice stores it once. */
  readonly key: string;
  /** Equal for the calls of one conversation. */
  readonly conversationKey: string;
  readonly provider: string | null;
  readonly model: string | null;
  /** Milliseconds since 1970; null if the log has no time. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly totalMs: number | null;
  readonly firstTokenMs: number | null;
  readonly messages: readonly Message[];
  readonly answer: LogAnswer;
  readonly finishReason: FinishReason | null;
  readonly error: string | null;
  readonly usage: LogUsage;
  /** US dollars. */
  readonly cost: number | null;
  readonly configuration: Readonly<Record<string, unknown>> | null;
  readonly client: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An entry of a log that isn't imported, with the reason for a person. */
export interface LeftOut {
  readonly leftOut: string;
}

export type LogRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is LogRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A number, also as text. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** A count of tokens; null for anything else. */
export function tokensOf(value: unknown): number | null {
  const number = numberOf(value);
  return number !== null && Number.isInteger(number) && number >= 0 && number <= 1e12 ? number : null;
}

/** Cells and attributes often have JSON as text. */
export function parsedJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return limitLevels(JSON.parse(value));
  } catch {
    return value;
  }
}

function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

/** Runs of a year that JavaScript or SQLite can't express would break the order of all runs. */
const maxTime = Date.UTC(2200, 0, 1);

export function timeOf(milliseconds: number | null): number | null {
  return milliseconds !== null && milliseconds > 0 && milliseconds < maxTime ? Math.round(milliseconds) : null;
}

const maxDuration = 365 * 86_400_000;

/** Milliseconds that a call took; null for a number that can't be that. */
export function durationOf(value: unknown): number | null {
  const milliseconds = numberOf(value);
  return milliseconds !== null && milliseconds >= 0 && milliseconds <= maxDuration ? milliseconds : null;
}

/** When a call ended. */
export function endOf(startedAt: number | null, totalMs: number | null): number | null {
  return startedAt === null || totalMs === null ? null : timeOf(startedAt + totalMs);
}

/** Of seconds or their parts since 1970. In the years of models, each unit has numbers of another length. */
function millisecondsOf(number: number): number {
  if (number < 1e11) return number * 1000;
  if (number < 1e14) return number;
  return number < 1e17 ? number / 1e3 : number / 1e6;
}

/** ISO 8601, which JavaScript reads as local time unless it is in UTC or has a zone. */
const isoWithoutZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;
const withZone = /(?:z|[a-z]{3,4}|(?::\d{2}(?:\.\d+)?|gmt|utc|[ap]m) ?[+-]\d{2}(?::?\d{2})?)\)?$/i;

/** The day comes first in dates with points, which JavaScript reads as the month. */
const withPoints = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? (\d{1,2}:\d{2}(?::\d{2})?))?$/;

/** A date, which is in UTC unless it has a zone, or a number since 1970. */
export function readTime(value: unknown): number | null {
  const number = numberOf(value);
  if (number !== null) return timeOf(millisecondsOf(number));
  if (typeof value !== 'string') return null;
  const given = value.trim();
  if (isoWithoutZone.test(given)) return timeOf(Date.parse(`${given.replace(' ', 'T')}Z`) || null);
  const [, day, month, year, time = ''] = withPoints.exec(given) ?? [];
  const text = year === undefined ? given : `${month}/${day}/${year} ${time}`;
  return timeOf(Date.parse(withZone.test(text) ? text : `${text} UTC`) || null);
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'Stop',
  end_turn: 'Stop',
  stop_sequence: 'Stop',
  complete: 'Stop',
  length: 'Length',
  max_tokens: 'Length',
  max_output_tokens: 'Length',
  content_filter: 'ContentFilter',
  refusal: 'ContentFilter',
  safety: 'ContentFilter',
  tool_calls: 'ToolCalls',
  'tool-calls': 'ToolCalls',
  'content-filter': 'ContentFilter',
  tool_call: 'ToolCalls',
  tool_use: 'ToolCalls',
  function_call: 'ToolCalls',
};

/** Null for a reason that isn't reported or known. */
export function finishReasonOf(value: unknown): FinishReason | null {
  const name = typeof value === 'string' ? value.toLowerCase() : '';
  return Object.hasOwn(finishReasons, name) ? finishReasons[name]! : null;
}

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  model: 'assistant',
  ai: 'assistant',
  tool: 'tool',
  function: 'tool',
};

export function roleOf(value: unknown): Message['role'] {
  const name = typeof value === 'string' ? value.toLowerCase() : '';
  return Object.hasOwn(roles, name) ? roles[name]! : 'user';
}

/** Those with a hyphen are of the AI SDK. */
const toolCallTypes = new Set(['tool_call', 'tool_use', 'function_call', 'server_tool_call', 'tool-call']);
const toolResultTypes = new Set(['tool_call_response', 'tool_result', 'function_call_output', 'tool-result']);
const thinkingTypes = new Set(['reasoning', 'thinking']);

function toolCallOf(part: LogRecord): ToolCall {
  const definition = isRecord(part['function']) ? part['function'] : part;
  return {
    // An item of the Responses API has an ID of its own as well.
    id: textOf(part['call_id']) ?? textOf(part['id']) ?? textOf(part['toolCallId']) ?? '',
    name: textOf(definition['name']) ?? textOf(part['toolName']) ?? 'tool',
    arguments: jsonText(definition['arguments'] ?? definition['input'] ?? part['server_tool_call'] ?? part['args']),
  };
}

function toolResultOf(part: LogRecord): MessagePart {
  const given = part['response'] ?? part['result'] ?? part['content'] ?? part['output'];
  // The AI SDK names the kind of an output beside its value.
  const content = isRecord(given) && 'value' in given && 'type' in given ? given['value'] : given;
  const [toolCallId = ''] = ['call_id', 'id', 'tool_use_id', 'toolCallId'].flatMap((name) => textOf(part[name]) ?? []);
  return {
    type: 'toolResult',
    toolCallId,
    content: Array.isArray(content) ? content.map(partText).join('\n') : jsonText(content ?? ''),
    isError: part['is_error'] === true,
  };
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!isRecord(part)) return '';
  return textOf(part['text']) ?? textOf(part['content']) ?? '';
}

/** Images and files aren't in the log, or as data of a size that has no place in a text. */
function placeholderOf(part: LogRecord): string {
  const type = textOf(part['type']) ?? 'part';
  const uri = textOf(part['uri']) ?? textOf(isRecord(part['image_url']) ? part['image_url']['url'] : part['image_url']);
  return uri === null || uri.startsWith('data:') || uri.length > 2000 ? `[${type}]` : `[${type}: ${uri}]`;
}

/** What a model thought. The Responses API has a list of texts, or only a summary. */
function thoughtOf(part: LogRecord): string {
  const texts = [part['content'], part['summary']].find((list) => Array.isArray(list) && list.length > 0);
  return textOf(part['thinking']) ?? (Array.isArray(texts) ? texts.map(partText).join('\n') : partText(part));
}

/** The parts of a message, in the formats of OpenAI, Anthropic and OpenTelemetry. */
function partsOf(content: unknown): { parts: MessagePart[]; reasoning: string[] } {
  if (content === null || content === undefined) return { parts: [], reasoning: [] };
  if (!Array.isArray(content)) {
    const text = isRecord(content) ? (textOf(content['text']) ?? JSON.stringify(content)) : jsonText(content);
    return { parts: text === '' ? [] : [{ type: 'text', text }], reasoning: [] };
  }
  const parts: MessagePart[] = [];
  const reasoning: string[] = [];
  for (const part of content as unknown[]) {
    const type = isRecord(part) ? (textOf(part['type']) ?? 'text') : 'text';
    if (!isRecord(part)) parts.push({ type: 'text', text: partText(part) });
    else if (toolCallTypes.has(type)) parts.push({ type: 'toolCall', ...toolCallOf(part) });
    else if (toolResultTypes.has(type)) parts.push(toolResultOf(part));
    else if (thinkingTypes.has(type)) reasoning.push(thoughtOf(part));
    else if (/(?:^|_)text$/.test(type)) parts.push({ type: 'text', text: partText(part) });
    else parts.push({ type: 'text', text: placeholderOf(part) });
  }
  return { parts, reasoning };
}

/** Whether a value is what the Responses API lists between messages, such as a call, its result or reasoning. */
function isBetweenMessages(value: unknown): boolean {
  if (!isRecord(value) || 'role' in value || 'parts' in value || 'text' in value) return false;
  const type = textOf(value['type'])?.toLowerCase();
  if (type === undefined || type === 'message' || Object.hasOwn(roles, type)) return false;
  return thinkingTypes.has(type) || !('content' in value);
}

/** One message with what the model thought before it. */
function readMessage(value: unknown): { message: Message; reasoning: string | null } {
  if (!isRecord(value)) return { message: textMessage('user', jsonText(value ?? '')), reasoning: null };
  if (isBetweenMessages(value)) return readMessage({ role: 'assistant', content: [value] });
  const role = roleOf(value['role'] ?? value['type']);
  const { parts, reasoning } = partsOf(value['parts'] ?? value['content'] ?? value['text']);
  const calls = Array.isArray(value['tool_calls']) ? value['tool_calls'].filter(isRecord) : [];
  for (const call of calls) parts.push({ type: 'toolCall', ...toolCallOf(call) });
  const { function_call: legacyCall } = value;
  // Such a call has no ID. Its result names the function.
  if (isRecord(legacyCall)) parts.push({ type: 'toolCall', ...toolCallOf({ id: legacyCall['name'], ...legacyCall }) });
  const isResult = role === 'tool' && parts.every(({ type }) => type === 'text');
  const toolCallId = textOf(value['tool_call_id']) ?? textOf(value['id']) ?? textOf(value['name']) ?? '';
  const content: MessagePart[] = isResult
    ? [{ type: 'toolResult', toolCallId, content: parts.map(textOfPart).join('\n'), isError: false }]
    : parts.length === 0
      ? [{ type: 'text', text: '' }]
      : parts;
  const thought = textOf(value['reasoning_content']) ?? (reasoning.length > 0 ? reasoning.join('\n') : null);
  return { message: { role: isOnlyResults(content) ? 'tool' : role, content }, reasoning: thought };
}

function textOfPart(part: MessagePart): string {
  return part.type === 'text' ? part.text : '';
}

/** Anthropic sends results of tools as messages of the user. */
function isOnlyResults(content: readonly MessagePart[]): boolean {
  return content.length > 0 && content.every(({ type }) => type === 'toolResult');
}

const isThought = (value: unknown): boolean =>
  isRecord(value) && isBetweenMessages(value) && thinkingTypes.has(String(value['type']));

/** Messages of a list, of an object with `messages`, or of a text. */
export function readMessages(value: unknown): Message[] {
  const read = parsedJson(value);
  if (read === null || read === undefined || read === '') return [];
  if (isRecord(read) && (Array.isArray(read['messages']) || Array.isArray(read['input']))) {
    return [...systemMessages(read), ...readMessages(read['messages'] ?? read['input'])];
  }
  if (Array.isArray(read)) return read.filter((item) => !isThought(item)).map((item) => readMessage(item).message);
  if (isRecord(read) && ('role' in read || 'content' in read)) return [readMessage(read).message];
  return [textMessage('user', jsonText(read))];
}

/** The system message beside the messages, as Anthropic and the Responses API send it. */
export function systemMessages(body: LogRecord): Message[] {
  const system = body['system'] ?? body['instructions'];
  if (system === null || system === undefined) return [];
  const text = partsOf(parsedJson(system)).parts.map(textOfPart).join('\n');
  return text === '' ? [] : [textMessage('system', text)];
}

export const noAnswer: LogAnswer = { content: '', toolCalls: [], reasoning: null };

const isMessageItem = (value: unknown): value is LogRecord => isRecord(value) && value['type'] === 'message';

/** What a message of the assistant says and calls. Of several choices, the first counts. */
export function readAnswer(value: unknown): LogAnswer {
  const read = parsedJson(value);
  if (read === null || read === undefined || read === '') return noAnswer;
  // The Responses API lists messages, calls and reasoning of one answer.
  if (Array.isArray(read) && read.some((item) => isMessageItem(item) || isBetweenMessages(item))) {
    const content = read.flatMap((item: unknown) => (isMessageItem(item) ? item['content'] : item));
    return readAnswer({ role: 'assistant', content });
  }
  const item: unknown =
    Array.isArray(read) && read.every(isRecord) && read.some((part) => 'role' in part) ? read[0] : read;
  const shaped = isRecord(item) && ('role' in item || 'content' in item || 'parts' in item || 'tool_calls' in item);
  const { message, reasoning } = readMessage(shaped ? item : { role: 'assistant', content: item });
  return {
    content: message.content.map(textOfPart).join(''),
    toolCalls: message.content.flatMap((part) =>
      part.type === 'toolCall' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
    ),
    reasoning,
  };
}

export const noUsage: LogUsage = {
  prompt: null,
  completion: null,
  total: null,
  cached: null,
  cacheWrite: null,
  reasoning: null,
  raw: null,
};

/** A usage object of OpenAI or Anthropic. */
export function readUsage(value: unknown): LogUsage {
  const usage = parsedJson(value);
  if (!isRecord(usage)) return noUsage;
  const inner = (name: string) => (isRecord(usage[name]) ? usage[name] : {});
  const cacheRead = tokensOf(usage['cache_read_input_tokens']);
  const cacheWrite = tokensOf(usage['cache_creation_input_tokens']);
  const input = tokensOf(usage['prompt_tokens'] ?? usage['input_tokens']);
  // Anthropic counts cached tokens beside its input.
  const isBeside = usage['prompt_tokens'] === undefined && (cacheRead !== null || cacheWrite !== null);
  const details = { ...inner('prompt_tokens_details'), ...inner('input_tokens_details') };
  const outputDetails = { ...inner('completion_tokens_details'), ...inner('output_tokens_details') };
  return {
    prompt: input === null || !isBeside ? input : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    completion: tokensOf(usage['completion_tokens'] ?? usage['output_tokens']),
    total: isBeside ? null : tokensOf(usage['total_tokens']),
    cached: cacheRead ?? tokensOf(details['cached_tokens']),
    cacheWrite,
    reasoning: tokensOf(outputDetails['reasoning_tokens']),
    raw: usage,
  };
}
