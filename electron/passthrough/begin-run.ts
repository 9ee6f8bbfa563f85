import { createHash, randomUUID } from 'node:crypto';
import type { AiSystem, RecordLevel } from '../../shared/contract/common.ts';
import { textOfMessages } from '../../shared/contract/messages.ts';
import type { ProviderId } from '../providers/provider-addresses.ts';
import { runTitleOf } from '../storage/run-rows.ts';
import type { AuthenticatedKey, Storage } from '../storage/storage.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { answerKey, type CallingProgram, type ReadRequest } from './read-call.ts';
import type { RecordedResponse } from './recorded-response.ts';
import type { CallApi } from './read-request.ts';
import { newestReferences, withReferredItems } from './referred-items.ts';

/** A program's call of a provider's API. */
export interface ProgramCall {
  readonly providerId: ProviderId;
  /** Null for calls that aren't recorded, such as lists of models. */
  readonly api: CallApi | null;
  /** The model that the path names; null if the body does. */
  readonly pathModel: string | null;
  /** The version of the API that the path names; null if the base address does. */
  readonly apiVersion: string | null;
  /** Below the provider's base address, with the query. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
  /** Of the body, by its `content-encoding`; empty if it isn't compressed. */
  readonly encoding: string;
  readonly hasOwnKey: boolean;
  readonly caller: { readonly callerId: string; readonly key: AuthenticatedKey | null };
  readonly program: CallingProgram;
  /** How much the program wants recorded; never more than its key's rule. */
  readonly level: RecordLevel;
  /** Whether the program repeats a failed call. */
  readonly isRetry: boolean;
  readonly signal: AbortSignal;
}

/** Where a call is recorded. */
export interface Recording {
  readonly runId: string;
  readonly conversationId: string;
  readonly level: Exclude<RecordLevel, 'none'>;
}

export function systemOf(providerId: ProviderId): Exclude<AiSystem, 'ServiceAi'> {
  return providerId.startsWith('endpoint:') ? 'OpenAiCompatible' : (providerId as Exclude<AiSystem, 'ServiceAi'>);
}

/** The name of a model in the audit, as the request is recorded, which for an endpoint begins with that of the endpoint. */
export function modelOf({ providerId, pathModel }: ProgramCall, model: string): string {
  const name = model || pathModel || 'unknown';
  return providerId.startsWith('endpoint:') ? `${providerId.slice('endpoint:'.length)}/${name}` : name;
}

const scopes: ReadonlyMap<ProviderId, string> = new Map([
  ['Anthropic', 'anthropic'],
  ['GoogleGemini', 'gemini'],
]);

/** Conversations of one key are separate from those of another. */
export function scopeOf({ caller, providerId }: ProgramCall): string {
  return `${caller.callerId} ${scopes.get(providerId) ?? 'openai'}`;
}

/** The key of a request in its conversation. */
export function requestKey(call: ProgramCall, { key }: Pick<ReadRequest, 'key'>): string {
  return `${scopeOf(call)} request:${key}`;
}

/** Ids of one endpoint aren't those of another. */
function idScope(call: ProgramCall): string {
  const { providerId } = call;
  return providerId.startsWith('endpoint:') ? `${scopeOf(call)} ${providerId}` : scopeOf(call);
}

/** The key of a response in its conversation. What a provider calls an id may be a text, which is not written as it is. */
function responseKey(call: ProgramCall, id: string): string {
  const name = /^[\w.:-]{1,200}$/.test(id) ? id : createHash('sha256').update(id).digest('base64url');
  return `${idScope(call)} response:${name}`;
}

/** The key of a response's item. */
function itemKey(call: ProgramCall, id: string): string {
  return `${idScope(call)} item:${id}`;
}

/** Each takes a query. */
const maxReferences = 32;

/** Keys of earlier calls of the same conversation, the best one first. */
function earlierKeys(call: ProgramCall, request: ReadRequest, previous: string | null): string[] {
  const scope = scopeOf(call);
  return [
    ...(previous === null ? [] : [previous]),
    ...newestReferences(request, maxReferences).map((id) => itemKey(call, id)),
    ...request.earlierKeys.map((key) => `${scope} ${key}`),
    ...(call.isRetry ? [requestKey(call, request)] : []),
  ];
}

/** Finds or creates the conversation of a call and stores the call as `Running`. */
export function beginRun(
  call: ProgramCall,
  sent: ReadRequest,
  level: Recording['level'],
  storage: Pick<Storage, 'runs' | 'threads'>,
): Recording {
  const { runs, threads } = storage;
  const isWhole = level === 'all';
  const request = isWhole ? withReferredItems(sent, (id) => itemKey(call, id), storage) : sent;
  const messages = isWhole ? request.messages : [];
  const added = isWhole ? messages.slice(request.firstNew) : [];
  const lastUser = added.findLast(({ role }) => role === 'user');
  const renderedPrompt = textOfMessages(added);
  const promptText = lastUser ? textOfMessages([lastUser]) : renderedPrompt;
  const own = requestKey(call, request);
  const previous = request.previousResponseId === null ? null : responseKey(call, request.previousResponseId);
  const continues = isWhole && previous !== null ? threads.findResponse(previous) : null;
  const earlier = earlierKeys(call, sent, previous);
  const model = modelOf(call, request.model);
  const named = { promptText, renderedPrompt, messages: added, metadata: null };
  const name = (isWhole && runTitleOf(named)) || model;
  const { conversationId, workspaceId } = runs.joinConversation({
    conversationId: threads.find(earlier),
    workspaceId: null,
    callerId: call.caller.callerId,
    name,
  });
  threads.note(own, conversationId);
  const runId = timeOrderedId();
  const aiSystem = systemOf(call.providerId);
  runs.begin({
    runId,
    messageId: randomUUID(),
    conversationId,
    workspaceId,
    callerId: call.caller.callerId,
    apiKeyId: call.caller.key?.id ?? null,
    promptId: null,
    promptVersionId: null,
    aiSystem,
    model,
    servedBy: `${aiSystem}/${model}`,
    createdAt: Date.now(),
    // The messages have it.
    promptText: '',
    systemMessage: isWhole ? request.systemMessage : null,
    replacements: null,
    renderedPrompt,
    messages: isWhole ? messages : null,
    ...(isWhole && { messageKeys: request.messageKeys }),
    ...(continues && { continues }),
    configuration: isWhole ? request.configuration : null,
    dataspaceIds: null,
    appHeaders: { ...request.program.appHeaders },
    metadata: null,
    warnings: [],
    origin: { api: call.api!, client: request.program.client },
  });
  return { runId, conversationId, level };
}

/** By these, the next call of the conversation finds it. */
export function noteAnswer(
  { call, request }: { readonly call: ProgramCall; readonly request: ReadRequest },
  { runId, conversationId, level }: Recording,
  response: RecordedResponse,
  { threads, settings }: Pick<Storage, 'threads' | 'settings'>,
): void {
  const scope = scopeOf(call);
  if (response.id !== null) {
    const keepsSystem = !request.hasInstructions;
    threads.note(responseKey(call, response.id), conversationId, { runId, keepsSystem });
  }
  // The provider forgets what it may not store.
  const isStored = level === 'all' && request.configuration['store'] !== false;
  for (const { id, ...item } of isStored ? response.items : [])
    threads.noteItem(itemKey(call, id), conversationId, { runId, item });
  // Redacted messages have other hashes. The request's own key finds the conversation, too.
  if (settings.read().recorder.redaction.length > 0) return;
  const text = response.content === '' ? [] : [{ type: 'text' as const, text: response.content }];
  const calls = response.toolCalls.map((toolCall) => ({ type: 'toolCall' as const, ...toolCall }));
  const answer = { role: 'assistant' as const, content: [...text, ...calls] };
  threads.note(`${scope} ${answerKey(request.key || scope, answer)}`, conversationId);
}
