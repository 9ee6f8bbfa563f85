import { ReadableStream as NodeStream } from 'node:stream/web';
import { invalidField } from '../../shared/app-error.ts';
import {
  type Configuration,
  completionRequest,
  type FinishReason,
  type Usage,
} from '../../shared/contract/completions.ts';
import type { AcceptedRun, Completions } from '../completions/completions.ts';
import type { Run, RunAnswer, RunPart } from '../completions/run.ts';
import type { Log } from '../log.ts';
import { promptFiles } from '../passthrough/check-prompt.ts';
import type { PassThrough } from '../passthrough/create-passthrough.ts';
import { type Fields, isObject, objectOf, parseObject, textOf } from '../passthrough/fields.ts';
import { readRequest } from '../passthrough/read-request.ts';
import {
  lastUserText,
  translatedKind,
  translateRequest,
  type TranslationOptions,
} from '../passthrough/translated-model.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import type { HandlerInput } from './api.ts';
import { defaultHeaders, toAppError } from './error-response.ts';
import { maximumBodyBytes } from './request-body.ts';
import { originOf } from './run-response.ts';

type Input = HandlerInput<unknown, unknown, unknown>;

/** OpenAI's names of parameters in the format of completions. Others say nothing to a model, such as `user` and `store`. */
const parameters: Readonly<Record<string, keyof Configuration & string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
  stop: 'stop',
  seed: 'seed',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  reasoning_effort: 'reasoning_effort',
  response_format: 'response_format',
  tools: 'tools',
  tool_choice: 'tool_choice',
  parallel_tool_calls: 'parallel_tool_calls',
};

function configurationOf(body: Fields): Configuration {
  const { n } = body;
  if (n !== undefined && n !== null && n !== 1) throw invalidField('n', 'must be 1');
  const values = Object.entries(parameters).flatMap(([name, parameter]) =>
    body[name] === undefined || body[name] === null ? [] : [[parameter, body[name]] as const],
  );
  const checked = completionRequest.shape.configuration.safeParse(Object.fromEntries(values));
  if (checked.success) return checked.data ?? {};
  const [issue] = checked.error.issues;
  throw invalidField(issue!.path.join('.') || 'configuration', issue!.message);
}

function valuesOf(body: Fields): Record<string, string> {
  const values = Object.entries(objectOf(body['metadata']));
  return Object.fromEntries(values.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

const reasons: Record<FinishReason, string> = {
  Stop: 'stop',
  Length: 'length',
  ContentFilter: 'content_filter',
  ToolCalls: 'tool_calls',
};

function usageOf(usage: Usage | null): object | null {
  if (usage === null) return null;
  const { details, ...totals } = usage;
  if (!details) return totals;
  return {
    ...totals,
    prompt_tokens_details: { cached_tokens: details.cached_tokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: details.reasoning_tokens ?? 0 },
  };
}

/** What every object of one answer has. */
interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function wholeAnswer(head: AnswerHead, { content, finishReason, usage, toolCalls }: RunAnswer): object {
  const calls = (toolCalls ?? []).map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  const text = content === '' && calls.length > 0 ? null : content;
  const message = { role: 'assistant', content: text, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) };
  const choice = { index: 0, message, logprobs: null, finish_reason: reasons[finishReason] };
  return { ...head, object: 'chat.completion', choices: [choice], usage: usageOf(usage) };
}

function chunkOf(head: AnswerHead, delta: object, finishReason: FinishReason | null = null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason && reasons[finishReason] };
  return eventOf({ ...head, object: 'chat.completion.chunk', choices: [choice] });
}

function eventOf(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function deltasOf(part: RunPart): object[] {
  if (part.type === 'text') return (part.pieces ?? [part.text]).map((content) => ({ content }));
  if (part.type !== 'toolCall') return [];
  const { index, id, name, arguments: given } = part.chunk;
  const called = { ...(name !== undefined && { name }), arguments: given };
  return [{ tool_calls: [{ index, ...(id !== undefined && { id, type: 'function' }), function: called }] }];
}

interface StreamOptions {
  readonly includesUsage: boolean;
  readonly requestId: string;
  readonly reportFailure: Log;
}

/** The events of a streamed answer. A failure is the last one. */
async function* events(
  head: AnswerHead,
  first: IteratorResult<RunPart, void>,
  parts: AsyncGenerator<RunPart, void, void>,
  { includesUsage, requestId, reportFailure }: StreamOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  try {
    yield encoder.encode(chunkOf(head, { role: 'assistant', content: '' }));
    for (let next = first; !next.done; next = await parts.next()) {
      const part = next.value;
      const text = deltasOf(part).map((delta) => chunkOf(head, delta));
      if (part.type === 'end') {
        text.push(chunkOf(head, {}, part.finishReason));
        const usage = { ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(part.usage) };
        if (includesUsage) text.push(eventOf(usage));
        text.push('data: [DONE]\n\n');
      }
      if (text.length > 0) yield encoder.encode(text.join(''));
    }
  } catch (error) {
    const { message, code } = toAppError(error, requestId, reportFailure);
    yield encoder.encode(eventOf({ error: { message, type: 'server_error', param: null, code } }));
  } finally {
    await parts.return();
  }
}

async function streamed(
  run: Run,
  head: AnswerHead,
  headers: Record<string, string>,
  options: StreamOptions,
): Promise<Response> {
  const parts = run.stream();
  // A failure before the first part is an error response.
  const first = await parts.next();
  const body = NodeStream.from(events(head, first, parts, options)) as unknown as ReadableStream<Uint8Array>;
  return new Response(body, { headers: { ...headers, 'content-type': 'text/event-stream' } });
}

export interface TranslatedCallOptions extends TranslationOptions {
  readonly completions: Pick<Completions, 'start'>;
  readonly thread: PassThrough['thread'];
  readonly reportFailure: Log;
}

async function start(body: Fields, model: string, input: Input, options: TranslatedCallOptions): Promise<AcceptedRun> {
  const kind = translatedKind(model)!;
  const sent = readRequest('openai-chat', body);
  const program = { ...sent, configuration: configurationOf(body), values: valuesOf(body) };
  const request = translateRequest(model.slice(kind.length + 1), kind, program, options);
  const origin = { api: 'openai-chat' as const, client: input.headers.get('user-agent')?.slice(0, 200) || null };
  const results = request.messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'toolResult' ? [part.content] : [])),
  );
  const { aiSystem, systemMessage, configuration, dataspaceIds, messages, storedPrompt } = request;
  const thread = options.thread(input.caller.callerId, sent.messages);
  const conversationId = thread.conversationId ?? timeOrderedId();
  thread.note(conversationId);
  return options.completions.start(
    {
      promptText: lastUserText(messages),
      systemMessage,
      aiSystem,
      model: request.model,
      configuration,
      dataspaceIds: dataspaceIds && [...dataspaceIds],
    },
    { ...originOf(input), origin },
    {
      signal: input.signal,
      files: promptFiles(sent.files),
      // The messages are sent as they are: a program's text is no template.
      continuation: { conversationId, messages, results, storedPrompt, citations: [] },
    },
  );
}

/** How the name of such a model can begin in JSON. */
const beginnings = ['service', 'on-device', 'prompt', 'agent'].flatMap((kind) =>
  ['/', '\\/'].map((slash) => Buffer.from(`"${kind}${slash}`)),
);

/** The model that a body names, if Touchstone runs it itself. */
export function translatedModel(body: Buffer): { readonly body: Fields; readonly model: string } | null {
  // Most bodies name none, and parsing a long one takes time.
  if (body.length > maximumBodyBytes || !beginnings.some((beginning) => body.includes(beginning))) return null;
  const value = parseObject(body.toString());
  const model = value && textOf(value['model']);
  return model && translatedKind(model) !== null ? { body: value, model } : null;
}

/** Runs a chat completion of OpenAI's API through completions, with the guard, grounding, versions and credits. */
export async function translatedCall(
  { body, model }: { readonly body: Fields; readonly model: string },
  input: Input,
  options: TranslatedCallOptions,
): Promise<Response> {
  const { run } = await start(body, model, input, options);
  const { runId, conversationId } = run.plan;
  const head = { id: `chatcmpl-${runId}`, created: Math.floor(Date.now() / 1000), model };
  const headers = {
    ...defaultHeaders,
    'x-touchstone-recorded': 'all',
    'x-touchstone-run-id': runId,
    'x-touchstone-conversation-id': conversationId,
  };
  if (body['stream'] !== true) return Response.json(wholeAnswer(head, await run.complete()), { headers });
  const streamOptions = body['stream_options'];
  const includesUsage = isObject(streamOptions) && streamOptions['include_usage'] === true;
  return streamed(run, head, headers, {
    includesUsage,
    requestId: input.requestId,
    reportFailure: options.reportFailure,
  });
}
