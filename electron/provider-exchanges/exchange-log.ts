import { StringDecoder } from 'node:string_decoder';
import {
  type ExchangeText,
  type HttpExchange,
  maxExchangeBodyBytes,
  type OnDeviceExchange,
  type ProviderExchange,
} from '../../shared/contract/provider-exchanges.ts';
import { maxEscapeLength, redactHeaders, redactText, redactUrl } from './redact.ts';

/** Less than half of Node's pool of buffers. A larger one is memory of its own, which takes several times as long. */
const initialBytes = 1024;

/** The room is doubled up to here, and then extended by as much. */
const maxPieceBytes = 32_768;

/**
 * Copies the start of a body from its chunks. The chunks are slices of much larger socket buffers, which references to them would keep
 * in memory. The copy is in pieces: a buffer that is replaced by a larger one, again and again, makes V8 mark the whole heap for every
 * 64 MB of them, some five times as often with 256 streams.
 */
export class CapturedBytes {
  readonly #pieces: Buffer[] = [];
  #length = 0;
  /** Bytes that the last piece can still take. */
  #room = 0;
  #total = 0;
  readonly #maxBytes: number;
  readonly #firstBytes: number;

  /** `firstBytes` is the room at the start. */
  constructor(maxBytes = maxExchangeBodyBytes, firstBytes = initialBytes) {
    this.#maxBytes = maxBytes;
    this.#firstBytes = firstBytes;
  }

  append(chunk: Uint8Array): void {
    this.#total += chunk.length;
    let rest = chunk.subarray(0, this.#maxBytes - this.#length);
    while (rest.length > 0) {
      if (this.#room === 0) this.#extend(rest.length);
      const last = this.#pieces.at(-1)!;
      const taken = rest.length > this.#room ? rest.subarray(0, this.#room) : rest;
      last.set(taken, last.length - this.#room);
      this.#room -= taken.length;
      this.#length += taken.length;
      rest = rest.subarray(taken.length);
    }
  }

  get size(): number {
    return this.#length;
  }

  get isCut(): boolean {
    return this.#total > this.#length;
  }

  get bytes(): Uint8Array {
    const [first = Buffer.alloc(0), ...others] = this.#filled;
    return others.length > 0 ? Buffer.concat([first, ...others], this.#length) : first;
  }

  read(secrets: readonly string[]): ExchangeText {
    const decoder = new StringDecoder();
    const text = this.#filled.map((piece) => decoder.write(piece)).join('') + decoder.end();
    const { isCut } = this;
    return { text: withoutSecrets(text, isCut, secrets), bytes: this.#total, isCut };
  }

  /** The pieces without the room that is left. */
  get #filled(): Buffer[] {
    const last = this.#pieces.at(-1);
    return last ? [...this.#pieces.slice(0, -1), last.subarray(0, last.length - this.#room)] : [];
  }

  #extend(needed: number): void {
    const pieceBytes = Math.max(this.#firstBytes, Math.min(this.#length, maxPieceBytes), needed);
    this.#room = Math.min(pieceBytes, this.#maxBytes - this.#length);
    this.#pieces.push(Buffer.allocUnsafe(this.#room));
  }
}

/** The start of a text. */
export function captureText(text: string, secrets: readonly string[]): ExchangeText {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxExchangeBodyBytes) return { text: redactText(text, secrets), bytes, isCut: false };
  const start = Buffer.from(text.slice(0, maxExchangeBodyBytes)).toString('utf8', 0, maxExchangeBodyBytes);
  return { text: withoutSecrets(start, true, secrets), bytes, isCut: true };
}

/** Truncation may leave part of a credential at the end, which a search for the whole credential misses. */
function withoutSecrets(text: string, isCut: boolean, secrets: readonly string[]): string {
  const clean = redactText(text, secrets);
  const longest = (secrets[0]?.length ?? 0) * maxEscapeLength;
  return isCut && longest > 0 ? clean.slice(0, 1 - longest) : clean;
}

/** A request as the socket gets it. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Gemini's package continues a long answer with another request. More requests than this are a loop. */
const maxExchangesPerRun = 10;

class Clock {
  readonly #startedAt = Date.now();
  firstByteMs: number | null = null;
  totalMs: number | null = null;
  readonly #start = performance.now();

  noteByte(): void {
    this.firstByteMs ??= performance.now() - this.#start;
  }

  noteEnd(): void {
    this.totalMs ??= performance.now() - this.#start;
  }

  get startedAt(): string {
    return new Date(this.#startedAt).toISOString();
  }
}

/** A request with the credentials in it, from `secretForms`. */
export interface RequestAndSecrets {
  readonly request: SentRequest;
  readonly secrets: readonly string[];
}

/** Records one HTTP call. It never changes the data and never throws. */
export class HttpCapture {
  readonly #clock = new Clock();
  #sent: RequestAndSecrets | (() => RequestAndSecrets);
  readonly #body = new CapturedBytes();
  #head: {
    status: number;
    statusText: string;
    headers: Readonly<Record<string, string | string[] | undefined>>;
  } | null = null;
  #error: Error | null = null;

  constructor(sent: () => RequestAndSecrets) {
    this.#sent = sent;
  }

  /** Reads the request, which is on its way: decoding a long one takes longer than anything else before it is sent. */
  readRequest(): RequestAndSecrets {
    if (typeof this.#sent === 'function') this.#sent = this.#sent();
    return this.#sent;
  }

  begin(status: number, statusText: string, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#head = { status, statusText, headers };
  }

  take(chunk: Uint8Array): void {
    this.#clock.noteByte();
    this.#body.append(chunk);
  }

  end(): void {
    this.#clock.noteEnd();
  }

  fail(error: Error): void {
    this.#clock.noteEnd();
    this.#error ??= error;
  }

  get size(): number {
    return this.#body.size + (this.readRequest().request.body?.length ?? 0);
  }

  read(): HttpExchange {
    const { request, secrets } = this.readRequest();
    const { method, url, headers, body } = request;
    const { startedAt, firstByteMs, totalMs } = this.#clock;
    return {
      kind: 'http',
      startedAt,
      request: {
        method,
        url: redactUrl(url, secrets),
        headers: redactHeaders(Object.entries(headers), secrets),
        body: body === null ? null : captureText(body, secrets),
      },
      response: this.#head && {
        status: this.#head.status,
        statusText: redactText(this.#head.statusText, secrets),
        headers: redactHeaders(eachHeader(this.#head.headers), secrets),
        body: this.#body.read(secrets),
      },
      error: this.#error && redactText(this.#error.message, secrets),
      firstByteMs,
      totalMs,
    };
  }
}

function* eachHeader(headers: Readonly<Record<string, string | string[] | undefined>>): Generator<[string, string]> {
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) yield [name, one];
  }
}

/** Records one call of the on-device model. */
export class OnDeviceCapture {
  readonly #clock = new Clock();
  readonly #model: string;
  readonly #parameters: Readonly<Record<string, unknown>>;
  #prompt: string | null = null;
  readonly #text = new CapturedBytes();
  readonly #reasoning = new CapturedBytes();
  #error: string | null = null;

  constructor(model: string, parameters: Readonly<Record<string, unknown>>) {
    this.#model = model;
    this.#parameters = parameters;
  }

  notePrompt(prompt: string): void {
    this.#prompt = prompt;
  }

  take(kind: 'text' | 'reasoning', text: string): void {
    this.#clock.noteByte();
    (kind === 'text' ? this.#text : this.#reasoning).append(Buffer.from(text));
  }

  end(): void {
    this.#clock.noteEnd();
  }

  fail(error: unknown): void {
    this.#clock.noteEnd();
    this.#error ??= error instanceof Error ? error.message : String(error);
  }

  get size(): number {
    return this.#text.size + this.#reasoning.size + (this.#prompt?.length ?? 0);
  }

  read(): OnDeviceExchange {
    const { startedAt, firstByteMs, totalMs } = this.#clock;
    return {
      kind: 'on-device',
      startedAt,
      model: this.#model,
      prompt: this.#prompt === null ? null : captureText(this.#prompt, []),
      parameters: { ...this.#parameters },
      reasoning: this.#reasoning.size === 0 ? null : this.#reasoning.read([]),
      response: this.#text.read([]),
      error: this.#error,
      firstByteMs,
      totalMs,
    };
  }
}

/** The provider calls of one run, in order. */
export class ExchangeLog {
  readonly #captures: (HttpCapture | OnDeviceCapture)[] = [];
  readonly #onEnd: (runId: string, log: ExchangeLog) => void;

  constructor(onEnd: (runId: string, log: ExchangeLog) => void) {
    this.#onEnd = onEnd;
  }

  /** Undefined if the run has made too many calls. `sent` is called later. */
  beginHttp(sent: () => RequestAndSecrets): HttpCapture | undefined {
    return this.#add(new HttpCapture(sent));
  }

  /** Reads the requests that were begun, so that their bytes aren't needed any more. */
  readRequests(): void {
    for (const capture of this.#captures) if (capture instanceof HttpCapture) capture.readRequest();
  }

  beginOnDevice(model: string, parameters: Readonly<Record<string, unknown>>): OnDeviceCapture | undefined {
    return this.#add(new OnDeviceCapture(model, parameters));
  }

  /** Queues the calls for storage. Called when the run is on disk. */
  store(runId: string): void {
    if (this.#captures.length > 0) this.#onEnd(runId, this);
  }

  /** Approximate bytes in memory. */
  get size(): number {
    return this.#captures.reduce((sum, { size }) => sum + size, 0);
  }

  /** Without credentials. Reads every body, so don't call it while responses stream. */
  read(): ProviderExchange[] {
    return this.#captures.map((capture) => capture.read());
  }

  #add<Capture extends HttpCapture | OnDeviceCapture>(capture: Capture): Capture | undefined {
    if (this.#captures.length >= maxExchangesPerRun) return undefined;
    this.#captures.push(capture);
    return capture;
  }
}
