import type { FramePort, HostFrame, WindowFrame } from '../../shared/port-frames.ts';
import { decodeHostFrame, encodeWindowFrame, socketPath, socketProtocol } from '../../shared/window-socket.ts';
import { hostIsSilent, readSession } from './browser-fetch.ts';
import type { HostFetch, HostRequest } from './host-fetch.ts';
import { createPortFetch } from './port-fetch.ts';

/** The interval at which a silent host is pinged, in milliseconds. */
const askingMilliseconds = 30_000;

/**
 * Unanswered pings after which the connection counts as lost. A count instead of a time: a computer that slept for hours sends one
 * ping when it wakes.
 */
const maxUnanswered = 3;

/** Calls `onLost` when nothing arrives any more: a cut connection may never report it. */
function watchSilence(socket: WebSocket, onLost: () => void): () => void {
  let hasHeard = true;
  let unanswered = 0;
  const timer = setInterval(() => {
    if (hasHeard) {
      hasHeard = false;
      unanswered = 0;
    } else if (unanswered === maxUnanswered) onLost();
    else {
      unanswered += 1;
      socket.send('');
    }
  }, askingMilliseconds);
  socket.addEventListener('message', () => (hasHeard = true));
  return () => clearInterval(timer);
}

function framePort(socket: WebSocket): FramePort<HostFrame, WindowFrame> {
  const listeners: (() => void)[] = [];
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    stopWatching();
    socket.close();
    for (const listener of listeners) listener();
  };
  const stopWatching = watchSilence(socket, close);
  socket.addEventListener('close', close);
  return {
    send: (frame) => {
      if (isOpen) socket.send(encodeWindowFrame(frame));
    },
    receive: (listener) =>
      socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
        if (isOpen && data !== '') listener(decodeHostFrame(data));
      }),
    onClose: (listener) => listeners.push(listener),
  };
}

/** Opens a socket to the host that served this page. Rejects if the host accepts none. */
export function openSocket(): Promise<FramePort<HostFrame, WindowFrame>> {
  return new Promise((resolve, reject) => {
    const session = readSession();
    // A browser rejects an empty protocol name. Without a session the host rejects the socket.
    const protocols = session === null ? [socketProtocol] : [socketProtocol, session];
    const socket = new WebSocket(new URL(socketPath, location.origin.replace(/^http/, 'ws')), protocols);
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => resolve(framePort(socket)));
    socket.addEventListener('close', () => reject(new TypeError('The host gives no socket.')));
  });
}

interface SocketFetchOptions {
  /** Sends a request on a separate connection. */
  direct: HostFetch;
  /** Rejects when the host gives no socket. */
  open: () => Promise<FramePort<HostFrame, WindowFrame>>;
}

/** Resolves or rejects with the promise, or rejects with the signal's reason, whichever comes first. */
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
 * Sends all lasting requests over one socket: a browser allows six connections to a host for all its windows together, and lasting
 * requests would block the others. The first such request opens the socket, also after a loss.
 */
export function createSocketFetch({ direct, open }: SocketFetchOptions): HostFetch {
  let current: Promise<HostFetch> | null = null;
  /** Set while the socket is open: a request is then sent at once, before the window renders again. */
  let opened: HostFetch | null = null;

  function overSocket(): Promise<HostFetch> {
    const opening = open().then((port) => {
      port.onClose(forget);
      opened = createPortFetch(port, hostIsSilent);
      return opened;
    });
    const forget = (): void => {
      if (current !== opening) return;
      current = null;
      opened = null;
    };
    opening.catch(forget);
    return opening;
  }

  return async (request: HostRequest) => {
    const isText = request.body === null || typeof request.body === 'string';
    if (!request.isLasting || !isText) return direct(request);
    if (opened) return opened(request);
    current ??= overSocket();
    const hostFetch = await orAborted(
      current.catch(() => null),
      request.signal,
    );
    // Only an ordinary request gets the reason of a rejection.
    return (hostFetch ?? direct)(request);
  };
}
