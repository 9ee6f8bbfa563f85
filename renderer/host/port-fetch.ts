import { AppError, errorFromBody } from '../../shared/app-error.ts';
import { initialCredit } from '../../shared/port-frames.ts';
import type { FramePort, HostFrame, WindowFrame } from '../../shared/port-frames.ts';
import { createPortBody } from './port-body.ts';
import type { PortBody } from './port-body.ts';
import { createPortUpload, type PortUpload } from './port-upload.ts';
import type { HostFetch } from './host-fetch.ts';

interface Exchange {
  readonly body: PortBody;
  /** Null when the request was sent whole. */
  readonly upload: PortUpload | null;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: unknown) => void;
  /** Lets go of the caller's signal, which may outlive the request. */
  readonly release: () => void;
}

const statusesWithoutBody = new Set([204, 205, 304]);

const hostIsGone = 'Disconnected. Restart Touchstone.';

/** Credit is given back in steps, so that not every small part of a stream costs a frame. */
const creditStep = initialCredit / 4;

function takeFrame(exchange: Exchange, frame: HostFrame): void {
  switch (frame.type) {
    case 'body-credit':
      return exchange.upload?.grant(frame.bytes);
    case 'head': {
      exchange.upload?.stop();
      const headers = new Headers(frame.headers.map(([name, value]): [string, string] => [name, value]));
      const stream = statusesWithoutBody.has(frame.status) ? null : exchange.body.stream;
      return exchange.resolve(new Response(stream, { status: frame.status, headers }));
    }
    case 'chunk':
      return exchange.body.push(frame.bytes);
    case 'end':
      return exchange.body.end();
    case 'failure': {
      const error = errorFromBody(frame.body, "Touchstone couldn't respond.");
      exchange.reject(error);
      return exchange.body.fail(error);
    }
  }
}

/**
 * `fetch` over one port between window and host: credit in bytes, cancel frames, nothing kept of ended requests.
 * `lossMessage` tells a person what to do once the port has closed.
 */
export function createPortFetch(port: FramePort<HostFrame, WindowFrame>, lossMessage = hostIsGone): HostFetch {
  const hostGone = (): AppError => new AppError('internal', lossMessage);
  const exchanges = new Map<number, Exchange>();
  let lastId = 0;
  let isClosed = false;

  function forget(id: number): Exchange | undefined {
    const exchange = exchanges.get(id);
    exchanges.delete(id);
    exchange?.release();
    exchange?.upload?.stop();
    return exchange;
  }

  port.receive((frame) => {
    const exchange = frame.type === 'end' || frame.type === 'failure' ? forget(frame.id) : exchanges.get(frame.id);
    if (exchange) takeFrame(exchange, frame);
  });

  port.onClose(() => {
    isClosed = true;
    for (const id of exchanges.keys()) {
      const exchange = forget(id);
      exchange?.reject(hostGone());
      exchange?.body.fail(hostGone());
    }
  });

  function cancel(id: number): void {
    if (forget(id)) port.send({ type: 'cancel', id });
  }

  function createBody(id: number): PortBody {
    let taken = 0;
    return createPortBody({
      onTaken(bytes) {
        taken += bytes;
        if (taken < creditStep || !exchanges.has(id)) return;
        port.send({ type: 'credit', id, bytes: taken });
        taken = 0;
      },
      onCancel: () => cancel(id),
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
          cancel(id);
          reject(new AppError('invalid_request', "Couldn't read the file. Choose it again.", { cause: error }));
        },
      );
  }

  return ({ method, path, headers, body, signal, onUpload }) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (isClosed) throw hostGone();
      const id = (lastId += 1);
      const answer = createBody(id);
      const abort = (): void => {
        cancel(id);
        reject(signal?.reason);
        answer.fail(signal?.reason);
      };
      signal?.addEventListener('abort', abort);
      const upload = body instanceof FormData ? createPortUpload(body, onUpload) : null;
      const release = () => signal?.removeEventListener('abort', abort);
      exchanges.set(id, { body: answer, upload, resolve, reject, release });
      const typed = upload ? { ...headers, 'content-type': upload.contentType } : headers;
      const request = { type: 'request', id, method, path, headers: Object.entries(typed) } as const;
      if (body instanceof FormData) port.send({ ...request, body: null, isBodyFollowing: true });
      else port.send({ ...request, body });
      if (upload) sendBody(id, upload, reject);
    });
}
