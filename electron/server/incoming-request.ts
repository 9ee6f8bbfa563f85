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

/** Methods that `Request` takes as they are. */
const usualMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** The headers of a request that has arrived. They don't change. Node's parsers have checked them. */
class IncomingHeaders implements Headers {
  readonly #values: Readonly<Record<string, string>>;

  /** The names must be in lower case. */
  constructor(values: Readonly<Record<string, string>>) {
    this.#values = values;
  }

  get(name: string): string | null {
    return this.has(name) ? this.#values[name.toLowerCase()]! : null;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#values, name.toLowerCase());
  }

  /** Only responses have them. */
  getSetCookie(): string[] {
    return [];
  }

  *entries(): ReturnType<Headers['entries']> {
    for (const name of this.keys()) yield [name, this.get(name)!];
  }

  *keys(): ReturnType<Headers['keys']> {
    yield* Object.keys(this.#values).toSorted();
  }

  *values(): ReturnType<Headers['values']> {
    for (const name of this.keys()) yield this.get(name)!;
  }

  [Symbol.iterator](): ReturnType<Headers['entries']> {
    return this.entries();
  }

  forEach(...[callback, self]: Parameters<Headers['forEach']>): void {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  append(): never {
    throw new TypeError('The headers of a request that has arrived do not change.');
  }

  delete(): never {
    return this.append();
  }

  set(): never {
    return this.append();
  }
}

/**
 * A request whose body stays in Node's stream until it is read. `text`, `json`, `bytes` and `arrayBuffer` read the stream directly.
 * Everything else uses a plain `Request` that is created when needed, because that takes longer than everything else about a short
 * request, and the first one loads undici, some 50 ms. As with any `Request`, the body can be read once. It is no instance of `Request`, so
 * `new Request` can't copy it; use `clone()`.
 */
export class IncomingRequest implements Request {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly duplex = 'half';
  readonly #incoming: NodeRequest;
  readonly #hasBody: boolean;
  readonly #beforeBody: () => void;
  readonly #controller: AbortController;
  #plain: Request | undefined;
  #isTaken = false;

  /** `beforeBody` is called before the body is read, perhaps more than once. Throws `TypeError` for an invalid address or method. */
  constructor(
    url: string,
    { method, headers }: { method: string; headers: Readonly<Record<string, string>> },
    incoming: NodeRequest,
    options: { controller: AbortController; hasBody: boolean; beforeBody: () => void },
  ) {
    this.url = new URL(url).href;
    this.method = usualMethods.has(method) ? method : new Request(url, { method }).method;
    this.headers = new IncomingHeaders(headers);
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
    return this.#hasBody ? this.#toPlain().body : null;
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

  get cache(): Request['cache'] {
    return this.#toPlain().cache;
  }

  get credentials(): Request['credentials'] {
    return this.#toPlain().credentials;
  }

  get destination(): Request['destination'] {
    return this.#toPlain().destination;
  }

  get integrity(): Request['integrity'] {
    return this.#toPlain().integrity;
  }

  get keepalive(): Request['keepalive'] {
    return this.#toPlain().keepalive;
  }

  get mode(): Request['mode'] {
    return this.#toPlain().mode;
  }

  get redirect(): Request['redirect'] {
    return this.#toPlain().redirect;
  }

  get referrer(): Request['referrer'] {
    return this.#toPlain().referrer;
  }

  get referrerPolicy(): Request['referrerPolicy'] {
    return this.#toPlain().referrerPolicy;
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
