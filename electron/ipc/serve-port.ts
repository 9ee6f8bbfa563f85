import { buffer as collect } from 'node:stream/consumers';
import {
  type FramePort,
  type HostFrame,
  initialCredit,
  maximumChunk,
  readWindowFrame,
  type RequestFrame,
} from '../../shared/port-frames.ts';
import { AppError } from '../../shared/app-error.ts';
import type { Api } from '../api/api.ts';
import { JsonResponse } from '../api/json-response.ts';
import { LazyRequest, type RequestBody } from '../api/lazy-request.ts';
import { StreamedTexts } from '../api/stream-response.ts';

/** A request's body that arrives over the port in chunks. */
export interface IncomingBody {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  push(bytes: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
}

/** `onTaken` receives the bytes that the reader has read, until the reader cancels. The window may send as many more. */
export function createIncomingBody(onTaken: (bytes: number) => void): IncomingBody {
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  let isOpen = true;
  let [received, acknowledged] = [0, 0];

  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(given) {
        controller = given;
      },
      // Called after every read. Bytes that are no longer in the queue were read.
      pull() {
        const taken = received - (initialCredit - controller.desiredSize!);
        if (taken > acknowledged) onTaken(taken - acknowledged);
        acknowledged = Math.max(acknowledged, taken);
      },
      cancel() {
        isOpen = false;
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: initialCredit }),
  );

  return {
    stream,
    push(bytes) {
      if (!isOpen) return;
      received += bytes.byteLength;
      controller.enqueue(bytes as Uint8Array<ArrayBuffer>);
    },
    end() {
      if (isOpen) controller.close();
      isOpen = false;
    },
    fail(error) {
      if (isOpen) controller.error(error);
      isOpen = false;
    },
  };
}

/** Bytes of one response that may still be sent. */
export interface Credit {
  /** Resolves immediately while there is credit, otherwise with the next grant. Rejects if the signal aborts. */
  available(options: { signal: AbortSignal }): Promise<void>;
  /** May drop below zero by less than one chunk. */
  take(bytes: number): void;
  grant(bytes: number): void;
}

export function createCredit(initial: number): Credit {
  let left = initial;
  let granted: (() => void) | null = null;

  return {
    async available({ signal }) {
      signal.throwIfAborted();
      if (left > 0) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      granted = resolve;
      const abort = (): void => reject(signal.reason);
      signal.addEventListener('abort', abort);
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    take(bytes) {
      left -= bytes;
    },
    grant(bytes) {
      left += bytes;
      if (left > 0) granted?.();
    },
  };
}

interface Exchange {
  readonly controller: AbortController;
  readonly credit: Credit;
  /** Null if the body came with the request. */
  readonly body: IncomingBody | null;
}

/** A request has an absolute address. This host doesn't exist. */
const base = 'http://window.invalid';

function wholeBody(body: string | Uint8Array): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function bodyOf(bytes: Buffer | null, incoming: IncomingBody | null): RequestBody | null {
  if (bytes === null && incoming === null) return null;
  const stream = () => incoming?.stream ?? new Blob([new Uint8Array(bytes!)]).stream();
  return { stream, bytes: async () => bytes ?? collect(stream()) };
}

function requestOf(frame: RequestFrame, { controller: { signal }, body: incoming }: Exchange): Request {
  const headers = Object.create(null) as Record<string, string>;
  for (const [name, value] of frame.headers) headers[name.toLowerCase()] = value;
  const bytes = frame.body === null ? null : wholeBody(frame.body);
  if (bytes !== null) headers['content-length'] = String(bytes.byteLength);
  const { method } = frame;
  return new LazyRequest(new URL(frame.path, base).href, { method, headers, signal, body: bodyOf(bytes, incoming) });
}

/** Copies of the chunks: sending a view of a larger buffer would send the whole buffer. */
function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  const isWhole = bytes.byteLength === bytes.buffer.byteLength;
  if (isWhole && bytes.byteLength <= maximumChunk) return yield bytes;
  for (let start = 0; start < bytes.byteLength; start += maximumChunk) {
    yield new Uint8Array(bytes.subarray(start, start + maximumChunk));
  }
}

/** A response on its way. */
interface Outgoing {
  readonly headers: readonly (readonly [string, string])[];
  /** The next bytes of the body; null at its end. */
  read(): Promise<Uint8Array | null>;
  cancel(): void;
}

function wholeOutgoing(headers: Readonly<Record<string, string>>, bytes: Uint8Array): Outgoing {
  let next: Uint8Array | null = bytes;
  return {
    headers: Object.entries(headers),
    async read() {
      const taken = next;
      next = null;
      return taken;
    },
    cancel: () => {},
  };
}

/** Of the responses that calls of the window usually get, nothing becomes a `Response` of the Fetch standard, nor a web stream. */
function outgoingOf(response: Response): Outgoing {
  const whole = response instanceof JsonResponse ? response.unread : null;
  if (whole) return wholeOutgoing(whole.headers, whole.bytes ?? Buffer.from(whole.text));
  const streamed = response instanceof StreamedTexts ? response.unread : null;
  if (streamed) {
    let isDone = false;
    return {
      headers: Object.entries(streamed.headers),
      async read() {
        if (isDone) return null;
        const next = await streamed.texts.next();
        ({ isDone } = next);
        return Buffer.from(next.text);
      },
      cancel: () => void streamed.texts.end(),
    };
  }
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return {
    headers: [...response.headers],
    async read() {
      reader ??= response.body?.getReader();
      return (await reader?.read())?.value ?? null;
    },
    cancel: () => void reader?.cancel().catch(() => undefined),
  };
}

async function sendBody(outgoing: Outgoing, exchange: Exchange, send: (bytes: Uint8Array) => void): Promise<void> {
  const { credit, controller } = exchange;
  controller.signal.addEventListener('abort', () => outgoing.cancel());
  for (;;) {
    await credit.available({ signal: controller.signal });
    const bytes = await outgoing.read();
    if (bytes === null) return;
    if (bytes.byteLength === 0) continue;
    for (const chunk of chunksOf(bytes)) {
      await credit.available({ signal: controller.signal });
      credit.take(chunk.byteLength);
      send(chunk);
    }
  }
}

/** A window draws every 16 ms. A chunk that comes alone is sent at once. */
const gatherMs = 8;

/** Sends the chunks of all responses that come within a few milliseconds as one frame, which each end reads as one message. */
function gatherChunks(port: FramePort<unknown, HostFrame>) {
  const gathered = new Map<number, Uint8Array[]>();
  let size = 0;
  let sentAt = -Infinity;
  let timer: NodeJS.Timeout | null = null;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    size = 0;
    if (gathered.size === 0) return;
    const chunks = [...gathered].map(([id, pieces]) => {
      // Another copy, because a short buffer is a view of one that is shared.
      const bytes = pieces.length === 1 ? pieces[0]! : new Uint8Array(Buffer.concat(pieces));
      return { id, bytes };
    });
    gathered.clear();
    sentAt = performance.now();
    port.send({ type: 'chunks', chunks });
  }

  return {
    flush,
    add(id: number, bytes: Uint8Array): void {
      if (size + bytes.byteLength > maximumChunk) flush();
      const pieces = gathered.get(id);
      if (pieces) pieces.push(bytes);
      else gathered.set(id, [bytes]);
      size += bytes.byteLength;
      const left = sentAt + gatherMs - performance.now();
      if (left <= 0 || size >= maximumChunk) flush();
      else timer ??= setTimeout(flush, left);
    },
    /** Leaves out what was gathered for a request that has ended. */
    drop: (id: number) => void gathered.delete(id),
  };
}

/**
 * Serves the frames of one window. A cancel frame and the end of the port abort the request's signal. The body of a response is read only
 * while there is credit.
 */
export function servePort(port: FramePort<unknown, HostFrame>, api: Pick<Api, 'fetch'>): void {
  const exchanges = new Map<number, Exchange>();
  const chunks = gatherChunks(port);

  function send(frame: Exclude<HostFrame, { type: 'chunks' }>): void {
    chunks.flush();
    port.send(frame);
  }

  async function answer(frame: RequestFrame, exchange: Exchange): Promise<void> {
    const { id } = frame;
    const { signal } = exchange.controller;
    const response = await api.fetch(requestOf(frame, exchange), { access: 'window' });
    const outgoing = outgoingOf(response);
    send({ type: 'head', id, status: response.status, headers: outgoing.headers });
    await sendBody(outgoing, exchange, (bytes) => {
      if (!signal.aborted) chunks.add(id, bytes);
    });
    if (!signal.aborted) send({ type: 'end', id });
  }

  async function serve(frame: RequestFrame): Promise<void> {
    const { id } = frame;
    const onTaken = (bytes: number): void => port.send({ type: 'body-credit', id, bytes });
    const exchange: Exchange = {
      controller: new AbortController(),
      credit: createCredit(initialCredit),
      body: frame.isBodyFollowing ? createIncomingBody(onTaken) : null,
    };
    exchanges.set(frame.id, exchange);
    try {
      await answer(frame, exchange);
    } catch (error) {
      if (exchange.controller.signal.aborted) return;
      const failure =
        error instanceof AppError ? error : new AppError('internal', "The host couldn't complete its response.");
      send({ type: 'failure', id: frame.id, body: failure.toBody(failure.requestId ?? '') });
    } finally {
      exchanges.delete(frame.id);
      chunks.drop(frame.id);
    }
  }

  function end(exchange: Exchange | undefined): void {
    exchange?.controller.abort();
    exchange?.body?.fail(exchange.controller.signal.reason);
  }

  port.receive((received) => {
    const frame = readWindowFrame(received);
    if (!frame) return;
    if (frame.type === 'request' && !exchanges.has(frame.id)) void serve(frame);
    if (frame.type === 'body') exchanges.get(frame.id)?.body?.push(frame.bytes);
    if (frame.type === 'body-end') exchanges.get(frame.id)?.body?.end();
    if (frame.type === 'credit') exchanges.get(frame.id)?.credit.grant(frame.bytes);
    if (frame.type === 'cancel') end(exchanges.get(frame.id));
  });

  port.onClose(() => {
    for (const [id, exchange] of exchanges) {
      chunks.drop(id);
      end(exchange);
    }
  });
}
