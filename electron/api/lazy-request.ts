const decoder = new TextDecoder();

/** Methods that `Request` takes as they are. */
const usualMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** The headers of a request that has arrived. They don't change. Nothing checks them: Node's parsers have, and a provider's transport does. */
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

/** The body of a request: `bytes` or `stream` is called once, and only one of them. */
export interface RequestBody {
  bytes(): Promise<Buffer>;
  stream(): ReadableStream<Uint8Array>;
}

/**
 * A request whose body is read when something needs it: `text`, `json`, `bytes` and `arrayBuffer` without a web stream. Everything else uses a
 * plain `Request` that is created when needed, because that takes longer than everything else about a short request, and the first one
 * loads undici, some 50 ms. As with any `Request`, the body can be read once. It is no instance of `Request`, so `new Request` can't copy
 * it; use `clone()`.
 */
export class LazyRequest implements Request {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly duplex = 'half';
  readonly #body: RequestBody | null;
  #plain: Request | undefined;
  #isTaken = false;

  /** The address must be in the form of a URL's `href`, and the names of the headers in lower case. Throws `TypeError` for an invalid method. */
  constructor(
    url: string,
    {
      method,
      headers,
      signal,
      body,
    }: {
      method: string;
      headers: Readonly<Record<string, string>>;
      signal: AbortSignal;
      body: RequestBody | null;
    },
  ) {
    this.url = url;
    this.method = usualMethods.has(method) ? method : new Request(url, { method }).method;
    this.headers = new IncomingHeaders(headers);
    this.signal = signal;
    this.#body = body;
  }

  get body(): Request['body'] {
    return this.#body === null ? null : this.#toPlain().body;
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
    return this.#body === null ? Buffer.alloc(0) : this.#body.bytes();
  }

  #toPlain(): Request {
    if (this.#plain) return this.#plain;
    const { url, method, headers, signal } = this;
    const body = this.#isTaken ? null : (this.#body?.stream() ?? null);
    const init = { method, headers, signal, body, duplex: 'half' } as const;
    return (this.#plain = new Request(url, init));
  }
}
