import { createHash } from 'node:crypto';
import type { Message, MessagePart } from '../../shared/contract/messages.ts';
import type { AnswerItem } from '../storage/thread-store.ts';
import type { Storage } from '../storage/storage.ts';
import { listOf, textOf } from './fields.ts';
import type { ReadRequest } from './read-call.ts';
import type { ItemReference } from './read-request.ts';

/** Characters that references of one call may add to its record. More would stop the host for too long. */
const maxCharacters = 8 * 1_048_576;
/** References of one call that are looked up. Each takes a query, and a request has room for hundreds of thousands. */
const maxReadReferences = 4096;

type Answer = NonNullable<ReturnType<Storage['runs']['readAnswer']>>;

const isReference = (part: MessagePart): part is ItemReference => 'itemId' in part;

/** What an item was; an empty list for reasoning, and null if the answer doesn't have it any more. */
function partsOf({ text, call }: AnswerItem, { content, toolCalls }: Answer): MessagePart[] | null {
  const called = call === null ? null : toolCalls[call];
  if (called === undefined || (text !== null && text[1] > content.length)) return null;
  return [
    ...(text === null ? [] : [{ type: 'text' as const, text: content.slice(...text) }]),
    ...(called === null ? [] : [{ type: 'toolCall' as const, ...called }]),
  ];
}

/** Adds a part of an answer, whose texts are one text. */
function append(parts: MessagePart[], part: MessagePart): void {
  const last = parts.at(-1);
  if (last?.type === 'text' && part.type === 'text') parts[parts.length - 1] = { ...last, text: last.text + part.text };
  else parts.push(part);
}

/** Reads the items of earlier answers, each answer once. */
class ItemReader {
  readonly resolved = new Set<string>();
  readonly #keyOf: (itemId: string) => string;
  readonly #storage: Pick<Storage, 'runs' | 'threads'>;
  readonly #answers = new Map<string, Answer | null>();
  #characters = 0;

  constructor(keyOf: (itemId: string) => string, storage: Pick<Storage, 'runs' | 'threads'>) {
    this.#keyOf = keyOf;
    this.#storage = storage;
  }

  /** The item's parts with the run that has them; null if they aren't recorded. */
  read(itemId: string): { readonly runId: string; readonly parts: readonly MessagePart[] } | null {
    const found = this.#storage.threads.findItem(this.#keyOf(itemId));
    if (found === null || this.#characters > maxCharacters) return null;
    const { runId, item } = found;
    const answer = this.#answers.get(runId) ?? this.#storage.runs.readAnswer(runId);
    if (answer && !this.#answers.has(runId)) this.#characters += answer.content.length;
    this.#answers.set(runId, answer);
    const parts = answer && partsOf(item, answer);
    if (parts === null) return null;
    for (const part of parts) this.#characters += part.type === 'text' ? part.text.length : 0;
    this.resolved.add(itemId);
    return { runId, parts };
  }
}

/**
 * The request with the recorded items of earlier answers in the place of references to them. What isn't recorded stays in
 * `item_reference`, so that the call isn't sent again without it. `keyOf` is the key of an item in its conversation.
 */
export function withReferredItems(
  request: ReadRequest,
  keyOf: (itemId: string) => string,
  storage: Pick<Storage, 'runs' | 'threads'>,
): ReadRequest {
  const { item_reference: references, ...configuration } = request.configuration;
  if (references === undefined) return request;
  const reader = new ItemReader(keyOf, storage);
  const isTooMany = listOf(references).length > maxReadReferences;
  const messages: Message[] = [];
  const messageKeys: string[] = [];
  let { firstNew } = request;
  // The same id may be another item of another program, so the key of a message has the runs of what it and those before it refer to.
  let runs: string | null = null;
  for (const [index, message] of request.messages.entries()) {
    const content: MessagePart[] = [];
    for (const part of message.content) {
      const isRead = isReference(part) && !isTooMany;
      const item = isRead ? reader.read(part.itemId) : null;
      if (isRead) runs = createHash('sha256').update(`${runs} ${item?.runId}`).digest('base64url');
      if (item) for (const each of item.parts) append(content, each);
      else content.push(isReference(part) ? { type: 'text', text: part.text } : part);
    }
    // Reasoning is only for the provider.
    if (content.length === 0 && message.content.length > 0) {
      if (index < request.firstNew) firstNew -= 1;
      continue;
    }
    messages.push({ ...message, content });
    messageKeys.push(runs === null ? request.messageKeys[index]! : `${runs} ${request.messageKeys[index]!}`);
  }
  const missing = listOf(references).filter((id) => !reader.resolved.has(textOf(id)));
  return {
    ...request,
    messages,
    messageKeys,
    firstNew,
    configuration: missing.length === 0 ? configuration : { ...configuration, item_reference: missing },
  };
}

/** The newest items that a request refers to: they tell its conversation from others with the same start. */
export function newestReferences({ messages }: ReadRequest, max: number): string[] {
  const ids: string[] = [];
  for (const { content } of messages.toReversed())
    for (const part of content.toReversed()) if (ids.length < max && isReference(part)) ids.push(part.itemId);
  return ids;
}
