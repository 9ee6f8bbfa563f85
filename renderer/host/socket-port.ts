import type { FramePort, HostFrame, WindowFrame } from '../../shared/port-frames.ts';
import { decodeHostFrame, encodeWindowFrame, socketPath } from '../../shared/socket-frames.ts';
import { socketProtocol } from '../../shared/window-session.ts';
import { readSession } from './window-session.ts';

/** How often a silent host is asked whether it is there, in milliseconds. */
const askingMilliseconds = 30_000;

/**
 * Questions without an answer after which the connection counts as lost. They are counted, and not the time: a computer that
 * slept for hours asks once when it wakes.
 */
const maxUnanswered = 3;

/** Calls `onLost` once nothing comes any more: a connection that was cut on its way may never say so. */
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

/** Opens a socket to the host that served this page. Rejects when there is none to be had. */
export function openSocket(): Promise<FramePort<HostFrame, WindowFrame>> {
  return new Promise((resolve, reject) => {
    const session = readSession();
    // A browser takes no empty name. Without a session the host rejects the socket.
    const protocols = session === null ? [socketProtocol] : [socketProtocol, session];
    const socket = new WebSocket(new URL(socketPath, location.origin.replace(/^http/, 'ws')), protocols);
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => resolve(framePort(socket)));
    socket.addEventListener('close', () => reject(new TypeError('The host gives no socket.')));
  });
}
