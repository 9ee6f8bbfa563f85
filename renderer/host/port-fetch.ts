import {
  type FramePort,
  type HostFrame,
  initialCredit,
  maximumChunk,
  type WindowFrame,
} from '../../shared/port-frames.ts';
import { AppError, errorFromBody } from '../../shared/app-error.ts';
import type { HostFetch } from './host-fetch.ts';

/** The body of a response that arrives over the port in chunks. */
interface PortBody {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  push(bytes: Uint8Array): void;
  end(): void;
  /** Chunks that arrived earlier are read first. */
  fail(error: unknown): void;
}

/**
 * A readable stream with a separate queue. The stream's own queue counts a chunk as taken when it is queued, but flow control must
 * count only bytes that a reader has consumed. `onTaken` receives these bytes; `onCancel` is called when the reader cancels.
 */
function createPortBody(observer: { onTaken(bytes: number): void; onCancel(): void }): PortBody {
  const queue: Uint8Array<ArrayBuffer>[] = [];
  let ending: { readonly error?: unknown } | null = null;
  let wake: (() => void) | null = null;
  let isCancelled = false;

  function end(change: { readonly error?: unknown }): void {
    ending ??= change;
    wake?.();
  }

  async function deliver(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    while (queue.length === 0 && !ending) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
    if (isCancelled) return;
    const bytes = queue.shift();
    if (bytes) {
      controller.enqueue(bytes);
      observer.onTaken(bytes.byteLength);
    } else if (ending && 'error' in ending) controller.error(ending.error);
    else controller.close();
  }

  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: deliver,
      cancel() {
        isCancelled = true;
        queue.length = 0;
        end({});
        observer.onCancel();
      },
    },
    { highWaterMark: 0 },
  );

  return {
    stream,
    push(bytes) {
      if (ending) return;
      queue.push(bytes as Uint8Array<ArrayBuffer>);
      wake?.();
    },
    end: () => end({}),
    fail: (error) => end({ error }),
  };
}

/** A form that is uploaded over the port in chunks, no faster than the host reads them. */
interface PortUpload {
  /** With the boundary between the parts. */
  readonly contentType: string;
  /** Resolves with whether the whole form was sent; false if it was stopped. Rejects when a file of the form can't be read. */
  send(sendChunk: (bytes: Uint8Array) => void): Promise<boolean>;
  /** The host has read this many more bytes. */
  grant(bytes: number): void;
  /** Stops sending: the host has responded, or the request was aborted. */
  stop(): void;
}

/** `onUpload` receives the number of bytes that the host has read. */
function createPortUpload(form: FormData, onUpload?: (bytes: number) => void): PortUpload {
  const encoded = new Response(form);
  const reader = encoded.body!.getReader();
  let credit = initialCredit;
  let taken = 0;
  let isStopped = false;
  let wake: () => void = () => {};

  async function sendChunks(bytes: Uint8Array, sendChunk: (bytes: Uint8Array) => void): Promise<void> {
    for (let start = 0; start < bytes.byteLength; start += maximumChunk) {
      // A copy: a view of a larger buffer would transfer the whole buffer.
      const chunk = bytes.slice(start, start + maximumChunk);
      while (credit < chunk.byteLength && !isStopped) await new Promise<void>((resolve) => (wake = resolve));
      if (isStopped) return;
      credit -= chunk.byteLength;
      sendChunk(chunk);
    }
  }

  return {
    contentType: encoded.headers.get('content-type')!,
    async send(sendChunk) {
      while (!isStopped) {
        const { done, value } = await reader.read();
        if (done) return !isStopped;
        await sendChunks(value, sendChunk);
      }
      return false;
    },
    grant(bytes) {
      credit += bytes;
      taken += bytes;
      onUpload?.(taken);
      wake();
    },
    stop() {
      if (isStopped) return;
      isStopped = true;
      void reader.cancel().catch(() => undefined);
      wake();
    },
  };
}

interface Exchange {
  readonly body: PortBody;
  /** Null for a request without a form. */
  readonly upload: PortUpload | null;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: unknown) => void;
  /** Removes the listener from the caller's signal, which may outlive the request. */
  readonly release: () => void;
}

const statusesWithoutBody = new Set([204, 205, 304]);

const disconnectedMessage = 'Disconnected. Restart Touchstone.';

/** Flow control acknowledges bytes in steps, so that not every small part of a stream costs a frame. */
const creditStep = initialCredit / 4;

function takeFrame(exchange: Exchange, frame: Exclude<HostFrame, { type: 'chunks' }>): void {
  switch (frame.type) {
    case 'body-credit':
      return exchange.upload?.grant(frame.bytes);
    case 'head': {
      exchange.upload?.stop();
      const headers = new Headers(frame.headers.map(([name, value]): [string, string] => [name, value]));
      const stream = statusesWithoutBody.has(frame.status) ? null : exchange.body.stream;
      return exchange.resolve(new Response(stream, { status: frame.status, headers }));
    }
    case 'end':
      return exchange.body.end();
    case 'failure': {
      const error = errorFromBody(frame.body, "Touchstone couldn't respond.");
      exchange.reject(error);
      return exchange.body.fail(error);
    }
  }
}

type Port = FramePort<HostFrame, WindowFrame>;

/** The exchanges that haven't ended, by their numbers. Ended ones leave nothing behind. */
function createExchanges(port: Port, connectionLost: () => AppError) {
  const exchanges = new Map<number, Exchange>();
  let isClosed = false;

  function forget(id: number): Exchange | undefined {
    const exchange = exchanges.get(id);
    exchanges.delete(id);
    exchange?.release();
    exchange?.upload?.stop();
    return exchange;
  }

  port.receive((frame) => {
    if (frame.type === 'chunks') {
      for (const { id, bytes } of frame.chunks) exchanges.get(id)?.body.push(bytes);
      return;
    }
    const exchange = frame.type === 'end' || frame.type === 'failure' ? forget(frame.id) : exchanges.get(frame.id);
    if (exchange) takeFrame(exchange, frame);
  });

  port.onClose(() => {
    isClosed = true;
    for (const id of exchanges.keys()) {
      const exchange = forget(id);
      exchange?.reject(connectionLost());
      exchange?.body.fail(connectionLost());
    }
  });

  return {
    add: (id: number, exchange: Exchange) => exchanges.set(id, exchange),
    has: (id: number) => exchanges.has(id),
    cancel(id: number): void {
      if (forget(id)) port.send({ type: 'cancel', id });
    },
    requireOpen(): void {
      if (isClosed) throw connectionLost();
    },
  };
}

/** `fetch` over one port between window and host, with flow control in bytes and cancel frames. `lossMessage` is shown to the user when the port has closed. */
export function createPortFetch(port: Port, lossMessage = disconnectedMessage): HostFetch {
  const exchanges = createExchanges(port, () => new AppError('internal', lossMessage));
  let lastId = 0;

  function createBody(id: number): PortBody {
    let taken = 0;
    return createPortBody({
      onTaken(bytes) {
        taken += bytes;
        if (taken < creditStep || !exchanges.has(id)) return;
        port.send({ type: 'credit', id, bytes: taken });
        taken = 0;
      },
      onCancel: () => exchanges.cancel(id),
    });
  }

  function sendBody(id: number, upload: PortUpload, reject: (error: unknown) => void): void {
    upload
      .send((bytes) => port.send({ type: 'body', id, bytes }))
      .then(
        (isWhole) => {
          if (isWhole) port.send({ type: 'body-end', id });
        },
        (error: unknown) => {
          exchanges.cancel(id);
          reject(new AppError('invalid_request', "Couldn't read the file. Choose it again.", { cause: error }));
        },
      );
  }

  return ({ method, path, headers, body, signal, onUpload }) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      exchanges.requireOpen();
      const id = (lastId += 1);
      const responseBody = createBody(id);
      const abort = (): void => {
        exchanges.cancel(id);
        reject(signal?.reason);
        responseBody.fail(signal?.reason);
      };
      signal?.addEventListener('abort', abort);
      const upload = body instanceof FormData ? createPortUpload(body, onUpload) : null;
      const release = () => signal?.removeEventListener('abort', abort);
      exchanges.add(id, { body: responseBody, upload, resolve, reject, release });
      const typed = upload ? { ...headers, 'content-type': upload.contentType } : headers;
      const request = { type: 'request', id, method, path, headers: Object.entries(typed) } as const;
      if (body instanceof FormData) port.send({ ...request, body: null, isBodyFollowing: true });
      else port.send({ ...request, body });
      if (upload) sendBody(id, upload, reject);
    });
}
