import {
  type CompletionAnswer,
  type CompletionBody,
  countTokens,
  createCompletion,
  createCompletionEvents,
  createCompletionStream,
  createCompletionSync,
} from '../../shared/contract/completions.ts';
import type { Completions } from '../completions/completions.ts';
import type { Run, RunAnswer } from '../completions/run.ts';
import type { Log } from '../log.ts';
import { parseAcceptHeader } from './accept.ts';
import { type Handler, type HandlerInput, implement } from './api.ts';
import { calledTools, originOf, remarks, streamedRunResponse, wholeRunResponse } from './run-response.ts';
import type { StreamKind } from './stream-response.ts';
import { createGroundedCompletion, previewGrounding } from '../../shared/contract/grounding.ts';

type Input = HandlerInput<unknown, unknown, CompletionBody>;

function prefersArray(accept: string | null): boolean {
  const { quality } = parseAcceptHeader(accept);
  return quality('application/json') > quality('text/event-stream');
}

function toCompletionAnswer(run: Run, answer: RunAnswer): CompletionAnswer {
  const { content, finishReason, usage } = answer;
  const message = { role: 'Assistant' as const, content, ...calledTools(answer) };
  return {
    choices: [{ finish_reason: finishReason, index: 0, message }],
    messageId: run.plan.messageId,
    runId: run.plan.runId,
    usage,
    ...remarks(run),
  };
}

function runHandlers(completions: Completions, reportFailure: Log): Handler[] {
  const start = (input: Input) => completions.startOrContinue(input.body, originOf(input), { signal: input.signal });

  async function sync(input: Input): Promise<Response> {
    return wholeRunResponse(await start(input), input, toCompletionAnswer, reportFailure);
  }

  async function stream(input: Input, kind: StreamKind): Promise<Response> {
    return streamedRunResponse(await start(input), input, kind, reportFailure);
  }

  return [
    implement(createCompletion, (input) => {
      if (input.query.stream !== 'true') return sync(input);
      return stream(input, prefersArray(input.headers.get('accept')) ? 'json-array' : 'event-stream');
    }),
    implement(countTokens, async ({ body, signal }) => ({ tokens: await completions.countTokens(body, { signal }) })),
    implement(createCompletionSync, sync),
    implement(createCompletionStream, (input) => stream(input, 'json-array')),
    implement(createCompletionEvents, (input) => stream(input, 'event-stream')),
  ];
}

function groundingHandlers(
  completions: Pick<Completions, 'start' | 'previewGrounding'>,
  reportFailure: Log,
): Handler[] {
  return [
    implement(previewGrounding, ({ body: { grounding, ...request }, signal }) =>
      completions.previewGrounding(request, grounding ?? {}, { signal }),
    ),
    implement(createGroundedCompletion, async (input) => {
      const { grounding, ...request } = input.body;
      const context = { signal: input.signal, ...(grounding && { grounding }) };
      const accepted = await completions.start(request, originOf(input), context);
      return streamedRunResponse(accepted, input, 'event-stream', reportFailure);
    }),
  ];
}

/** Completions in every format, grounding previews and token counts. */
export function completionHandlers(completions: Completions, reportFailure: Log): Handler[] {
  return [...runHandlers(completions, reportFailure), ...groundingHandlers(completions, reportFailure)];
}
