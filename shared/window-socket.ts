import type { HostFrame, WindowFrame } from './port-frames.ts';

/**
 * How a window in a browser proves that it is ours. Browsers send a cookie to every port of one name, so the cookie alone proves
 * nothing. The session secret lies in `localStorage`, which browsers isolate by origin and therefore by port.
 */
export const sessionStorageKey = 'touchstone.session';

/** Carries the session secret on every request of the window. */
export const sessionHeader = 'x-touchstone-session';

/** Subprotocol of the window's WebSocket. The secret follows as a second one: browsers allow no header of our own here. */
export const socketProtocol = 'touchstone';

/** Followed by a ticket that works once: a browser saves a file by plain navigation, which carries no header. */
export const downloadPath = '/window/downloads/';

/**
 * The frames of `port-frames.ts` as messages of a WebSocket, which a window in a browser holds in place of the desktop's
 * port. A piece of an answer is a binary message: the number of its request, then its bytes. Every other frame is JSON.
 * An empty message is a ping; the other end echoes it.
 */
export const socketPath = '/window/socket';

/** Bytes of a request's number before the bytes of a chunk. */
const numberBytes = 4;

export function encodeHostFrame(frame: HostFrame): string | Uint8Array<ArrayBuffer> {
  if (frame.type !== 'chunk') return JSON.stringify(frame);
  const message = new Uint8Array(numberBytes + frame.bytes.byteLength);
  new DataView(message.buffer).setUint32(0, frame.id);
  message.set(frame.bytes, numberBytes);
  return message;
}

/** Messages come from our own host and are not checked again. */
export function decodeHostFrame(message: string | ArrayBuffer): HostFrame {
  if (typeof message === 'string') return JSON.parse(message) as HostFrame;
  const id = new DataView(message).getUint32(0);
  return { type: 'chunk', id, bytes: new Uint8Array(message, numberBytes) };
}

/** For frames without bytes: forms go to the host as they are, not over the socket. */
export function encodeWindowFrame(frame: WindowFrame): string {
  return JSON.stringify(frame);
}

/** Null for what is no JSON; `readWindowFrame` checks the rest. */
export function decodeWindowFrame(message: string): unknown {
  try {
    return JSON.parse(message) as unknown;
  } catch {
    return null;
  }
}
