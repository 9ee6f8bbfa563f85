import { ReadableStream as NodeStream } from 'node:stream/web';
import { invalidField } from '../../shared/app-error.ts';
import type { RecordLevel } from '../../shared/contract/common.ts';
import { type Configuration, configuration as configurationSchema } from '../../shared/contract/completions.ts';
import { type Message, textOfMessage } from '../../shared/contract/messages.ts';
import { validate } from '../common/validate.ts';
import type { AcceptedRun, Completions } from '../completions/completions.ts';
import type { Run, RunPart } from '../completions/run.ts';
import type { Log } from '../log.ts';
import type { PassThrough } from '../passthrough/create-passthrough.ts';
import { type Fields, isObject, listOf, objectOf, textOf } from '../passthrough/fields.ts';
import { isFunctionTool, namedParameters } from '../passthrough/named-parameters.ts';
import { type OwnCall, ownModelKind } from '../passthrough/own-call.ts';
import { inProgramFields } from '../passthrough/program-fields.ts';
import { readRequest, type RecordedRequest } from '../passthrough/read-request.ts';
import { promptFiles } from '../passthrough/sent-files.ts';
import { translateRequest, type TranslatedRequest, type TranslationOptions } from '../passthrough/translated-model.ts';
import type { ContinuableRun } from '../storage/continuable-run.ts';
import type { RunOutcome } from '../storage/run-rows.ts';
import { publicMessages, publicToolCall } from '../storage/stored-messages.ts';
import type { Storage } from '../storage/storage.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import type { HandlerInput } from './api.ts';
import type { AnswerEvents, AnswerFormat } from './answer-format.ts';
import { chatAnswer } from './chat-answer.ts';
import { defaultHeaders, toAppError } from './error-response.ts';
import { responsesAnswer } from './responses-answer.ts';
import { costHeaders, originOf } from './run-response.ts';

type Input = HandlerInput<unknown, unknown, unknown>;

/** The APIs of OpenAI in which a program can call one of Touchstone's models. */
export type TranslatedApi = 'openai-chat' | 'openai-responses';

/** What needs a store of OpenAI's, and what would change the answer if it were left out. */
const unsupported: Readonly<Record<TranslatedApi, readonly string[]>> = {
  'openai-chat': ['functions', 'function_call', 'logit_bias', 'logprobs', 'top_logprobs', 'audio'],
  'openai-responses': ['background', 'conversation', 'prompt', 'top_logprobs'],
};

/** Libraries send their defaults, too. */
const isSet = (value: unknown): boolean =>
  Boolean(value) && (typeof value !== 'object' || Object.keys(value!).length > 0);

/** In OpenAI's APIs a function without arguments needs no parameters. */
function withParameters(tool: unknown): unknown {
  if (!isFunctionTool(tool)) return tool;
  const { function: nested, ...flat } = objectOf(tool);
  const complete = (definition: Fields): Fields => {
    const parameters = definition['parameters'] ?? { type: 'object', properties: {}, additionalProperties: false };
    return { ...definition, parameters };
  };
  return isObject(nested) ? { ...flat, function: complete(nested) } : complete(objectOf(tool));
}

function configurationOf(api: TranslatedApi, body: Fields): Configuration {
  const { n } = body;
  if (n !== undefined && n !== null && n !== 1) throw invalidField('n', 'must be 1');
  for (const name of unsupported[api])
    if (isSet(body[name])) throw invalidField(name, "is not supported by Touchstone's models");
  // Others say nothing to a model, such as `user` and `store`.
  const { named } = namedParameters(api, body);
  const { tools } = named;
  const given = Array.isArray(tools) ? { ...named, tools: tools.map(withParameters) } : named;
  return validate(configurationSchema, given, 'request');
}

function valuesOf(body: Fields): Record<string, string> {
  const values = Object.entries(objectOf(body['metadata']));
  return Object.fromEntries(values.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

interface StreamOptions {
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly reportFailure: Log;
}

/** The bytes of a streamed answer. A failure is the last event. */
async function* bytesOf(
  events: AnswerEvents,
  first: IteratorResult<RunPart, void>,
  parts: AsyncGenerator<RunPart, void, void>,
  { requestId, reportFailure }: StreamOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  try {
    yield encoder.encode(events.start());
    for (let next = first; !next.done; next = await parts.next()) {
      const text = events.part(next.value);
      if (text !== '') yield encoder.encode(text);
    }
  } catch (error) {
    yield encoder.encode(events.failure(toAppError(error, requestId, reportFailure)));
  } finally {
    await parts.return();
  }
}

async function streamed(
  run: Run,
  events: AnswerEvents,
  headers: () => Record<string, string>,
  options: StreamOptions,
): Promise<Response> {
  const parts = run.stream();
  // A failure before the first part is an error response.
  const first = await parts.next();
  const stop = () => {
    run.stop();
    // If no byte was read yet, cancelling the body doesn't reach the run.
    void parts.return().catch(() => undefined);
  };
  if (options.signal.aborted) stop();
  else options.signal.addEventListener('abort', stop, { once: true });
  const body = NodeStream.from(bytesOf(events, first, parts, options)) as unknown as ReadableStream<Uint8Array>;
  return new Response(body, { headers: { ...headers(), 'content-type': 'text/event-stream' } });
}

export interface TranslatedCallOptions extends TranslationOptions {
  readonly storage: TranslationOptions['storage'] & Pick<Storage, 'runs' | 'turns'>;
  readonly completions: Pick<Completions, 'start'>;
  readonly passThrough: Pick<PassThrough, 'thread' | 'recordRun' | 'noteRecord'>;
  readonly reportFailure: Log;
}

/** A call, and how much its program wants recorded. */
export interface LeveledCall extends OwnCall {
  readonly level: RecordLevel;
}

/** Characters of a program's name. */
const maxClientCharacters = 200;

/** What the program calls itself; null if it doesn't. */
export function clientOf(headers: Headers): string | null {
  return headers.get('user-agent')?.slice(0, maxClientCharacters) || null;
}

/** Whether the run is an agent's turn whose messages have its template. Only then has the service written the metadata. */
const isTemplate = ({ agentId, metadata }: ContinuableRun): boolean =>
  agentId !== null && metadata?.['isTemplate'] === true;

/** The messages of a stored prompt and of an agent's template aren't for everybody who can call another model. */
function requireSameText(run: ContinuableRun, { storedPrompt, agent }: TranslatedRequest): void {
  const { promptId } = run;
  const agentId = isTemplate(run) ? run.agentId : null;
  if (promptId !== null && promptId !== storedPrompt?.promptId)
    throw invalidField('previous_response_id', 'is a response of a stored prompt; continue it with the same prompt');
  if (agentId !== null && agentId !== agent?.agentId)
    throw invalidField('previous_response_id', 'is a response of an agent; continue it with the same agent');
}

function answerMessage({ content, toolCalls = [] }: Pick<RunOutcome, 'content' | 'toolCalls'>): Message {
  const text = content === '' ? [] : [{ type: 'text' as const, text: content }];
  const calls = toolCalls.map((call) => ({ type: 'toolCall' as const, ...publicToolCall(call) }));
  return { role: 'assistant', content: [...text, ...calls] };
}

/** The response that a request continues: its messages and its answer come before those of the request. */
function continuedResponse(
  { previousResponseId: id }: RecordedRequest,
  { caller }: Input,
  { storage }: TranslatedCallOptions,
) {
  if (id === null) return null;
  const runId = /^resp_([\da-f-]{36})$/.exec(id)?.[1];
  const run = runId === undefined ? null : storage.runs.readToContinue(runId);
  if (run?.callerId !== caller.callerId || run.status !== 'Completed')
    throw invalidField('previous_response_id', "is not a completed response of this key's own");
  if (run.content === '' && run.toolCalls.length === 0 && run.messages.every((each) => textOfMessage(each) === ''))
    throw invalidField('previous_response_id', 'is a response of which only the metadata is recorded');
  const answer = answerMessage(run);
  // A blocked answer is empty, as is one that was cut off while the model reasoned. Providers reject such messages.
  const messages = [...publicMessages(run.messages), ...(answer.content.length > 0 ? [answer] : [])];
  return {
    conversationId: run.conversationId,
    messages,
    turn: { promptText: run.promptText, isTemplate: isTemplate(run) },
    requireSame: (request: TranslatedRequest) => requireSameText(run, request),
  };
}

/** The items of an answer of this service's own, by their ids. */
const itemId = /^(?:msg|fc)_([\da-f-]{36})_\d+$/;

/** Each is read from the database while other calls wait. */
const maxReferredAnswers = 100;

/** The answer that a program refers to, instead of sending it again. */
function referredItems(id: string, { caller }: Input, { storage }: TranslatedCallOptions): readonly object[] {
  const runId = itemId.exec(id)?.[1];
  const run = runId === undefined ? null : storage.runs.readToContinue(runId);
  if (run?.callerId !== caller.callerId || run.status !== 'Completed')
    throw invalidField('input', "has an item_reference to no response of this key's own");
  const text = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: run.content }] };
  const calls = run.toolCalls.map(({ id: call_id, name, arguments: given }) => {
    return { type: 'function_call', call_id, name, arguments: given };
  });
  return run.content === '' ? calls : [text, ...calls];
}

/** The request with the answers that it refers to: a program that refers to an answer refers to all of its items. */
function withReferredItems(body: Fields, input: Input, options: TranslatedCallOptions): Fields {
  const known = new Set<string>();
  const items = listOf(body['input']).flatMap((item) => {
    const { type, id } = objectOf(item);
    if (type !== 'item_reference') return [item];
    const runId = itemId.exec(textOf(id))?.[1] ?? '';
    if (known.has(runId)) return [];
    known.add(runId);
    if (known.size > maxReferredAnswers)
      throw invalidField('input', `has an item_reference to more than ${maxReferredAnswers} responses`);
    return referredItems(textOf(id), input, options);
  });
  return known.size === 0 ? body : { ...body, input: items };
}

/** Touchstone fetches no files, and a model that gets an address instead answers without the file. */
function requireContents(api: TranslatedApi, { missingFile }: RecordedRequest): void {
  if (missingFile === null) return;
  const field = api === 'openai-chat' ? 'messages' : 'input';
  throw invalidField(
    field,
    `has a file without its content, "${missingFile.slice(0, 200)}"; send it as a data: URL in base64`,
  );
}

/** The call as completions run it, after the response that it continues. */
function readCall(api: TranslatedApi, { body, model }: LeveledCall, input: Input, options: TranslatedCallOptions) {
  const kind = ownModelKind(model)!;
  const whole = api === 'openai-responses' ? withReferredItems(body, input, options) : body;
  const read = readRequest(api, whole, null);
  requireContents(api, read);
  const continued = continuedResponse(read, input, options);
  const sent = continued ? { ...read, messages: [...continued.messages, ...read.messages] } : read;
  const continuedMessages = continued?.messages.length ?? 0;
  const program = {
    ...sent,
    continued: continuedMessages,
    continuedTurn: continued?.turn ?? null,
    configuration: configurationOf(api, body),
    values: valuesOf(body),
  };
  const request = translateRequest(model.slice(kind.length + 1), kind, program, options);
  const results = request.messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'toolResult' ? [part.content] : [])),
  );
  continued?.requireSame(request);
  return { request, results, sent, continued };
}

async function start(
  api: TranslatedApi,
  call: LeveledCall,
  input: Input,
  options: TranslatedCallOptions,
): Promise<{ readonly accepted: AcceptedRun; readonly recorded: RecordLevel }> {
  const { request, results, sent, continued } = readCall(api, call, input, options);
  const { promptText, aiSystem, systemMessage, configuration, dataspaceIds, messages, storedPrompt, agent } = request;
  const { appHeaders } = originOf(input);
  const client = clientOf(input.headers);
  const record = await options.passThrough.recordRun(
    { api, caller: input.caller, level: call.level },
    { promptText, systemMessage, messages, configuration, program: { appHeaders, client } },
  );
  const thread = options.passThrough.thread(input.caller.callerId, sent.messages);
  const conversationId = continued?.conversationId ?? thread.conversationId ?? timeOrderedId();
  if (record.level !== 'none') thread.note(conversationId);
  const accepted = await options.completions.start(
    {
      promptText,
      systemMessage,
      aiSystem,
      model: request.model,
      configuration,
      dataspaceIds: dataspaceIds && [...dataspaceIds],
      ...(agent && { metadata: { ...agent } }),
    },
    { ...originOf(input), origin: { api, client } },
    {
      signal: input.signal,
      files: promptFiles(sent.files),
      ...(record.recording && { recording: record.recording }),
      // The messages are sent as they are: a program's text is no template.
      continuation: {
        conversationId,
        messages,
        results,
        storedPrompt,
        citations: [],
        isTemplate: agent?.isTemplate === true,
      },
    },
  );
  if (record.level !== 'none') {
    const { run } = accepted;
    if (agent) options.storage.turns.noteAgent(run.plan.runId, agent.agentId);
    void run.recorded.then(() => {
      options.passThrough.noteRecord();
      const { outcome } = run;
      if (outcome?.status === 'Completed') thread.noteAnswer(run.plan.conversationId, answerMessage(outcome));
    });
  }
  return { accepted, recorded: record.level };
}

const formats: Record<TranslatedApi, AnswerFormat> = { 'openai-chat': chatAnswer, 'openai-responses': responsesAnswer };

/** The headers of a completion, and those of a recorded call. Without a record there are no ids. */
function headersOf(accepted: AcceptedRun, recorded: RecordLevel): Record<string, string> {
  const { runId, conversationId } = accepted.run.plan;
  return {
    ...defaultHeaders,
    ...costHeaders(accepted),
    'x-touchstone-recorded': recorded,
    ...(recorded !== 'none' && {
      'x-run-id': runId,
      'x-conversation-id': conversationId,
      'x-touchstone-run-id': runId,
      'x-touchstone-conversation-id': conversationId,
    }),
  };
}

/** Runs a call of OpenAI's API through completions, with the guard, grounding, versions and credits. */
export async function translatedCall(
  api: TranslatedApi,
  call: LeveledCall,
  input: Input,
  options: TranslatedCallOptions,
): Promise<Response> {
  const { body, model } = call;
  const { accepted, recorded } = await start(api, call, input, options).catch((error: unknown) => {
    throw inProgramFields(error, api);
  });
  const { run } = accepted;
  const { runId } = run.plan;
  const head = { runId, created: Math.floor(Date.now() / 1000), model, request: body };
  const format = formats[api];
  const { requestId, signal } = input;
  const { reportFailure } = options;
  // Only known when the model has begun to answer.
  const headers = () => headersOf(accepted, recorded);
  try {
    if (body['stream'] === true)
      return await streamed(run, format.stream(head, body), headers, { requestId, signal, reportFailure });
    const whole = format.whole(head, await run.complete());
    return Response.json(whole, { headers: headers() });
  } catch (error) {
    throw toAppError(error, requestId, reportFailure).withHeaders(headers());
  }
}
