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
import { parseAcceptHeader } from './accept.ts';
import { implement, type Handler, type HandlerInput } from './handler.ts';
import { originOf, remarks, streamedRunAnswer, wholeRunAnswer } from './run-answer.ts';
import type { StreamKind } from './stream-answer.ts';

type Input = HandlerInput<unknown, unknown, CompletionRequest>;

function prefersArray(accept: string | null): boolean {
  const { quality } = parseAcceptHeader(accept);
  return quality('application/json') > quality('text/event-stream');
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
