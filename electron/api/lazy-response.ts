type Overridden =
  | 'statusText'
  | 'headers'
  | 'body'
  | 'bodyUsed'
  | 'text'
  | 'json'
  | 'arrayBuffer'
  | 'bytes'
  | 'blob'
  | 'formData'
  | 'clone';

/** TypeScript declares the members of `Response` as properties, which methods can't override. So the base omits them. */
const ResponseStatus = Response as unknown as new (body: null, init: { status: number }) => Omit<Response, Overridden>;

/**
 * A response that creates a plain one, with `Headers` and a stream, only when these are read: they take longer than everything else
 * about a short response. The listener sends what it is made of instead.
 */
export abstract class DeferredResponse extends ResponseStatus implements Response {
  #plain: Response | undefined;

  constructor(status: number) {
    super(null, { status });
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
