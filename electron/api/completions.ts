import { parseAccept } from 'hono/utils/accept';
import { AppError } from '../../shared/app-error.ts';
import {
  createCompletion,
  createCompletionEvents,
  createCompletionStream,
  createCompletionSync,
  type CompletionAnswer,
  type CompletionChunk,
  type CompletionRequest,
} from '../../shared/contract/completions.ts';
import type { AcceptedRun, Completions } from '../completions/create-completions.ts';
import type { RunPlan } from '../completions/run.ts';
import { errorAnswer } from './error-answer.ts';
import { implement, type Handler, type HandlerInput } from './handler.ts';
import { streamAnswer, type StreamKind } from './stream-answer.ts';

type Input = HandlerInput<unknown, unknown, CompletionRequest>;
type ReportFailure = (message: string, error: unknown) => void;

const appHeaderPrefix = 'x-app-';

function appHeaders(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (name.startsWith(appHeaderPrefix)) kept[name.slice(appHeaderPrefix.length)] = value;
  }
  return kept;
}

/** Headers that say which model answered, under which id, and what it cost. */
function runHeaders({ run, credit }: AcceptedRun): Record<string, string> {
  const remaining = credit.remaining();
  return {
    'x-served-by': run.plan.servedBy,
    'x-run-id': run.plan.runId,
    'x-credits-consumed': String(run.credits),
    ...(remaining === null ? {} : { 'x-credits-remaining': String(remaining) }),
  };
}

/** `citations` and `warnings` are there when there is something to say. */
function remarks({ citations, warnings }: RunPlan) {
  return {
    ...(citations.length === 0 ? {} : { citations: [...citations] }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
}

async function* toChunks(
  accepted: AcceptedRun,
  parts: ReturnType<AcceptedRun['run']['stream']>,
): AsyncGenerator<CompletionChunk, void, void> {
  const { plan } = accepted.run;
  const { messageId, runId } = plan;
  for await (const part of parts) {
    if (part.type === 'text') {
      yield { choice: { index: 0, message: { role: 'assistant', content: part.text } }, messageId, runId };
    } else if (part.type === 'end') {
      const choice = { index: 0, finish_reason: part.finishReason, message: { role: 'assistant' as const } };
      const usage = part.usage === null ? {} : { usage: part.usage };
      yield { choice, messageId, runId, ...usage, ...remarks(plan) };
    }
  }
}

function prefersArray(accept: string | null): boolean {
  if (accept === null) return false;
  const quality = (type: string) =>
    Math.max(
      0,
      ...parseAccept(accept)
        .filter((entry) => entry.type === type || entry.type === '*/*')
        .map((entry) => entry.q),
    );
  return quality('application/json') > quality('text/event-stream');
}

export function completionHandlers(completions: Completions, reportFailure: ReportFailure): Handler[] {
  const start = ({ body, caller, headers, signal }: Input) =>
    completions.start(
      body,
      { callerId: caller.callerId, key: caller.key, appHeaders: appHeaders(headers) },
      { signal },
    );

  function failedRun(error: unknown, accepted: AcceptedRun, { requestId, signal }: Input): Response {
    if (error instanceof AppError) return errorAnswer(error, requestId, runHeaders(accepted));
    if (!signal.aborted) reportFailure(`request ${requestId} failed in its run`, error);
    return errorAnswer(
      new AppError('internal', 'The run ended before it was answered.'),
      requestId,
      runHeaders(accepted),
    );
  }

  async function sync(input: Input): Promise<Response> {
    const accepted = await start(input);
    const { plan } = accepted.run;
    try {
      const { content, finishReason, usage } = await accepted.run.complete();
      const message = { role: 'Assistant' as const, content };
      const answer: CompletionAnswer = {
        choices: [{ finish_reason: finishReason, index: 0, message }],
        messageId: plan.messageId,
        runId: plan.runId,
        usage,
        ...remarks(plan),
      };
      return Response.json(answer, { headers: runHeaders(accepted) });
    } catch (error) {
      return failedRun(error, accepted, input);
    }
  }

  async function stream(input: Input, kind: StreamKind): Promise<Response> {
    const accepted = await start(input);
    const parts = accepted.run.stream();
    try {
      // The head is held back until the model has begun: a failure before that has a status of its own.
      await parts.next();
    } catch (error) {
      return failedRun(error, accepted, input);
    }
    return streamAnswer(toChunks(accepted, parts), {
      kind,
      headers: runHeaders(accepted),
      requestId: input.requestId,
      signal: input.signal,
      stop: () => {
        accepted.run.stop();
        // The chunks may not have been asked for yet; then ending them does not reach the run.
        void parts.return().catch(() => undefined);
      },
      reportFailure,
    });
  }

  return [
    implement(createCompletion, (input) => {
      if (input.query.stream !== 'true') return sync(input);
      return stream(input, prefersArray(input.headers.get('accept')) ? 'json-array' : 'event-stream');
    }),
    implement(createCompletionSync, sync),
    implement(createCompletionStream, (input) => stream(input, 'json-array')),
    implement(createCompletionEvents, (input) => stream(input, 'event-stream')),
  ];
}
