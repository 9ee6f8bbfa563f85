import { encodeEvent } from '../../shared/event-stream.ts';
import type { ResponseKind } from '../../shared/contract/endpoint.ts';
import type { Log } from '../log.ts';
import { toAppError } from './error-response.ts';
import type { HandlerInput } from './api.ts';

export type StreamKind = Extract<ResponseKind, 'event-stream' | 'json-array'>;

const contentTypes: Record<StreamKind, string> = {
  'event-stream': 'text/event-stream',
  'json-array': 'application/json',
};

/** How the parts of an answer are written one after the other. */
interface Encoding {
  part(value: unknown, isFirst: boolean): string;
  end(isFirst: boolean): string;
}

const encodings: Record<StreamKind, Encoding> = {
  'event-stream': { part: (value) => encodeEvent(value), end: () => '' },
  'json-array': {
    part: (value, isFirst) => (isFirst ? '[' : ',\n') + JSON.stringify(value),
    end: (isFirst) => (isFirst ? '[]' : ']'),
  },
};

export interface StreamResponseOptions {
  readonly kind: StreamKind;
  readonly headers: Record<string, string>;
  readonly requestId: string;
  /** Aborts when the caller leaves. This ends the source even if the body isn't cancelled. */
  readonly signal: AbortSignal;
  /** Ends what the source waits for, so that it need not yield once more before it can end. */
  readonly stop: () => void;
  readonly reportFailure: Log;
}

/**
 * Streams the parts as the caller reads them: a reader that stops reading stops the source, one that goes away ends it. A failure
 * becomes one last part in the error form, and the text stays valid to its end.
 */
export function streamResponse(parts: AsyncGenerator<unknown, void, void>, options: StreamResponseOptions): Response {
  const { requestId, reportFailure } = options;
  const encoding = encodings[options.kind];
  const encoder = new TextEncoder();
  let isFirst = true;
  const end = () => {
    options.stop();
    // The run records a failure to end. The caller has left.
    return parts.return().catch(() => undefined);
  };
  options.signal.addEventListener('abort', end, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let text: string;
        let isDone = false;
        try {
          const next = await parts.next();
          isDone = next.done === true;
          text = isDone ? encoding.end(isFirst) : encoding.part(next.value, isFirst);
        } catch (error) {
          isDone = true;
          text =
            encoding.part(toAppError(error, requestId, reportFailure).toBody(requestId), isFirst) + encoding.end(false);
        }
        isFirst = false;
        if (text !== '') controller.enqueue(encoder.encode(text));
        if (isDone) controller.close();
      },
      cancel: async () => {
        await end();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { ...options.headers, 'content-type': contentTypes[options.kind], 'cache-control': 'no-store' },
  });
}

/** Streams events until the caller leaves or the source ends. The source gets a separate signal. */
export function followResponse(
  { signal, requestId }: Pick<HandlerInput<unknown, unknown, unknown>, 'signal' | 'requestId'>,
  events: (signal: AbortSignal) => AsyncGenerator<unknown, void, void>,
  reportFailure: Log,
): Response {
  const stop = new AbortController();
  return streamResponse(events(stop.signal), {
    kind: 'event-stream',
    headers: {},
    requestId,
    signal,
    stop: () => stop.abort(),
    reportFailure,
  });
}

/** What came and was not read yet, as one value, so that a slow reader costs no memory. */
export interface EventQueue<Value> extends AsyncIterable<Value> {
  push: (value: Value) => void;
  end: () => void;
}

/**
 * Turns callbacks into an async iterable. What comes while the reader is busy is merged into one value. Ends when told, or when
 * the signal aborts.
 */
export function eventQueue<Value>(options: {
  signal: AbortSignal;
  merge: (pending: Value, next: Value) => Value;
}): EventQueue<Value> {
  let pending: { value: Value } | null = null;
  let isEnded = options.signal.aborted;
  let wake: () => void = () => undefined;

  const end = () => {
    isEnded = true;
    wake();
  };
  options.signal.addEventListener('abort', end, { once: true });

  async function* read(): AsyncGenerator<Value, void, void> {
    for (;;) {
      if (pending !== null) {
        const { value } = pending;
        pending = null;
        yield value;
      } else if (isEnded) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  return {
    push: (value) => {
      pending = { value: pending === null ? value : options.merge(pending.value, value) };
      wake();
    },
    end,
    [Symbol.asyncIterator]: read,
  };
}

/** Something with a list that changes and tells it to those who want to know. */
interface FollowedList<Item> {
  list(): Item[];
  subscribe(listener: (items: Item[]) => void): () => void;
}

/** The list now and again after each change, until the signal aborts. A slow reader gets only the newest. */
export async function* followList<Item>(
  source: FollowedList<Item>,
  signal: AbortSignal,
): AsyncGenerator<{ data: Item[] }, void, void> {
  const queue = eventQueue<Item[]>({ signal, merge: (_, next) => next });
  queue.push(source.list());
  const unsubscribe = source.subscribe(queue.push);
  try {
    for await (const data of queue) yield { data };
  } finally {
    unsubscribe();
  }
}
