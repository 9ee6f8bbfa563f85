import type { FramePort, HostFrame, WindowFrame } from '../../shared/port-frames.ts';
import { hostIsSilent } from './browser-fetch.ts';
import type { HostFetch, HostRequest } from './host-fetch.ts';
import { createPortFetch } from './port-fetch.ts';

export interface SocketFetchOptions {
  /** Sends a request on a connection of its own. */
  direct: HostFetch;
  /** Rejects when the host gives no socket. */
  open: () => Promise<FramePort<HostFrame, WindowFrame>>;
}

/** Resolves or rejects with the promise, or rejects with the signal's reason if that comes first. */
function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * Puts everything that lasts on one socket: a browser has six connections to one host for all its windows together, and
 * whoever holds them stops all others. The socket is opened by the first request that needs it and anew after it was lost.
 */
export function createSocketFetch({ direct, open }: SocketFetchOptions): HostFetch {
  let current: Promise<HostFetch> | null = null;

  function overSocket(): Promise<HostFetch> {
    const opening = open().then((port) => {
      port.onClose(forget);
      return createPortFetch(port, hostIsSilent);
    });
    const forget = (): void => {
      if (current === opening) current = null;
    };
    opening.catch(forget);
    return opening;
  }

  return async (request: HostRequest) => {
    const isText = request.body === null || typeof request.body === 'string';
    if (!request.isLasting || !isText) return direct(request);
    current ??= overSocket();
    const hostFetch = await orAborted(
      current.catch(() => null),
      request.signal,
    );
    // Why a host refuses is told only to an ordinary request.
    return (hostFetch ?? direct)(request);
  };
}
