/**
 * A response that creates a plain one, with `Headers` and a stream, only when these are read: they take longer than everything else
 * about a short response, and the first one loads undici, some 50 ms. The listener sends what it is made of instead. It is no instance of
 * `Response`; `isResponse` knows both.
 */
export abstract class DeferredResponse implements Response {
  readonly status: number;
  readonly redirected = false;
  readonly type = 'default';
  readonly url = '';
  #plain: Response | undefined;

  constructor(status: number) {
    this.status = status;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  protected abstract createPlain(): Response;

  /** Undefined until the headers or the body are read. */
  protected get plain(): Response | undefined {
    return this.#plain;
  }

  get statusText(): string {
    return '';
  }

  get headers(): Headers {
    return this.#toPlain().headers;
  }

  get body(): Response['body'] {
    return this.#toPlain().body;
  }

  get bodyUsed(): boolean {
    return this.#plain?.bodyUsed ?? false;
  }

  text(): Promise<string> {
    return this.#toPlain().text();
  }

  json(): Promise<unknown> {
    return this.#toPlain().json();
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#toPlain().arrayBuffer();
  }

  bytes(): ReturnType<Response['bytes']> {
    return this.#toPlain().bytes();
  }

  blob(): ReturnType<Response['blob']> {
    return this.#toPlain().blob();
  }

  formData(): ReturnType<Response['formData']> {
    return this.#toPlain().formData();
  }

  clone(): Response {
    return this.#toPlain().clone();
  }

  #toPlain(): Response {
    return (this.#plain ??= this.createPlain());
  }
}

/** Whether a value is a response. Naming `Response` itself would load it. */
export function isResponse(value: unknown): value is Response {
  return value instanceof DeferredResponse || Object.prototype.toString.call(value) === '[object Response]';
}

/** A response whose headers can change until it is sent. */
export abstract class LazyResponse<Unread = unknown> extends DeferredResponse {
  readonly #headers: Record<string, string>;

  /** The names of the headers must be in lower case. */
  constructor(status: number, headers: Record<string, string>) {
    super(status);
    this.#headers = headers;
  }

  /** Null after the headers or the body were read, because the reader may have changed them. */
  get unread(): Unread | null {
    return this.plain ? null : this.content(this.#headers);
  }

  protected abstract content(headers: Record<string, string>): Unread;
  protected abstract toResponse(init: { status: number; headers: Record<string, string> }): Response;

  protected override createPlain(): Response {
    return this.toResponse({ status: this.status, headers: this.#headers });
  }

  setHeader(name: string, value: string): void {
    if (this.plain) this.plain.headers.set(name, value);
    else this.#headers[name] = value;
  }
}
