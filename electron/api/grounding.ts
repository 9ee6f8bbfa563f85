import { createGroundedCompletion, previewGrounding } from '../../shared/contract/grounding.ts';
import type { Completions } from '../completions/completions.ts';
import type { Log } from '../log.ts';
import { implement, type Handler } from './handler.ts';
import { originOf, streamedRunAnswer } from './run-answer.ts';

export function groundingHandlers(
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
      return streamedRunAnswer(accepted, input, 'event-stream', reportFailure);
    }),
  ];
}
