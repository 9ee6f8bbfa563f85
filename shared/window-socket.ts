import type { HostFrame, WindowFrame } from './port-frames.ts';

/**
 * How a window in a browser authenticates. Browsers send a cookie to every port of a host name, so the cookie alone isn't enough. The
 * session secret is in `localStorage`, which browsers isolate by origin and therefore by port.
 */
export const sessionStorageKey = 'touchstone.session';

/** Carries the session secret on every request of the window. */
export const sessionHeader = 'x-touchstone-session';

/** Subprotocol of the window's WebSocket. The secret is a second one, because browsers allow no custom headers here. */
export const socketProtocol = 'touchstone';

/** A one-time ticket follows. Browsers download files by navigation, which sends no custom header. */
export const downloadPath = '/window/downloads/';

/**
 * The frames of `port-frames.ts` as messages of a WebSocket, which a window in a browser uses instead of the desktop's port. A chunk of
 * a response is a binary message: the number of its request, then its bytes. Every other frame is JSON. An empty message is a ping,
 * which the other end echoes.
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

/** Messages come from our own host, so they aren't validated. */
export function decodeHostFrame(message: string | ArrayBuffer): HostFrame {
  if (typeof message === 'string') return JSON.parse(message) as HostFrame;
  const id = new DataView(message).getUint32(0);
  return { type: 'chunk', id, bytes: new Uint8Array(message, numberBytes) };
}

/** For frames without bytes. Forms are sent by `fetch`, not over the socket. */
export function encodeWindowFrame(frame: WindowFrame): string {
  return JSON.stringify(frame);
}

/** Null for invalid JSON. `readWindowFrame` validates the rest. */
export function decodeWindowFrame(message: string): unknown {
  try {
    return JSON.parse(message) as unknown;
  } catch {
    return null;
  }
}
