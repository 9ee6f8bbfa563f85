import type { DirectTexts } from './direct-texts.ts';

/** Headers in undici's format. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** How a receiver controls the call that feeds it. */
export interface ResponseFlow {
  /** There is room for more. */
  resume(): void;
  /** Ends the call. */
  cancel(): void;
}

/** Names and values in turn, as they came. */
export type RawHeaders = readonly (string | Uint8Array)[];

/** Receives one response chunk by chunk and resolves the caller's promise. */
export interface ResponseReceiver {
  begin(status: number, statusText: string, headers: ResponseHeaders, flow: ResponseFlow, raw: RawHeaders): void;
  /** Returns whether there is room for more. If not, the socket pauses until `resume`. */
  take(chunk: Uint8Array): boolean;
  end(): void;
  fail(error: Error): void;
}

/** A complete response. */
export interface WholeResponse {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** The socket pauses when this many chunks wait for the reader. */
const maxQueuedChunks = 16;
/** The same for texts that no package reads. */
const maxWaitingCharacters = 262_144;

/** The provider sent more than any model or list needs. The socket is closed. */
export class ResponseTooLarge extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
    this.name = 'ResponseTooLarge';
    this.maxBytes = maxBytes;
  }
}

export interface SizeLimits {
  /** Of a collected response, and of one line of a streamed response. */
  readonly wholeBytes: number;
  /** Of a whole streamed response. A model that never stops would fill the disk. */
  readonly streamBytes: number;
}

/** Far more than any model writes at once. */
export const defaultSizeLimits: SizeLimits = { wholeBytes: 64 * 1_048_576, streamBytes: 256 * 1_048_576 };

const lineFeed = 10;

const decoder = new TextDecoder();

/** Names and values. V8 compiles a generator of them again and again. */
function joined(headers: ResponseHeaders): [string, string][] {
  const result: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result.push([name, typeof value === 'string' ? value : value.join(', ')]);
  }
  return result;
}

/** Passes a response on chunk by chunk, as the `Response` of a fetch. */
export class StreamedResponse implements ResponseReceiver {
  readonly #deferred: PromiseWithResolvers<Response>;
  #flow: ResponseFlow | null = null;
  /** Bytes since the last line end. The event parser buffers an incomplete line in memory. */
  #lineBytes = 0;
  #bytes = 0;
  #body: ReadableStreamDefaultController<Uint8Array> | null = null;
  #isCancelled = false;
  readonly #limits: SizeLimits;
  /** Set if the body is a stream of events whose texts go around the package. */
  #texts: DirectTexts | null = null;
  readonly #possibleTexts: DirectTexts | null;

  constructor(deferred: PromiseWithResolvers<Response>, limits: SizeLimits, texts: DirectTexts | null = null) {
    this.#deferred = deferred;
    this.#limits = limits;
    this.#possibleTexts = texts;
  }

  begin(status: number, statusText: string, headers: ResponseHeaders, flow: ResponseFlow): void {
    this.#flow = flow;
    const open = () => this.#deferred.resolve(createResponse(status, statusText, headers, this.#createBody(flow)));
    const isEvents = String(headers['content-type']).startsWith('text/event-stream');
    if (status === 200 && isEvents) this.#texts = this.#possibleTexts;
    if (!this.#texts) return open();
    this.#texts.begin({
      open,
      enqueue: (bytes) => this.#body?.enqueue(bytes),
      close: () => this.#body?.close(),
      resume: () => {
        if (this.#hasRoom()) flow.resume();
      },
    });
  }

  take(chunk: Uint8Array): boolean {
    if (this.#isCancelled) return true;
    const lineEnd = chunk.lastIndexOf(lineFeed);
    this.#lineBytes = lineEnd === -1 ? this.#lineBytes + chunk.length : chunk.length - lineEnd - 1;
    this.#bytes += chunk.length;
    const { wholeBytes, streamBytes } = this.#limits;
    if (this.#lineBytes > wholeBytes || this.#bytes > streamBytes) {
      this.fail(new ResponseTooLarge(this.#lineBytes > wholeBytes ? wholeBytes : streamBytes));
      this.#isCancelled = true;
      this.#flow?.cancel();
      return true;
    }
    if (this.#texts) this.#texts.take(chunk);
    else this.#body?.enqueue(chunk);
    return this.#hasRoom();
  }

  #hasRoom(): boolean {
    const hasRoomInBody = (this.#body?.desiredSize ?? 1) > 0;
    return hasRoomInBody && (this.#texts?.waiting ?? 0) < maxWaitingCharacters;
  }

  end(): void {
    if (this.#texts) this.#texts.end();
    else this.#body?.close();
  }

  fail(error: Error): void {
    this.#body?.error(error);
    // Has no effect once the promise is resolved.
    this.#deferred.reject(error);
  }

  #createBody(flow: ResponseFlow): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: () => {
          if (this.#hasRoom()) flow.resume();
        },
        cancel: () => {
          this.#body = null;
          this.#isCancelled = true;
          flow.cancel();
        },
      },
      { highWaterMark: maxQueuedChunks },
    );
  }
}

/** Buffers a response until it is complete, which is faster than reading a stream. */
export class CollectedResponse implements ResponseReceiver {
  readonly #deferred: PromiseWithResolvers<WholeResponse>;
  readonly #chunks: Uint8Array[] = [];
  #head: Omit<WholeResponse, 'text'> = { status: 0, statusText: '', headers: {} };
  #flow: ResponseFlow | null = null;
  #bytes = 0;
  readonly #limits: SizeLimits;

  constructor(deferred: PromiseWithResolvers<WholeResponse>, limits: SizeLimits) {
    this.#deferred = deferred;
    this.#limits = limits;
  }

  begin(status: number, statusText: string, headers: ResponseHeaders, flow: ResponseFlow): void {
    this.#flow = flow;
    this.#head = { status, statusText, headers: Object.fromEntries(joined(headers)) };
  }

  take(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.wholeBytes) {
      this.#deferred.reject(new ResponseTooLarge(this.#limits.wholeBytes));
      this.#flow?.cancel();
      return true;
    }
    this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    const [only] = this.#chunks;
    const text = decoder.decode(only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks));
    this.#deferred.resolve({ ...this.#head, text });
  }

  fail(error: Error): void {
    this.#deferred.reject(error);
  }
}

/** A real `Response` takes 10 µs more, nearly all of it for `Headers`. */
function createResponse(
  status: number,
  statusText: string,
  headers: ResponseHeaders,
  body: ReadableStream<Uint8Array>,
): Response {
  const text = () => new Response(body).text();
  const response = {
    ok: status >= 200 && status < 300,
    status,
    statusText,
    headers: new Map(joined(headers)),
    body,
    text,
    json: async () => JSON.parse(await text()) as unknown,
  };
  return response as unknown as Response;
}
