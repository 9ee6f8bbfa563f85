import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';

/** Node's request object, of HTTP/1.1 or HTTP/2. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

const decoder = new TextDecoder();

/** Reads a whole body without web streams, which take more time than everything else about a small request. */
function collect(incoming: NodeRequest, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    incoming.once('error', reject);
  });
}

/** The body as a stream of chunks, at the reader's pace. Cancelling keeps the connection, which the response needs. */
function toStream(incoming: NodeRequest, signal: AbortSignal): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
      },
      async pull(controller) {
        const next = (await chunks.next()) as IteratorResult<Buffer, undefined>;
        if (signal.aborted) return;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

type Overridden =
  'signal' | 'body' | 'bodyUsed' | 'text' | 'json' | 'arrayBuffer' | 'bytes' | 'blob' | 'formData' | 'clone';

/** TypeScript declares the members of `Request` as properties, which methods can't override. So the base omits them. */
const RequestHead = Request as unknown as new (
  url: string,
  init: { method: string; headers: Record<string, string> },
) => Omit<Request, Overridden>;

/**
 * A request whose body stays in Node's stream until it is read. `text`, `json`, `bytes` and `arrayBuffer` read the stream directly.
 * Everything else uses a plain `Request` that is created when needed. As with any `Request`, the body can be read once. A copy made by
 * `new Request(incomingRequest)` has no body; use `clone()`.
 */
export class IncomingRequest extends RequestHead implements Request {
  readonly #incoming: NodeRequest;
  readonly #hasBody: boolean;
  readonly #beforeBody: () => void;
  readonly #controller: AbortController;
  #plain: Request | undefined;
  #isTaken = false;

  /** `beforeBody` is called before the body is read, perhaps more than once. */
  constructor(
    url: string,
    init: { method: string; headers: Record<string, string> },
    incoming: NodeRequest,
    options: { controller: AbortController; hasBody: boolean; beforeBody: () => void },
  ) {
    super(url, init);
    this.#incoming = incoming;
    this.#controller = options.controller;
    this.#hasBody = options.hasBody;
    this.#beforeBody = options.beforeBody;
  }

  /** Names and values in turn, as the caller wrote them. */
  get rawHeaders(): readonly string[] {
    return this.#incoming.rawHeaders;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get body(): Request['body'] {
    return this.#toPlain().body;
  }

  get bodyUsed(): boolean {
    return this.#plain ? this.#plain.bodyUsed : this.#isTaken;
  }

  async text(): Promise<string> {
    if (this.#plain) return this.#plain.text();
    return decoder.decode(await this.#take());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#plain) return this.#plain.arrayBuffer();
    const bytes = await this.#take();
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  }

  async bytes(): ReturnType<Request['bytes']> {
    if (this.#plain) return this.#plain.bytes();
    return (await this.#take()) as Buffer<ArrayBuffer>;
  }

  blob(): ReturnType<Request['blob']> {
    return this.#toPlain().blob();
  }

  formData(): ReturnType<Request['formData']> {
    return this.#toPlain().formData();
  }

  clone(): Request {
    return this.#toPlain().clone();
  }

  async #take(): Promise<Buffer> {
    if (this.#isTaken) throw new TypeError('Body is unusable: it has already been read.');
    this.#isTaken = true;
    if (!this.#hasBody) return Buffer.alloc(0);
    this.#beforeBody();
    return collect(this.#incoming, this.signal);
  }

  #toPlain(): Request {
    if (this.#plain) return this.#plain;
    const { url, method, headers, signal } = this;
    if (!this.#hasBody || this.#isTaken) {
      this.#plain = new Request(url, { method, headers, signal });
    } else {
      this.#beforeBody();
      const body = toStream(this.#incoming, signal);
      const init = { method, headers, signal, body, duplex: 'half' } as const;
      this.#plain = new Request(url, init);
    }
    return this.#plain;
  }
}
