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
 * The frames of `port-frames.ts` as messages of a WebSocket, which a window in a browser uses instead of the desktop's port. Chunks of
 * responses are a binary message: for each the number of its request, its length, and its bytes. Every other frame is JSON. An empty
 * message is a ping, which the other end echoes.
 */
export const socketPath = '/window/socket';

/** Two numbers of four bytes. */
const chunkHeadBytes = 8;

export function encodeHostFrame(frame: HostFrame): string | Uint8Array<ArrayBuffer> {
  if (frame.type !== 'chunks') return JSON.stringify(frame);
  const message = new Uint8Array(frame.chunks.reduce((sum, { bytes }) => sum + chunkHeadBytes + bytes.byteLength, 0));
  const view = new DataView(message.buffer);
  let at = 0;
  for (const { id, bytes } of frame.chunks) {
    view.setUint32(at, id);
    view.setUint32(at + 4, bytes.byteLength);
    message.set(bytes, at + chunkHeadBytes);
    at += chunkHeadBytes + bytes.byteLength;
  }
  return message;
}

/** Messages come from our own host, so they aren't validated. */
export function decodeHostFrame(message: string | ArrayBuffer): HostFrame {
  if (typeof message === 'string') return JSON.parse(message) as HostFrame;
  const view = new DataView(message);
  const chunks = [];
  for (let at = 0; at < message.byteLength;) {
    const bytes = new Uint8Array(message, at + chunkHeadBytes, view.getUint32(at + 4));
    chunks.push({ id: view.getUint32(at), bytes });
    at += chunkHeadBytes + bytes.byteLength;
  }
  return { type: 'chunks', chunks };
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
