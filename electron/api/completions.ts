import { parseAccept, type Accept } from 'hono/utils/accept';
import {
  createCompletion,
  createCompletionEvents,
  createCompletionStream,
  createCompletionSync,
  type CompletionAnswer,
  type CompletionRequest,
} from '../../shared/contract/completions.ts';
import type { Completions } from '../completions/completions.ts';
import type { Run, RunAnswer } from '../completions/run.ts';
import type { Log } from '../log.ts';
import { implement, type Handler, type HandlerInput } from './handler.ts';
import { originOf, remarks, streamedRunAnswer, wholeRunAnswer } from './run-answer.ts';
import type { StreamKind } from './stream-answer.ts';

type Input = HandlerInput<unknown, unknown, CompletionRequest>;

/** How much a type is wanted, by the most exact range that covers it. */
function acceptedQuality(accepted: readonly Accept[], type: string): number {
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*'];
  const found = ranges.map((range) => accepted.find((entry) => entry.type.toLowerCase() === range));
  return found.find((entry) => entry !== undefined)?.q ?? 0;
}

function prefersArray(accept: string | null): boolean {
  if (accept === null) return false;
  const accepted = parseAccept(accept);
  return acceptedQuality(accepted, 'application/json') > acceptedQuality(accepted, 'text/event-stream');
}

function toCompletionAnswer(run: Run, { content, finishReason, usage }: RunAnswer): CompletionAnswer {
  const message = { role: 'Assistant' as const, content };
  return {
    choices: [{ finish_reason: finishReason, index: 0, message }],
    messageId: run.plan.messageId,
    runId: run.plan.runId,
    usage,
    ...remarks(run),
  };
}

export function completionHandlers(completions: Completions, reportFailure: Log): Handler[] {
  const start = (input: Input) => completions.start(input.body, originOf(input), { signal: input.signal });

  async function sync(input: Input): Promise<Response> {
    return wholeRunAnswer(await start(input), input, toCompletionAnswer, reportFailure);
  }

  async function stream(input: Input, kind: StreamKind): Promise<Response> {
    return streamedRunAnswer(await start(input), input, kind, reportFailure);
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
