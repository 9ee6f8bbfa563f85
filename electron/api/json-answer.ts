type Overridden =
  'headers' | 'body' | 'bodyUsed' | 'text' | 'json' | 'arrayBuffer' | 'bytes' | 'blob' | 'formData' | 'clone';

/** `Response` is typed as a bag of properties, which a class may not override; what it overrides is left out of the base. */
const ResponseStatus = Response as unknown as new (body: null, init: { status: number }) => Omit<Response, Overridden>;

/** What goes over the wire. */
export interface AnswerText {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The text in UTF-8, when it is already there. */
  readonly bytes?: Uint8Array | undefined;
}

/** A document that many responses send: its text is made once. */
export class SharedJson {
  readonly text: string;
  readonly bytes: Uint8Array;

  constructor(value: object) {
    this.text = JSON.stringify(value);
    this.bytes = Buffer.from(this.text);
  }
}

/**
 * A complete JSON answer that stays text: `Headers` and a stream to read it from are made only for those who ask for them, as
 * they cost more than writing the JSON does.
 */
export class JsonAnswer extends ResponseStatus implements Response {
  readonly #headers: Record<string, string>;
  readonly #text: string;
  readonly #bytes: Uint8Array | undefined;
  #plain: Response | undefined;

  /** The names of the headers must be in lower case. */
  constructor(value: object, { status = 200, headers }: { status?: number; headers?: Record<string, string> } = {}) {
    super(null, { status });
    const shared = value instanceof SharedJson ? value : null;
    this.#text = shared?.text ?? JSON.stringify(value);
    this.#bytes = shared?.bytes;
    this.#headers = { 'content-type': 'application/json', ...headers };
  }

  /** Null once somebody has asked for the headers or the body, and may have changed them. */
  get unread(): AnswerText | null {
    return this.#plain ? null : { headers: this.#headers, text: this.#text, bytes: this.#bytes };
  }

  setHeader(name: string, value: string): void {
    if (this.#plain) this.#plain.headers.set(name, value);
    else this.#headers[name] = value;
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
    return (this.#plain ??= new Response(this.#text, { status: this.status, headers: this.#headers }));
  }
}
