import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { parseAddress } from '../common/parse-address.ts';
import type { HttpCapture, SentRequest } from '../provider-exchanges/exchange-log.ts';
import { createDispatcher, type OutgoingNetwork, trustSystemCertificates } from '../outgoing-network.ts';
import type { DirectTexts } from './direct-texts.ts';
import type { RequestBody, RequestFiles } from './request-files.ts';
import {
  CollectedResponse,
  StreamedResponse,
  type ResponseFlow,
  type ResponseHeaders,
  type RawHeaders,
  type ResponseReceiver,
  type SizeLimits,
  type WholeResponse,
  defaultSizeLimits,
} from './response-receiver.ts';

/** How long a provider may send nothing. */
export interface TimeLimits {
  readonly firstByteSeconds: number;
  readonly betweenBytesSeconds: number;
}

/** The provider sent nothing for longer than its time limit. The socket is closed. */
export class ProviderSilence extends Error {
  readonly seconds: number;
  readonly hasResponseStarted: boolean;

  constructor(seconds: number, hasResponseStarted: boolean) {
    super(`silent for ${seconds} s`);
    this.name = 'ProviderSilence';
    this.seconds = seconds;
    this.hasResponseStarted = hasResponseStarted;
  }
}

/** Options of one call that `fetch` doesn't have. */
export interface CallContext {
  /** Called once, at the first byte of a successful response's body. */
  readonly onFirstByte?: (() => void) | undefined;
  /** Rewrites the JSON body before it is sent; absent if there is nothing to add. */
  readonly rewriteBody?: ((body: string) => string) | undefined;
  /** Contents that the JSON body refers to; null or absent without any. */
  readonly files?: RequestFiles | null | undefined;
  /** Called before the request is sent. It reads the request later. The returned object receives the response. */
  readonly capture?: ((request: () => SentRequest) => HttpCapture | undefined) | undefined;
  /** Takes the texts out of a streamed response; absent if the package reads all of it. */
  readonly texts?: DirectTexts | undefined;
}

/** Another program's request, in the form in which it is sent. */
export interface PassedRequest {
  /** With the query. */
  readonly address: string;
  readonly method: 'GET' | 'POST';
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer | null;
  readonly signal: AbortSignal;
  readonly capture?: CallContext['capture'];
}

/** As long as the libraries of the providers wait: a program that calls the provider itself waits no shorter. */
const passedLimits: TimeLimits = { firstByteSeconds: 600, betweenBytesSeconds: 600 };

/** Of a response. Node's default has room for 16 KB, which gateways with long policies and cookies exceed. */
const maxHeaderBytes = 65_536;

/** Neither a `Response` nor HTTP/2 can have a higher status. */
const maxStatus = 599;

/** Longer bodies aren't captured. */
const maxCapturedBytes = 4 * 1_048_576;

export interface ProviderFetch {
  /**
   * The part of `fetch` that provider packages use. It doesn't retry, decompress, or follow redirects, which could carry the key to
   * another host. The call and reading the body reject with `ProviderSilence` after a time limit and with `ResponseTooLarge` after a
   * size limit. Aborting closes the socket immediately.
   */
  readonly fetch: typeof globalThis.fetch;
  /** Returns the complete response, with any status. `maxBytes` lowers the size limit. */
  readonly request: (address: string, init: RequestInit, maxBytes?: number) => Promise<WholeResponse>;
  /** Sends another program's request as it is. Its response goes to the receiver, which also gets every failure. */
  readonly pass: (request: PassedRequest, receiver: ResponseReceiver) => void;
  /** Sets the context of the call that is made with this signal. Use a signal for one call only. */
  readonly join: (signal: AbortSignal, context: CallContext) => void;
  /** Closes every connection. */
  readonly close: () => Promise<void>;
}

export interface ProviderFetchOptions extends OutgoingNetwork {
  /** Read at every call. */
  readonly timeLimits: () => TimeLimits;
  readonly sizeLimits?: SizeLimits;
}

/** The connections to all providers. */
function createConnections(network: OutgoingNetwork) {
  // undici's own timeouts are off: they count whole seconds and can't change during a call.
  const agentOptions = {
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: 10_000,
    maxHeaderSize: maxHeaderBytes,
  };
  let agent: Dispatcher | null = null;
  let opening: Promise<Dispatcher> | null = null;
  let isClosed = false;
  /** The first call opens it. */
  const openAgent = () => (opening ??= createDispatcher(network, agentOptions).then((opened) => (agent = opened)));

  /** Sends a request, at once if a call has opened the agent. The exchange fails for an invalid address, as in `fetch`. */
  function dispatch(exchange: Exchange, requestOf: () => Dispatcher.DispatchOptions): void {
    const sendWith = (opened: Dispatcher): void => {
      if (exchange.hasFailed) return;
      try {
        if (isClosed) throw new DOMException('The host was closed.', 'AbortError');
        opened.dispatch(requestOf(), exchange);
      } catch (error) {
        exchange.fail(error as Error);
      }
    };
    if (agent) sendWith(agent);
    else void openAgent().then(sendWith, (error: Error) => exchange.fail(error));
  }

  async function close(): Promise<void> {
    isClosed = true;
    await (await opening)?.destroy();
  }

  return { dispatch, close };
}

/**
 * Creates the transport to all providers, which keeps connections open.
 *
 * CPU time per call on Node 24 with `@ai-sdk/openai-compatible`, a local provider and 16 concurrent calls: Node's `fetch` 201 µs,
 * `node:http` with an open connection 91 µs, `undici.request` 75 µs, its dispatcher 72 µs.
 */
export function createProviderFetch(options: ProviderFetchOptions): ProviderFetch {
  const { timeLimits, sizeLimits = defaultSizeLimits } = options;
  const { dispatch, close } = createConnections(options);
  const contextKey: unique symbol = Symbol('call context');
  // A `WeakMap` that no signal is removed from would keep each until the whole heap is marked.
  type JoinedSignal = AbortSignal & { [contextKey]?: CallContext };

  function call<Answer>(
    address: string | URL | Request,
    init: RequestInit,
    Receiver: new (
      deferred: PromiseWithResolvers<Answer>,
      limits: SizeLimits,
      texts?: DirectTexts | null,
    ) => ResponseReceiver,
    limits = sizeLimits,
  ): Promise<Answer> {
    const deferred = Promise.withResolvers<Answer>();
    const context = init.signal ? (init.signal as JoinedSignal)[contextKey] : undefined;
    const receiver = new Receiver(deferred, limits, context?.texts ?? null);
    const exchange = new Exchange(timeLimits(), context, init.signal ?? null, receiver);
    dispatch(exchange, () => {
      const request = dispatchOptions(String(address), init, context);
      const files = request.body === null ? null : (context?.files ?? null);
      const filled = files?.fill(request.body!) ?? null;
      const shown = files ? { ...request, body: files.describe(request.body!) } : request;
      exchange.capture = context?.capture?.(() => sentRequest(shown, filled?.bytes));
      return filled ? withBody(request, filled) : request;
    });
    return deferred.promise;
  }

  function pass({ address, method, headers, body, signal, capture }: PassedRequest, receiver: ResponseReceiver): void {
    const context = capture && { capture };
    const exchange = new Exchange(passedLimits, context, signal, receiver);
    dispatch(exchange, () => {
      const { origin, protocol, pathname, search } = parseAddress(address);
      if (protocol === 'https:') trustSystemCertificates();
      const request = { origin, path: pathname + search, method, headers, body };
      if (capture && (body?.length ?? 0) <= maxCapturedBytes)
        exchange.capture = capture(() => capturedRequest(request));
      return request;
    });
  }

  return {
    pass,
    fetch: (address, init = {}) => call(address, init, StreamedResponse),
    request: (address, init, maxBytes = sizeLimits.wholeBytes) =>
      call(address, init, CollectedResponse, { ...sizeLimits, wholeBytes: maxBytes }),
    join: (signal, context) => void Object.assign(signal, { [contextKey]: context }),
    close,
  };
}

type DispatchedRequest = Omit<Dispatcher.DispatchOptions, 'origin' | 'headers' | 'body'> & {
  readonly origin: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
};

function withBody(request: DispatchedRequest, { bytes, chunks }: RequestBody): Dispatcher.DispatchOptions {
  const headers = { ...request.headers, 'content-length': String(bytes) };
  return { ...request, headers, body: Readable.from(chunks, { objectMode: false }) };
}

/** The request with the headers that undici adds. `bytes` is the length of a body that `body` only describes. */
function sentRequest({ method, origin, path, headers, body }: DispatchedRequest, bytes?: number): SentRequest {
  return {
    method,
    url: origin + path,
    headers: {
      host: parseAddress(origin).host,
      ...headers,
      ...(body === null ? {} : { 'content-length': String(bytes ?? Buffer.byteLength(body)) }),
    },
    body,
  };
}

function capturedRequest({ origin, path, method, headers, body }: CapturedRequest): SentRequest {
  const named = new Map<string, string>([['host', parseAddress(origin).host]]);
  for (let index = 0; index < headers.length; index += 2) named.set(headers[index]!, headers[index + 1]!);
  if (body) named.set('content-length', String(body.length));
  return { method, url: origin + path, headers: Object.fromEntries(named), body: body?.toString() ?? null };
}

type CapturedRequest = Pick<PassedRequest, 'method' | 'headers' | 'body'> & {
  readonly origin: string;
  readonly path: string;
};

function dispatchOptions(address: string, init: RequestInit, context: CallContext | undefined): DispatchedRequest {
  const { origin, protocol, pathname, search } = parseAddress(address);
  if (protocol === 'https:') trustSystemCertificates();
  const body = (init.body as string | null | undefined) ?? null;
  return {
    origin,
    path: pathname + search,
    method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
    // Some gateways compress by default, which doesn't help a streamed response.
    headers: { ...(init.headers as Record<string, string> | undefined), 'accept-encoding': 'identity' },
    body: body !== null && context?.rewriteBody ? context.rewriteBody(body) : body,
  };
}

/** One call, from request to last byte. It enforces the time limits, backpressure and abort. */
class Exchange implements Dispatcher.DispatchHandler, ResponseFlow {
  readonly #limits: TimeLimits;
  readonly #context: CallContext | undefined;
  readonly #signal: AbortSignal | null;
  readonly #receiver: ResponseReceiver;
  readonly #onAbort = () => this.fail(this.#signal?.reason as Error);
  capture: HttpCapture | undefined;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #isSuccess = false;
  #hasFirstByte = false;
  #chunks = 0;
  #isPaused = false;
  #isFinished = false;
  #failure: Error | null = null;

  constructor(
    limits: TimeLimits,
    context: CallContext | undefined,
    signal: AbortSignal | null,
    receiver: ResponseReceiver,
  ) {
    this.#limits = limits;
    this.#context = context;
    this.#signal = signal;
    this.#receiver = receiver;
    this.#timer = setTimeout(() => this.#onSilence(), limits.firstByteSeconds * 1000);
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The call was aborted while it waited for its connection.
    if (this.#failure) controller.abort(this.#failure);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
    statusText = '',
  ): void {
    if (status < 200) return;
    if (status > maxStatus) return this.fail(new Error(`the status ${status} is none of HTTP`));
    this.#isSuccess = status < 300;
    this.capture?.begin(status, statusText, headers);
    this.#receiver.begin(status, statusText, headers, this, (controller.rawHeaders ?? []) as RawHeaders);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    // undici emits an empty chunk when it resumes. It would fill the room that was just freed.
    if (chunk.length === 0 || this.#failure) return;
    this.#chunks += 1;
    this.capture?.take(chunk);
    if (this.#hasFirstByte) this.#timer.refresh();
    else this.#onFirstByte();
    if (this.#receiver.take(chunk)) return;
    this.#isPaused = true;
    controller.pause();
  }

  onResponseEnd(): void {
    this.#finish();
    if (this.#failure) return;
    this.capture?.end();
    this.#receiver.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#timer.refresh();
    this.#controller?.resume();
  }

  cancel(): void {
    this.fail(new DOMException('The answer is no longer needed.', 'AbortError'));
  }

  /** Ends the call if it is still active. */
  fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#finish();
    this.#controller?.abort(error);
    this.capture?.fail(error);
    this.#receiver.fail(error);
  }

  #onFirstByte(): void {
    this.#hasFirstByte = true;
    const { firstByteSeconds, betweenBytesSeconds } = this.#limits;
    if (betweenBytesSeconds === firstByteSeconds) this.#timer.refresh();
    else {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#onSilence(), betweenBytesSeconds * 1000);
    }
    if (this.#isSuccess) this.#context?.onFirstByte?.();
  }

  #onSilence(): void {
    const chunksBefore = this.#chunks;
    // After a stall of this process the timer fires before the bytes that have arrived are read. Read them first.
    setImmediate(() => {
      if (this.#isFinished) return;
      // While our reader is slow, the provider can't send.
      if (this.#isPaused || this.#chunks > chunksBefore) this.#timer.refresh();
      else this.fail(this.#silence());
    });
  }

  #silence(): ProviderSilence {
    const { firstByteSeconds, betweenBytesSeconds } = this.#limits;
    return new ProviderSilence(this.#hasFirstByte ? betweenBytesSeconds : firstByteSeconds, this.#hasFirstByte);
  }

  #finish(): void {
    this.#isFinished = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}
