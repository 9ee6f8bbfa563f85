import { hash } from 'node:crypto';
import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import { AppError } from '../../shared/app-error.ts';
import type { Message, MessagePart } from '../../shared/contract/messages.ts';
import type { ToolCall } from '../../shared/contract/tools.ts';
import { createRedactor, type Redactor } from '../audit/evidence/redaction.ts';
import { messageKeys, publicToolCall } from '../storage/stored-messages.ts';
import { decompressed } from './decompressed.ts';
import { hasTooManyValues, parseObject, readObject } from './fields.ts';
import { type CallApi, readRequest, type RecordedRequest } from './read-request.ts';
import { limitFields, limitMessages, limitText } from './record-limits.ts';

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
  missingFile: null,
  hasInstructions: false,
  earlierKeys: [],
  key: '',
  messageKeys: [],
  firstNew: 0,
  hidden: [],
};

/** Most texts of a line have single spaces already; replacing each allocated a quarter of what a call takes. */
function withSingleSpaces(text: string): string {
  return /\s\s|[^\S ]/.test(text) ? text.replaceAll(/\s+/g, ' ') : text;
}

/** The key of a conversation up to a message, from the key up to the one before. */
function nextKey(key: string, { role, content }: Message): string {
  let identity = `${key}\0${role}`;
  let texts = '';
  for (const part of content) {
    if (part.type === 'text') texts += part.text;
    else identity += `\0${identityOf(part)}`;
  }
  // White space and ids don't count: clients change them when they send a message again.
  return hash('sha256', `${identity}\0${withSingleSpaces(texts).trim()}`, 'base64url').slice(0, 27);
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

function redactedPart(part: MessagePart, redactor: Redactor): MessagePart {
  switch (part.type) {
    case 'text':
      return { ...part, text: redactor.text(part.text) };
    case 'toolResult':
      return { ...part, toolCallId: redactor.text(part.toolCallId), content: redactor.text(part.content) };
    case 'toolCall':
      return redactedCall(part, redactor);
    case 'file': {
      // Rules apply to texts only, so a file could have what they remove.
      const details = `${redactor.text(part.name)}, ${redactor.text(part.mediaType)}, ${part.bytes} bytes`;
      return { type: 'text', text: `[file: ${details}]` };
    }
  }
}

/** A call without what the rules hide. Its signature can contain that, too. */
export function redactedCall<Call extends ToolCall>(call: Call, redactor: Redactor): Omit<Call, 'providerState'> {
  const [id, name, given] = [call.id, call.name, call.arguments].map((text) => redactor.text(text)) as [
    string,
    string,
    string,
  ];
  return { ...publicToolCall(call), id, name, arguments: given };
}

/** A text that goes on in the next part is one text for a model, and in the record where parts are joined. */
function redactedAcross(parts: readonly MessagePart[], redactor: Redactor): readonly MessagePart[] {
  const result: MessagePart[] = [];
  for (let start = 0; start < parts.length;) {
    let end = start + 1;
    if (parts[start]!.type === 'text') while (parts[end]?.type === 'text') end += 1;
    const group = parts.slice(start, end);
    start = end;
    const joined = group.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const text = group.length === 1 ? joined : redactor.text(joined);
    if (text === joined) for (const part of group) result.push(part);
    else result.push({ type: 'text', text });
  }
  return result;
}

export function redactedMessages(messages: readonly Message[], redactor: Redactor): Message[] {
  return messages.map(({ role, content }) => ({
    role,
    content: [
      ...redactedAcross(
        content.map((part) => redactedPart(part, redactor)),
        redactor,
      ),
    ],
  }));
}

export interface RequestInput {
  readonly api: CallApi;
  /** Of its `content-encoding`; empty if it isn't compressed. */
  readonly encoding: string;
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
export function redactorOf(rules: readonly RedactionRule[]): Redactor {
  const text = JSON.stringify(rules);
  if (compiled?.rules !== text) compiled = { rules: text, redactor: createRedactor(rules) };
  return compiled.redactor;
}

export function redactedProgram({ client, appHeaders }: CallingProgram, redactor: Redactor): CallingProgram {
  return {
    client: client === null ? null : redactor.text(client),
    appHeaders: redactor.value(appHeaders) as Record<string, string>,
  };
}

/** What earlier calls of the conversation had isn't counted again. */
export function redactedRequest(
  request: Pick<RecordedRequest, 'messages' | 'systemMessage' | 'configuration'> & { readonly firstNew: number },
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

export const tooManyValues = 'has more than four million values';

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

/** Empty if the body can't be decompressed: the provider rejects it, or has a limit of its own. */
function textOf({ body, encoding }: RequestInput): string {
  if (encoding === '') return decoder.decode(body);
  try {
    return decoder.decode(decompressed(body, encoding));
  } catch {
    return '';
  }
}

/** A body that is no JSON object is an empty request. Throws `AppError` (413) for one with more than four million values. */
export function readPassedRequest(input: RequestInput): ReadRequest {
  const { api, pathModel, scope, rules, program } = input;
  const text = textOf(input);
  const json = readObject(text);
  if (json === null && hasTooManyValues(text))
    throw new AppError('payload_too_large', `The call can't be recorded because its request ${tooManyValues}.`);
  const redactor = rules.length === 0 ? null : redactorOf(rules);
  if (json === null) {
    const model = pathModel ?? '';
    if (!redactor) return { ...unreadable, model, program };
    return { ...unreadable, model: redactor.text(model), program: redactedProgram(program, redactor) };
  }
  const read = readRequest(api, json.value, pathModel, { keepsWhole: redactor !== null });
  const found = keysOf(scope, read.messages);
  const request = limitRequest(read, found.firstNew);
  const keys = { ...found, firstNew: request.firstNew };
  if (!redactor) return { ...request, ...keys, messageKeys: messageKeys(request.messages), program, hidden: [] };
  const redacted = redactedRequest({ ...request, ...keys }, redactor);
  return {
    ...request,
    ...keys,
    ...redacted,
    model: redactor.text(request.model),
    messageKeys: messageKeys(redacted.messages),
    program: redactedProgram(program, redactor),
    files: [],
  };
}
