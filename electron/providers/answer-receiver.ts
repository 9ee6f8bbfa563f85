/** Headers in undici's format. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** How a receiver controls the call that feeds it. */
export interface AnswerFlow {
  /** There is room for more. */
  resume(): void;
  /** Ends the call. */
  cancel(): void;
}

/** Receives one response chunk by chunk and resolves the caller's promise. */
export interface AnswerReceiver {
  begin(status: number, statusText: string, headers: AnswerHeaders, flow: AnswerFlow): void;
  /** Returns whether there is room for more. If not, the socket pauses until `resume`. */
  take(piece: Uint8Array): boolean;
  end(): void;
  fail(error: Error): void;
}

/** A complete response. */
export interface WholeAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** The socket pauses when this many chunks wait for the reader. */
const waitingPieces = 16;

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

function* joined(headers: AnswerHeaders): Generator<[string, string]> {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) yield [name, typeof value === 'string' ? value : value.join(', ')];
  }
}

/** Passes a response on chunk by chunk, as the `Response` of a fetch. */
export class StreamedAnswer implements AnswerReceiver {
  readonly #settle: PromiseWithResolvers<Response>;
  #flow: AnswerFlow | null = null;
  /** Bytes since the last line end. The event parser buffers an incomplete line in memory. */
  #lineBytes = 0;
  #bytes = 0;
  #body: ReadableStreamDefaultController<Uint8Array> | null = null;
  readonly #limits: SizeLimits;

  constructor(settle: PromiseWithResolvers<Response>, limits: SizeLimits) {
    this.#settle = settle;
    this.#limits = limits;
  }

  begin(status: number, statusText: string, headers: AnswerHeaders, flow: AnswerFlow): void {
    this.#flow = flow;
    this.#settle.resolve(createAnswer(status, statusText, headers, this.#createBody(flow)));
  }

  take(piece: Uint8Array): boolean {
    if (!this.#body) return true;
    const lineEnd = piece.lastIndexOf(lineFeed);
    this.#lineBytes = lineEnd === -1 ? this.#lineBytes + piece.length : piece.length - lineEnd - 1;
    this.#bytes += piece.length;
    const { wholeBytes, streamBytes } = this.#limits;
    if (this.#lineBytes > wholeBytes || this.#bytes > streamBytes) {
      this.fail(new ResponseTooLarge(this.#lineBytes > wholeBytes ? wholeBytes : streamBytes));
      this.#body = null;
      this.#flow?.cancel();
      return true;
    }
    this.#body.enqueue(piece);
    return (this.#body.desiredSize ?? 0) > 0;
  }

  end(): void {
    this.#body?.close();
  }

  fail(error: Error): void {
    this.#body?.error(error);
    // Has no effect once the promise is resolved.
    this.#settle.reject(error);
  }

  #createBody(flow: AnswerFlow): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: () => flow.resume(),
        cancel: () => {
          this.#body = null;
          flow.cancel();
        },
      },
      { highWaterMark: waitingPieces },
    );
  }
}

/** Buffers a response until it is complete, which is faster than reading a stream. */
export class CollectedAnswer implements AnswerReceiver {
  readonly #settle: PromiseWithResolvers<WholeAnswer>;
  readonly #pieces: Uint8Array[] = [];
  #head: Omit<WholeAnswer, 'text'> = { status: 0, statusText: '', headers: {} };
  #flow: AnswerFlow | null = null;
  #bytes = 0;
  readonly #limits: SizeLimits;

  constructor(settle: PromiseWithResolvers<WholeAnswer>, limits: SizeLimits) {
    this.#settle = settle;
    this.#limits = limits;
  }

  begin(status: number, statusText: string, headers: AnswerHeaders, flow: AnswerFlow): void {
    this.#flow = flow;
    this.#head = { status, statusText, headers: Object.fromEntries(joined(headers)) };
  }

  take(piece: Uint8Array): boolean {
    this.#bytes += piece.length;
    if (this.#bytes > this.#limits.wholeBytes) {
      this.#settle.reject(new ResponseTooLarge(this.#limits.wholeBytes));
      this.#flow?.cancel();
      return true;
    }
    this.#pieces.push(piece);
    return true;
  }

  end(): void {
    const [only] = this.#pieces;
    const text = decoder.decode(only && this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces));
    this.#settle.resolve({ ...this.#head, text });
  }

  fail(error: Error): void {
    this.#settle.reject(error);
  }
}

/** A real `Response` takes 10 µs more, nearly all of it for `Headers`. */
function createAnswer(
  status: number,
  statusText: string,
  headers: AnswerHeaders,
  body: ReadableStream<Uint8Array>,
): Response {
  const text = () => new Response(body).text();
  const answer = {
    ok: status >= 200 && status < 300,
    status,
    statusText,
    headers: new Map(joined(headers)),
    body,
    text,
    json: async () => JSON.parse(await text()) as unknown,
  };
  return answer as unknown as Response;
}
