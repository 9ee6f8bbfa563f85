import { Readable } from 'node:stream';
import { encodeEvent } from '../../shared/event-stream.ts';
import type { ResponseKind } from '../../shared/contract/endpoint.ts';
import type { Log } from '../log.ts';
import { toAppError } from './error-response.ts';
import type { HandlerInput } from './api.ts';
import { LazyResponse } from './lazy-response.ts';

export type StreamKind = Extract<ResponseKind, 'event-stream' | 'json-array'>;

const contentTypes: Record<StreamKind, string> = {
  'event-stream': 'text/event-stream',
  'json-array': 'application/json',
};

/** The format of a streamed response. */
interface Encoding {
  part(value: unknown, isFirst: boolean): string;
  end(isFirst: boolean): string;
}

const toJson = (value: unknown) => (value instanceof JsonPart ? value.json : JSON.stringify(value));

const encodings: Record<StreamKind, Encoding> = {
  'event-stream': { part: (value) => encodeEvent(value, toJson(value)), end: () => '' },
  'json-array': {
    part: (value, isFirst) => (isFirst ? '[' : ',\n') + toJson(value),
    end: (isFirst) => (isFirst ? '[]' : ']'),
  },
};

/** Parts that arrived together and are sent with one write. */
export class Together<Part> {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }
}

/** A part that is JSON already. */
export class JsonPart {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

export interface StreamResponseOptions {
  readonly kind: StreamKind;
  readonly headers: Record<string, string>;
  readonly requestId: string;
  /** Aborts when the caller leaves. This ends the source even if the body isn't cancelled. */
  readonly signal: AbortSignal;
  /** Stops what the source waits for, so that it can end without yielding again. */
  readonly stop: () => void;
  /** Called with a function that takes a part while the source is read. False: it can't, and the source has to yield it. */
  readonly onReader?: (take: (part: unknown) => boolean) => void;
  readonly reportFailure: Log;
}

function encode(value: unknown, encoding: Encoding, isFirst: boolean): string {
  if (!(value instanceof Together)) return encoding.part(value, isFirst);
  return value.parts.map((part, index) => encoding.part(part, isFirst && index === 0)).join('');
}

/** The texts of a streamed body, at the reader's pace. */
export interface TextSource {
  /** Never rejects. The last text may be empty. */
  next(): Promise<{ readonly text: string; readonly isDone: boolean }>;
  /** From now on, a text that comes while the reader waits for `next` is given to `take`. False: it can't, and `next` returns the text. */
  offerTo(take: (text: string) => boolean): void;
  /** The reader has left. */
  end(): Promise<unknown>;
}

/** A streamed body on the wire. */
interface ResponseTexts {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly texts: TextSource;
}

/** A streamed response as texts. Through a web stream and an encoder, a write takes a quarter more CPU time. */
export class StreamedTexts extends LazyResponse<ResponseTexts> {
  readonly #texts: TextSource;

  constructor(texts: TextSource, headers: Record<string, string>) {
    super(200, headers);
    this.#texts = texts;
  }

  protected override content(headers: Record<string, string>): ResponseTexts {
    return { headers, texts: this.#texts };
  }

  protected override toResponse(init: ResponseInit): Response {
    const encoder = new TextEncoder();
    const texts = this.#texts;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { text, isDone } = await texts.next();
          if (text !== '') controller.enqueue(encoder.encode(text));
          if (isDone) controller.close();
        },
        cancel: async () => {
          await texts.end();
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, init);
  }
}

/**
 * Streams the parts at the caller's pace. The source pauses while the caller doesn't read, and ends when the caller leaves. A failure
 * becomes a last part with the error body, so that the text stays valid.
 */
export function streamResponse(parts: AsyncGenerator<unknown, void, void>, options: StreamResponseOptions): Response {
  const { requestId, reportFailure } = options;
  const encoding = encodings[options.kind];
  let isFirst = true;
  let hasStarted = false;
  const end = () => {
    options.stop();
    // The run records this failure. The caller has left.
    return parts.return().catch(() => undefined);
  };
  options.signal.addEventListener('abort', end, { once: true });
  const texts: TextSource = {
    async next() {
      const wasFirst = isFirst;
      isFirst = false;
      try {
        const next = await parts.next();
        const isDone = next.done === true;
        hasStarted = true;
        return { text: isDone ? encoding.end(wasFirst) : encode(next.value, encoding, wasFirst), isDone };
      } catch (error) {
        const body = toAppError(error, requestId, reportFailure).toBody(requestId);
        return { text: encoding.part(body, wasFirst) + encoding.end(false), isDone: true };
      }
    },
    offerTo(take) {
      // The text before decides how one starts, and the first can be waited for already.
      options.onReader?.((part) => hasStarted && take(encode(part, encoding, false)));
    },
    end,
  };
  return new StreamedTexts(texts, {
    ...options.headers,
    'content-type': contentTypes[options.kind],
    'cache-control': 'no-store',
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

/** Merges unread values into one, so that a slow reader needs no memory. */
export interface EventQueue<Value> extends AsyncIterable<Value> {
  push: (value: Value) => void;
  end: () => void;
}

/**
 * Turns callbacks into an async iterable. Values that come while the reader is busy are merged. Ends after `end`, or when the signal
 * aborts.
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

/** A list that subscribers can watch. */
interface FollowedList<Item> {
  list(): Item[];
  subscribe(listener: (items: Item[]) => void): () => void;
}

/** The list now and after each change, until the signal aborts. A slow reader gets only the newest list. */
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

/** A text as a download. It can contain other people's text, so a browser must not open it as our page. */
export function sendTextFile(fileName: string, mediaType: string, text: AsyncGenerator<string>): Response {
  return new Response(Readable.toWeb(Readable.from(text).map((part) => Buffer.from(part as string))) as never, {
    headers: {
      'content-type': mediaType,
      'content-disposition': `attachment; filename="${fileName}"`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  });
}
