import { createHash } from 'node:crypto';
import type { Message } from '../../../shared/contract/messages.ts';
import type { CsvField } from '../../../shared/contract/log-imports.ts';
import {
  durationOf,
  endOf,
  finishReasonOf,
  isRecord,
  type LeftOut,
  type LogAnswer,
  type LogCall,
  type LogRecord,
  type LogUsage,
  noAnswer,
  noUsage,
  numberOf,
  parsedJson,
  readAnswer,
  readMessages,
  readTime,
  readUsage,
  systemMessages,
  textOf,
  tokensOf,
} from './log-call.ts';
import { readConfiguration } from './log-configuration.ts';

/** Reads exports of Langfuse, chats in OpenAI's format, and rows of a CSV file. */

/** Keys for entries without an id: the hash of the content, and how many equal entries came before. */
export class ContentKeys {
  readonly #counts = new Map<string, number>();

  of(content: unknown): string {
    const hash = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
    const count = this.#counts.get(hash) ?? 0;
    this.#counts.set(hash, count + 1);
    return count === 0 ? hash : `${hash}:${count}`;
  }
}

function asSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Langfuse writes names in camel case in its window and API, and in snake case to storage. */
function fieldIn(record: LogRecord, ...names: readonly string[]): unknown {
  for (const name of names) {
    const value = record[name] ?? record[asSnakeCase(name)];
    if (value !== undefined && value !== null && value !== '') return value;
  }
  return null;
}

/** Each token of Langfuse is in one class only: `input` leaves out the cached ones. */
function langfuseUsage(observation: LogRecord): LogUsage {
  const details = parsedJson(fieldIn(observation, 'usageDetails'));
  const counts = isRecord(details) ? Object.entries(details) : [];
  const sum = (matches: (name: string) => boolean): number | null => {
    const found = counts.flatMap(([name, value]) => (matches(name) ? (tokensOf(value) ?? []) : []));
    return found.length === 0 ? null : found.reduce((total, count) => total + count, 0);
  };
  if (counts.length === 0) {
    const usage = parsedJson(fieldIn(observation, 'usage'));
    if (isRecord(usage) && ('input' in usage || 'output' in usage)) {
      const { input, output, total } = usage;
      return { ...noUsage, prompt: tokensOf(input), completion: tokensOf(output), total: tokensOf(total), raw: usage };
    }
    const flat = {
      prompt_tokens: fieldIn(observation, 'promptTokens'),
      completion_tokens: fieldIn(observation, 'completionTokens'),
    };
    return readUsage(isRecord(usage) ? usage : flat);
  }
  const isCacheWrite = (name: string) => /cache_(?:creation|write)/.test(name);
  const isCached = (name: string) => /cache/.test(name) && !isCacheWrite(name);
  return {
    prompt: sum((name) => name.startsWith('input') || name.startsWith('prompt') || /cache/.test(name)),
    completion: sum((name) => name.startsWith('output') || name.startsWith('completion')),
    total: sum((name) => name === 'total'),
    cached: sum(isCached),
    cacheWrite: sum(isCacheWrite),
    reasoning: sum((name) => name.includes('reasoning')),
    raw: details as LogRecord,
  };
}

function langfuseCost(observation: LogRecord): number | null {
  const details = parsedJson(fieldIn(observation, 'costDetails'));
  return numberOf(
    fieldIn(observation, 'totalCost', 'calculatedTotalCost') ?? (isRecord(details) ? details['total'] : null),
  );
}

/** Whether a value is an observation of Langfuse, or a trace with observations. */
export function isLangfuse(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (Array.isArray(value['observations'])) return true;
  return fieldIn(value, 'traceId') !== null && fieldIn(value, 'startTime') !== null && 'type' in value;
}

function langfuseCall(observation: LogRecord, trace: LogRecord): LogCall | LeftOut {
  const type = textOf(observation['type']);
  if (type !== 'GENERATION')
    return { leftOut: `Observations of the type ${type?.slice(0, 40) ?? 'unknown'}, not calls of a model` };
  const id = textOf(observation['id']);
  if (id === null) return { leftOut: 'Observations without an ID' };
  const startedAt = readTime(fieldIn(observation, 'startTime'));
  const endedAt = readTime(fieldIn(observation, 'endTime'));
  const firstAt = readTime(fieldIn(observation, 'completionStartTime'));
  const conversation = textOf(fieldIn(observation, 'sessionId') ?? fieldIn(trace, 'sessionId'));
  const traceId = textOf(fieldIn(observation, 'traceId')) ?? textOf(trace['id']);
  const parameters = parsedJson(fieldIn(observation, 'modelParameters'));
  const input = parsedJson(observation['input']);
  return {
    key: id,
    conversationKey: conversation ?? traceId ?? id,
    provider: null,
    model: textOf(fieldIn(observation, 'model', 'providedModelName')),
    startedAt,
    endedAt,
    totalMs: startedAt === null || endedAt === null || endedAt < startedAt ? null : endedAt - startedAt,
    firstTokenMs: startedAt === null || firstAt === null || firstAt < startedAt ? null : firstAt - startedAt,
    messages: readMessages(input),
    answer: readAnswer(observation['output']),
    finishReason: null,
    error:
      observation['level'] === 'ERROR' ? (textOf(fieldIn(observation, 'statusMessage')) ?? 'The call failed') : null,
    usage: langfuseUsage(observation),
    cost: langfuseCost(observation),
    configuration: readConfiguration({
      ...(isRecord(parameters) ? parameters : {}),
      ...(isRecord(input) ? { tools: input['tools'] } : {}),
    }),
    client: textOf(fieldIn(trace, 'name')) ?? textOf(fieldIn(observation, 'traceName')) ?? 'Langfuse',
    metadata: {
      ...(traceId === null ? {} : { traceId }),
      observationId: id,
      ...(conversation === null ? {} : { conversation }),
    },
  };
}

export function langfuseCalls(value: LogRecord): (LogCall | LeftOut)[] {
  const { observations } = value;
  if (!Array.isArray(observations)) return [langfuseCall(value, {})];
  return observations.map((item) =>
    isRecord(item) ? langfuseCall(item, value) : { leftOut: 'Observations that are no objects' },
  );
}

function innerBody(value: unknown): LogRecord | null {
  const read = parsedJson(value);
  if (!isRecord(read)) return null;
  const body = parsedJson(read['body']);
  return isRecord(body) ? body : read;
}

/** The answer of a response of chat completions, of messages or of the Responses API. */
function answerOfResponse(response: LogRecord): { answer: LogAnswer; reason: unknown } {
  const [choice] = Array.isArray(response['choices']) ? (response['choices'] as unknown[]) : [];
  if (isRecord(choice))
    return { answer: readAnswer(choice['message'] ?? choice['text']), reason: choice['finish_reason'] };
  const { content, output, stop_reason: reason, incomplete_details: incomplete } = response;
  return {
    answer: content === undefined ? readAnswer(output) : readAnswer({ role: 'assistant', content }),
    reason: reason ?? (isRecord(incomplete) ? incomplete['reason'] : null),
  };
}

function errorIn(value: unknown): string | null {
  const error = isRecord(value) ? value['error'] : null;
  // Many programs write the field with every call.
  if (error === null || error === undefined || error === '' || error === false) return null;
  return isRecord(error) ? (textOf(error['message']) ?? JSON.stringify(error).slice(0, 2000)) : String(error);
}

const inputOf = (request: LogRecord): unknown =>
  request['messages'] ?? request['input'] ?? request['prompt'] ?? request['question'];

/** An answer beside the messages of a line. */
const answerBeside = (value: LogRecord): unknown =>
  ['response', 'output', 'completion', 'answer']
    .map((name) => value[name] ?? undefined)
    .find((given) => given !== undefined);

/** Whether a value has an answer beside its prompt. A prompt alone is no call. */
export function isAnsweredPrompt(value: LogRecord): boolean {
  return ('prompt' in value || 'question' in value) && answerBeside(value) !== undefined;
}

/** Messages and the answer of one line: a request with its response, or messages that end with the answer. */
function conversationOf(
  request: LogRecord,
  response: LogRecord | null,
  beside: unknown,
): { messages: Message[]; answer: LogAnswer; reason: unknown } {
  const list = inputOf(request);
  const messages = [...systemMessages(request), ...readMessages(list)];
  if (response !== null) return { messages, ...answerOfResponse(response) };
  if (beside !== undefined) return { messages, answer: readAnswer(beside), reason: null };
  const last: unknown = Array.isArray(list) ? list.at(-1) : null;
  if (messages.at(-1)?.role !== 'assistant') return { messages, answer: noAnswer, reason: null };
  return { messages: messages.slice(0, -1), answer: readAnswer(last), reason: null };
}

/** A chat in the format of OpenAI: a line for fine-tuning, or a request with its response. */
export function openAiCall(value: LogRecord, keys: ContentKeys): LogCall | LeftOut {
  const request = innerBody(value['request']) ?? innerBody(value['body']) ?? value;
  const response = innerBody(value['response']) ?? (Array.isArray(value['choices']) ? value : null);
  const isCall = 'messages' in request || 'input' in request || response !== null || isAnsweredPrompt(value);
  if (!isCall) return { leftOut: 'Lines without messages' };
  const { messages, answer, reason } = conversationOf(request, response, answerBeside(value));
  if (messages.length === 0) return { leftOut: 'Lines without messages' };
  const startedAt = readTime(
    value['created_at'] ?? value['timestamp'] ?? value['created'] ?? response?.['created'] ?? response?.['created_at'],
  );
  const seconds = numberOf(
    value['latency_s'] ?? value['latency_seconds'] ?? value['duration_s'] ?? value['duration_seconds'],
  );
  const totalMs = durationOf(value['latency_ms'] ?? value['duration_ms'] ?? (seconds === null ? null : seconds * 1000));
  const responseId = textOf(response?.['id']);
  const conversation = textOf(value['conversation_id'] ?? value['session_id']);
  const key = responseId ?? keys.of(value);
  return {
    key,
    conversationKey: conversation ?? key,
    provider: textOf(value['provider']),
    model: textOf(request['model']) ?? textOf(response?.['model']) ?? textOf(value['model']),
    startedAt,
    endedAt: endOf(startedAt, totalMs),
    totalMs,
    firstTokenMs: null,
    messages,
    answer,
    finishReason: finishReasonOf(reason),
    error: errorIn(response) ?? errorIn(value),
    usage: readUsage(response?.['usage'] ?? value['usage']),
    cost: numberOf(value['cost']),
    configuration: readConfiguration(request),
    client: null,
    metadata: {
      ...(responseId === null ? {} : { responseId }),
      ...(conversation === null ? {} : { conversation }),
    },
  };
}

/** The words by which a column is recognised, in lower case without punctuation. */
const columnNames: Readonly<Record<CsvField, readonly string[]>> = {
  id: ['id', 'runid', 'callid', 'requestid'],
  conversation: ['conversation', 'conversationid', 'sessionid', 'session', 'threadid'],
  time: ['time', 'timestamp', 'createdat', 'created', 'date', 'starttime', 'startedat'],
  system: ['system', 'systemmessage', 'systemprompt', 'instructions'],
  prompt: ['prompt', 'input', 'question', 'messages', 'request', 'user', 'query'],
  answer: ['answer', 'output', 'completion', 'response', 'content', 'assistant'],
  provider: ['provider', 'aisystem'],
  model: ['model', 'modelname'],
  promptTokens: ['prompttokens', 'inputtokens', 'tokensin'],
  completionTokens: ['completiontokens', 'outputtokens', 'tokensout'],
  cost: ['cost', 'totalcost', 'costusd', 'price'],
  latencyMs: [
    ...['latencyms', 'latency', 'durationms', 'totalms', 'duration'],
    ...['latencys', 'latencyseconds', 'durations', 'durationseconds', 'totalseconds'],
  ],
  error: ['error', 'errormessage'],
  client: ['client', 'program', 'app', 'application', 'useragent'],
};

export type ColumnMap = Readonly<Record<string, CsvField | null>>;

/** The fields of columns by their names. The first column with a name gets the field. */
export function detectColumns(columns: readonly string[]): Record<string, CsvField | null> {
  const taken = new Set<CsvField>();
  const plainOf = (column: string) => column.toLowerCase().replace(/[^a-z]/g, '');
  const detected = Object.fromEntries(
    columns.map((column) => {
      const plain = plainOf(column);
      const found = (Object.keys(columnNames) as CsvField[]).find(
        (field) => !taken.has(field) && columnNames[field].includes(plain),
      );
      if (found) taken.add(found);
      return [column, found ?? null];
    }),
  );
  // A trace can have several calls, so it doesn't identify one.
  const trace = columns.find((column) => plainOf(column) === 'traceid');
  return trace === undefined || taken.has('conversation') ? detected : { ...detected, [trace]: 'conversation' };
}

/** Rows that a program counts. Those of another program have the same IDs. */
const isCounter = /^\d{1,9}$/;

/** Langfuse exports `latency` in seconds. */
function isLatencyInSeconds(columns: ColumnMap): boolean {
  const names = Object.keys(columns);
  const latency = names.find((name) => columns[name] === 'latencyMs') ?? '';
  const isOfLangfuse =
    names.some((name) => /^trace_?id$/i.test(name)) && names.some((name) => /^start_?time$/i.test(name));
  return /(?:_s|sec|secs|seconds?)\)?$/i.test(latency) || (isOfLangfuse && latency === 'latency');
}

export function csvCall(row: LogRecord, columns: ColumnMap, keys: ContentKeys): LogCall | LeftOut {
  const cell = (field: CsvField): string | null => {
    const column = Object.keys(columns).find((name) => columns[name] === field);
    return column === undefined ? null : textOf(row[column]);
  };
  const prompt = cell('prompt');
  if (prompt === null) return { leftOut: 'Rows without a prompt' };
  const id = cell('id');
  const key = id === null || isCounter.test(id) ? keys.of(row) : id;
  const startedAt = readTime(cell('time'));
  const latency = numberOf(cell('latencyMs'));
  const totalMs = durationOf(latency !== null && isLatencyInSeconds(columns) ? latency * 1000 : latency);
  const isMessages = /^\s*\[\s*\{/.test(prompt);
  return {
    key,
    conversationKey: cell('conversation') ?? key,
    provider: cell('provider'),
    model: cell('model'),
    startedAt,
    endedAt: endOf(startedAt, totalMs),
    totalMs,
    firstTokenMs: null,
    messages: [
      ...systemMessages({ system: cell('system') }),
      ...(isMessages ? readMessages(prompt) : readMessages([{ role: 'user', content: prompt }])),
    ],
    answer: { ...noAnswer, content: cell('answer') ?? '' },
    finishReason: null,
    error: cell('error'),
    usage: { ...noUsage, prompt: tokensOf(cell('promptTokens')), completion: tokensOf(cell('completionTokens')) },
    cost: numberOf(cell('cost')),
    configuration: null,
    client: cell('client'),
    metadata: {},
  };
}
