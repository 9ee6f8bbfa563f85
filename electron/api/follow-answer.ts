import type { Log } from '../log.ts';
import type { HandlerInput } from './handler.ts';
import { streamAnswer } from './stream-answer.ts';

/** Streams events until the caller goes away or the source ends; the source is told by a signal of its own. */
export function followAnswer(
  { signal, requestId }: Pick<HandlerInput<unknown, unknown, unknown>, 'signal' | 'requestId'>,
  events: (signal: AbortSignal) => AsyncGenerator<unknown, void, void>,
  reportFailure: Log,
): Response {
  const stop = new AbortController();
  return streamAnswer(events(stop.signal), {
    kind: 'event-stream',
    headers: {},
    requestId,
    signal,
    stop: () => stop.abort(),
    reportFailure,
  });
}
