import { AppError } from '../../shared/app-error.ts';
import type { CompletionChunk } from '../../shared/contract/completions.ts';
import type { ToolCall } from '../../shared/contract/tools.ts';
import type { MessageAnswer } from '../../shared/contract/prompt-library.ts';
import type { AcceptedRun, RunOrigin } from '../completions/completions.ts';
import type { Run, RunAnswer, RunText } from '../completions/run.ts';
import { publicToolCall } from '../storage/stored-messages.ts';
import type { Log } from '../log.ts';
import { errorResponse, toAppError } from './error-response.ts';
import type { HandlerInput } from './api.ts';
import { JsonResponse, longJsonResponse } from './json-response.ts';
import { longBodyBytes } from './request-body.ts';
import { JsonPart, streamResponse, type StreamKind, Together } from './stream-response.ts';

type Input = Pick<HandlerInput<unknown, unknown, unknown>, 'caller' | 'headers' | 'signal' | 'requestId'>;

const appHeaderPrefix = 'x-app-';

function appHeaders(headers: Headers): Record<string, string> {
  const own = [...headers].filter(([name]) => name.startsWith(appHeaderPrefix));
  // An assignment would lose a header named `__proto__`.
  return Object.fromEntries(own.map(([name, value]) => [name.slice(appHeaderPrefix.length), value]));
}

/** The caller of a run, in stored form. */
export function originOf({ caller, headers }: Pick<Input, 'caller' | 'headers'>): RunOrigin {
  return { callerId: caller.callerId, key: caller.key, appHeaders: appHeaders(headers) };
}

/** Headers have only visible ASCII. Other characters of a model's name are percent-encoded as UTF-8. */
function headerText(name: string): string {
  return name.toWellFormed().replaceAll(/[^\x20-\x7e]+/g, encodeURIComponent);
}

/** Headers with the model and the cost of a run. */
export function costHeaders({ run, credit }: AcceptedRun): Record<string, string> {
  const remaining = credit.remaining();
  return {
    'x-served-by': headerText(run.plan.servedBy),
    'x-credits-consumed': String(run.credits),
    ...(remaining === null ? {} : { 'x-credits-remaining': String(remaining) }),
  };
}

/** Headers with the model, the ids and the cost of a run. */
function runHeaders(accepted: AcceptedRun): Record<string, string> {
  const { runId, conversationId } = accepted.run.plan;
  return { ...costHeaders(accepted), 'x-run-id': runId, 'x-conversation-id': conversationId };
}

/** `citations` and `warnings` are present if they aren't empty. */
export function remarks({ citations, plan: { warnings } }: Pick<Run, 'citations' | 'plan'>) {
  return {
    ...(citations.length === 0 ? {} : { citations: [...citations] }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
}

/** The chunks of a run's texts. They are the same but for the text, so only that is encoded, which takes 2 µs less. */
function textChunks({ messageId, runId }: Run['plan']): (part: RunText) => JsonPart | Together<JsonPart> {
  const choice = { index: 0, message: { role: 'assistant' as const, content: '' } };
  const [before, after] = JSON.stringify({ choice, messageId, runId } satisfies CompletionChunk).split('""');
  const toChunk = (content: string) => new JsonPart(before + JSON.stringify(content) + after);
  return ({ text, pieces }) => (pieces ? new Together(pieces.map(toChunk)) : toChunk(text));
}

async function* toChunks(
  accepted: AcceptedRun,
  parts: ReturnType<AcceptedRun['run']['stream']>,
  toTextChunks: ReturnType<typeof textChunks>,
): AsyncGenerator<CompletionChunk | JsonPart | Together<JsonPart>, void, void> {
  const { messageId, runId } = accepted.run.plan;
  for await (const part of parts) {
    if (part.type === 'text') yield toTextChunks(part);
    else if (part.type === 'toolCall') {
      yield { choice: { index: 0, message: { role: 'assistant', toolCalls: [part.chunk] } }, messageId, runId };
    } else if (part.type === 'end') {
      const choice = { index: 0, finish_reason: part.finishReason, message: { role: 'assistant' as const } };
      const usage = part.usage === null ? {} : { usage: part.usage };
      yield { choice, messageId, runId, ...usage, ...remarks(accepted.run) };
    }
  }
}

/** The calls without the provider's stored data; no field if there are none. */
export function calledTools({ toolCalls }: Pick<RunAnswer, 'toolCalls'>): { toolCalls?: ToolCall[] } {
  return toolCalls ? { toolCalls: toolCalls.map(publicToolCall) } : {};
}

/** The answer of a stored prompt or an agent. */
export function toMessageAnswer(run: Run, answer: RunAnswer): MessageAnswer {
  const { messageId, runId, conversationId } = run.plan;
  const { content, usage } = answer;
  return {
    message: content,
    ...calledTools(answer),
    messageId,
    runId,
    conversationId,
    usage,
    ...remarks(run),
  };
}

function failedRun(error: unknown, accepted: AcceptedRun, input: Input, reportFailure: Log): Response {
  const { requestId, signal } = input;
  // A failure after the caller left is only a consequence of that.
  const failure = signal.aborted && !(error instanceof AppError) ? signal.reason : error;
  return errorResponse(toAppError(failure, requestId, reportFailure), requestId, runHeaders(accepted));
}

/** Waits for the complete answer of a run and sends it in the endpoint's format. */
export async function wholeRunResponse(
  accepted: AcceptedRun,
  input: Input,
  toBody: (run: Run, answer: RunAnswer) => object,
  reportFailure: Log,
): Promise<Response> {
  try {
    const answer = await accepted.run.complete();
    const init = { headers: runHeaders(accepted) };
    const body = toBody(accepted.run, answer);
    return answer.content.length > longBodyBytes ? longJsonResponse(body, init) : new JsonResponse(body, init);
  } catch (error) {
    return failedRun(error, accepted, input, reportFailure);
  }
}

/** Streams a run chunk by chunk. */
export async function streamedRunResponse(
  accepted: AcceptedRun,
  input: Input,
  kind: StreamKind,
  reportFailure: Log,
): Promise<Response> {
  const toTextChunks = textChunks(accepted.run.plan);
  let take = (_part: unknown) => false;
  const parts = accepted.run.stream((part) => take(toTextChunks(part)));
  try {
    // The head is sent when the model begins, because a failure before that has its own status.
    await parts.next();
  } catch (error) {
    return failedRun(error, accepted, input, reportFailure);
  }
  return streamResponse(toChunks(accepted, parts, toTextChunks), {
    kind,
    headers: runHeaders(accepted),
    requestId: input.requestId,
    signal: input.signal,
    stop: () => {
      accepted.run.stop();
      // If no chunk was read yet, ending the stream doesn't reach the run.
      void parts.return().catch(() => undefined);
    },
    onReader: (given) => {
      take = given;
    },
    reportFailure,
  });
}
