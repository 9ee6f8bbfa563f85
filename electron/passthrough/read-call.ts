import { createHash } from 'node:crypto';
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { FrameTiming } from '../../shared/contract/conversations.ts';
import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import { AppError } from '../../shared/app-error.ts';
import type { Message, MessagePart } from '../../shared/contract/messages.ts';
import { withCalls } from '../../shared/contract/tools.ts';
import { createRedactor, type Redactor } from '../audit/evidence/redaction.ts';
import { messageKeys, publicToolCall } from '../storage/stored-messages.ts';
import { hasTooManyValues, parseObject, readObject } from './fields.ts';
import { type ChunkArrivals, type FrameKind, frameTiming } from './frame-times.ts';
import { type CallApi, readRequest, type RecordedRequest } from './read-request.ts';
import { type ReadBody, readResponse } from './read-response.ts';
import { limitAnswer, limitFields, limitMessages, limitText } from './record-limits.ts';

/** A request as it is recorded, with the keys of its conversation. */
export interface ReadRequest extends RecordedRequest {
  /** Keys under which an earlier call of the same conversation is stored, the best one first. */
  readonly earlierKeys: readonly string[];
  /** The key of this call. */
  readonly key: string;
  /** Of the messages as they are stored. */
  readonly messageKeys: readonly string[];
  /** The start of what this call adds to its conversation. */
  readonly firstNew: number;
  readonly program: CallingProgram;
  /** How often each rule replaced something that this call adds. */
  readonly hidden: readonly number[];
  /** Whether something that was sent is not in the record. */
  readonly isCut: boolean;
}

/** What a program says of itself. */
export interface CallingProgram {
  readonly client: string | null;
  /** Lower-case names without the `x-app-` prefix. */
  readonly appHeaders: Readonly<Record<string, string>>;
}

/** A request that is no JSON object: the provider rejects it, and the rejection is recorded. */
export const unreadable: Omit<ReadRequest, 'program'> = {
  model: '',
  systemMessage: null,
  messages: [],
  files: [],
  configuration: {},
  previousResponseId: null,
  earlierKeys: [],
  key: '',
  messageKeys: [],
  firstNew: 0,
  hidden: [],
  isCut: true,
};

/** Most texts of a line have single spaces already; replacing each allocated a quarter of what a call takes. */
function withSingleSpaces(text: string): string {
  return /\s\s|[^\S ]/.test(text) ? text.replaceAll(/\s+/g, ' ') : text;
}

/** The key of a conversation up to a message, from the key up to the one before. */
function nextKey(key: string, { role, content }: Message): string {
  const hash = createHash('sha256').update(`${key}\0${role}`);
  let texts = '';
  for (const part of content) {
    if (part.type === 'text') texts += part.text;
    else hash.update(`\0${identityOf(part)}`);
  }
  // White space and ids don't count: clients change them when they send a message again.
  hash.update(`\0${withSingleSpaces(texts).trim()}`);
  return hash.digest('base64url').slice(0, 27);
}

function identityOf(part: Exclude<MessagePart, { type: 'text' }>): string {
  if (part.type === 'file') return part.fileId;
  if (part.type === 'toolResult') return `${part.toolCallId} ${part.content.trim()}`;
  const call = parseObject(part.arguments);
  return `${part.name} ${call ? JSON.stringify(call) : part.arguments.trim()}`;
}

/**
 * Programs send the whole conversation with every call. The messages up to an answer are those of an earlier call and its answer, so
 * their hash finds its conversation. The key of the request alone finds it, too, if the program changed the answer.
 */
export function keysOf(
  scope: string,
  messages: readonly Message[],
): Pick<ReadRequest, 'earlierKeys' | 'key' | 'firstNew'> {
  const earlierKeys: string[] = [];
  let key = scope;
  let firstNew = 0;
  for (const [index, message] of messages.entries()) {
    const isAnswer = message.role === 'assistant' && index > 0;
    if (isAnswer) earlierKeys.push(`request:${key}`);
    key = nextKey(key, message);
    if (isAnswer) earlierKeys.push(`answer:${key}`);
    if (message.role === 'assistant') firstNew = index + 1;
  }
  return { earlierKeys: earlierKeys.toReversed().slice(0, maxEarlierKeys), key, firstNew };
}

/** A program that left out the newest answers is found by these; more would take a query each. */
const maxEarlierKeys = 32;

/** The key of a request followed by its answer. */
export const answerKey = (key: string, answer: Message): string => `answer:${nextKey(key, answer)}`;

function redactedMessages(messages: readonly Message[], redactor: Redactor): Message[] {
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((part): MessagePart => {
      if (part.type === 'text') return { ...part, text: redactor.text(part.text) };
      if (part.type === 'toolResult') return { ...part, content: redactor.text(part.content) };
      // A signature can contain what the rules remove.
      if (part.type === 'toolCall') return { ...publicToolCall(part), arguments: redactor.text(part.arguments) };
      // Rules apply to texts only, so a file could have what they remove.
      return { type: 'text', text: `[file: ${redactor.text(part.name)}, ${part.mediaType}, ${part.bytes} bytes]` };
    }),
  }));
}

export interface RequestInput {
  readonly api: CallApi;
  /** The model that the path names; null if the body does. */
  readonly pathModel: string | null;
  readonly body: Uint8Array;
  /** The conversations of one scope are separate from those of another. */
  readonly scope: string;
  readonly rules: readonly RedactionRule[];
  readonly program: CallingProgram;
}

const decoder = new TextDecoder();

let compiled: { readonly rules: string; readonly redactor: Redactor } | null = null;

/** Compiling the patterns of a call takes longer than reading it, and most calls have the rules of the one before. */
function redactorOf(rules: readonly RedactionRule[]): Redactor {
  const text = JSON.stringify(rules);
  if (compiled?.rules !== text) compiled = { rules: text, redactor: createRedactor(rules) };
  return compiled.redactor;
}

function redactedProgram({ client, appHeaders }: CallingProgram, redactor: Redactor): CallingProgram {
  return {
    client: client === null ? null : redactor.text(client),
    appHeaders: redactor.value(appHeaders) as Record<string, string>,
  };
}

/** What earlier calls of the conversation had isn't counted again. */
function redactedRequest<Request extends RecordedRequest & { readonly firstNew: number }>(
  request: Request,
  redactor: Redactor,
) {
  const { messages, firstNew, systemMessage, configuration } = request;
  const earlier = redactedMessages(messages.slice(0, firstNew), redactor);
  const before = [...redactor.counts];
  const added = redactedMessages(messages.slice(firstNew), redactor);
  const hidden = redactor.counts.map((count, rule) => count - before[rule]!);
  return {
    messages: [...earlier, ...added],
    systemMessage: systemMessage === null ? null : redactor.text(systemMessage),
    configuration: redactor.value(configuration) as Record<string, unknown>,
    hidden,
  };
}

const tooManyValues = 'has more than four million values';

/** What is recorded of a request, with the files of the recorded messages only. */
function limitRequest(read: RecordedRequest, start: number): RecordedRequest & { readonly firstNew: number } {
  const { messages, firstNew } = limitMessages(read.messages, start);
  // A file of a message that is left out would never be removed.
  const named = new Set(messages.flatMap(({ content }) => content.map((part) => part.type === 'file' && part.fileId)));
  return {
    ...read,
    messages,
    firstNew,
    files: messages === read.messages ? read.files : read.files.filter(({ part }) => named.has(part.fileId)),
    systemMessage: read.systemMessage === null ? null : limitText(read.systemMessage),
    configuration: limitFields(read.configuration),
  };
}

/** A body that is no JSON object is an empty request. Throws `AppError` (413) for one with more than four million values. */
export function readPassedRequest(input: RequestInput): ReadRequest {
  const { api, pathModel, body, scope, rules, program } = input;
  const text = decoder.decode(body);
  const json = readObject(text);
  if (json === null && hasTooManyValues(text))
    throw new AppError('payload_too_large', `The call can't be recorded because its request ${tooManyValues}.`);
  const redactor = rules.length === 0 ? null : redactorOf(rules);
  if (json === null) return { ...unreadable, program: redactor ? redactedProgram(program, redactor) : program };
  const read = readRequest(api, json.value, pathModel);
  const found = keysOf(scope, read.messages);
  const limited = limitRequest(read, found.firstNew);
  const isLimited = (['messages', 'systemMessage', 'configuration'] as const).some(
    (name) => limited[name] !== read[name],
  );
  const isCut = json.isCut || isLimited;
  const request = { ...limited, isCut };
  const keys = { ...found, firstNew: limited.firstNew };
  if (!redactor) return { ...request, ...keys, messageKeys: messageKeys(request.messages), program, hidden: [] };
  const redacted = redactedRequest({ ...request, ...keys }, redactor);
  return {
    ...request,
    ...keys,
    ...redacted,
    messageKeys: messageKeys(redacted.messages),
    program: redactedProgram(program, redactor),
    files: [],
  };
}

/** Bytes of a response that are recorded: more than any model writes. */
export const maxRecordedBytes = 32 * 1_048_576;

export interface ResponseInput {
  readonly api: CallApi;
  readonly body: Uint8Array;
  /** Whether the response has more bytes than are recorded. */
  readonly isCut: boolean;
  /** Whether the guard needs all of its text, not only what is recorded. */
  readonly isJudged: boolean;
  readonly encoding: string;
  readonly isStream: boolean;
  readonly arrivals: ChunkArrivals;
  readonly rules: readonly RedactionRule[];
}

/** A hostile response must not fill the memory when it is decompressed. */
const maxDecodedBytes = 64 * 1_048_576;

/** A response that the record can't read, although its program may. */
class UnreadableResponse extends Error {}

/** What has arrived of a body; a response that broke off has no end. Throws `UnreadableResponse`, and errors of malformed bodies. */
function decompressed(body: Uint8Array, encoding: string): Uint8Array {
  const options = { maxOutputLength: maxDecodedBytes };
  switch (encoding) {
    case '':
    case 'identity':
      return body;
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(body, { ...options, finishFlush: constants.Z_SYNC_FLUSH });
    case 'deflate':
      return inflateSync(body, { ...options, finishFlush: constants.Z_SYNC_FLUSH });
    case 'br':
      return brotliDecompressSync(body, { ...options, finishFlush: constants.BROTLI_OPERATION_FLUSH });
    case 'zstd':
      return zstdDecompressSync(body, { ...options, finishFlush: constants.ZSTD_e_flush });
    default:
      throw new UnreadableResponse(`its encoding "${encoding.slice(0, 100)}" is unknown`);
  }
}

/** What is recorded of a response whose text can't be. */
function unreadResponse(error: unknown): Omit<RecordedResponse, 'frames' | 'hidden'> {
  const isTooLarge = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
  const limit = `it is larger than ${maxDecodedBytes / 1_048_576} MB when it is decompressed`;
  const reason = isTooLarge ? limit : error instanceof UnreadableResponse ? error.message : null;
  if (reason === null)
    return { ...noResponse, isUnread: true, error: "The provider's response could not be decompressed." };
  return { ...noResponse, isUnread: true, isComplete: true, content: `[The response is not recorded: ${reason}]` };
}

/** A response as it is recorded. */
export interface RecordedResponse extends ReadBody {
  /** Whether its text could not be read, which the content or the error says. */
  readonly isUnread: boolean;
  /** The text that the guard judges, if it is more than what is recorded. */
  readonly judged: string | null;
  /** Null for a response that isn't a stream, or is compressed. */
  readonly frames: FrameTiming | null;
  /** How often each rule replaced something. */
  readonly hidden: readonly number[];
}

export const noResponse: RecordedResponse = {
  id: null,
  content: '',
  reasoning: '',
  toolCalls: [],
  finishReason: 'Stop',
  usage: null,
  rawUsage: null,
  error: null,
  isComplete: false,
  isPartial: false,
  isUnread: false,
  judged: null,
  frames: null,
  hidden: [],
};

/** The text of a body. Throws `UnreadableResponse` if nothing can be read of it. */
function textOf({ body, encoding, isStream, isCut }: ResponseInput): string {
  const text = decoder.decode(decompressed(body, encoding.trim().toLowerCase()));
  if (isStream) return text;
  if (isCut) throw new UnreadableResponse(`it is larger than ${maxRecordedBytes / 1_048_576} MB`);
  if (hasTooManyValues(text)) throw new UnreadableResponse(`it ${tooManyValues}`);
  return text;
}

function readText(input: ResponseInput): Omit<RecordedResponse, 'frames' | 'hidden'> {
  let text: string;
  try {
    text = textOf(input);
  } catch (error) {
    return unreadResponse(error);
  }
  const read = readResponse(input.api, text, input);
  const limited = limitAnswer(read);
  const whole = input.isJudged ? withCalls(read.content, read.toolCalls) : '';
  const judged = input.isJudged && whole !== withCalls(limited.content, limited.toolCalls) ? whole : null;
  const response = { ...limited, isUnread: false, judged };
  if (!input.isCut) return response;
  const mark = `[The rest of the response is not recorded: it is larger than ${maxRecordedBytes / 1_048_576} MB]`;
  return { ...response, content: `${response.content} ${mark}` };
}

/** Null for a body that isn't streamed. */
function frameKind({ api, body, encoding, isStream }: ResponseInput): FrameKind | null {
  if (encoding !== '') return null;
  if (isStream) return 'events';
  return api === 'gemini-content' && body[0] === 91 ? 'array' : null;
}

export function readPassedResponse(input: ResponseInput): RecordedResponse {
  const { body, arrivals, rules } = input;
  const kind = frameKind(input);
  const frames = kind && frameTiming(body, kind, arrivals);
  const response = { ...readText(input), frames, hidden: [] };
  if (rules.length === 0) return response;
  const redactor = redactorOf(rules);
  const before = [...redactor.counts];
  const redacted = {
    ...response,
    content: redactor.text(response.content),
    reasoning: redactor.text(response.reasoning),
    toolCalls: response.toolCalls.map((call) => ({
      ...publicToolCall(call),
      arguments: redactor.text(call.arguments),
    })),
    error: response.error === null ? null : redactor.text(response.error),
  };
  const hidden = redactor.counts.map((count, rule) => count - before[rule]!);
  return { ...redacted, hidden, judged: response.judged === null ? null : redactor.text(response.judged) };
}
