import type { ErrorBody } from './app-error.ts';

/**
 * The frames of the one MessagePort between window and host. They carry requests and responses in chunks, and each names its request.
 * The window grants credit in bytes, and the host reads a response's body only while it has credit. A reader that stops reading
 * therefore stops reading from the provider, too, and memory stays bounded.
 */

/** Bytes of one response that the host may send before the window has read any. */
export const initialCredit = 256 * 1024;

/** Largest chunk of a body. Longer ones are split. */
export const maximumChunk = 64 * 1024;

export interface RequestFrame {
  readonly type: 'request';
  readonly id: number;
  /** Upper case, for `fetch`. */
  readonly method: string;
  /** Path and query, from the first slash. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array | null;
  /** Instead of `body`, which follows in separate frames. */
  readonly isBodyFollowing?: boolean;
}

/** A chunk of the request's body. As with responses, `initialCredit` bytes may be sent before the host has read any. */
export interface BodyFrame {
  readonly type: 'body';
  readonly id: number;
  readonly bytes: Uint8Array;
}

export interface BodyEndFrame {
  readonly type: 'body-end';
  readonly id: number;
}

/** The window has read `bytes` of the response. The host may send as many more. */
export interface CreditFrame {
  readonly type: 'credit';
  readonly id: number;
  readonly bytes: number;
}

/** The window cancels the request. The host ends the work and sends nothing more. */
export interface CancelFrame {
  readonly type: 'cancel';
  readonly id: number;
}

export type WindowFrame = RequestFrame | BodyFrame | BodyEndFrame | CreditFrame | CancelFrame;

/** The host has read `bytes` of the request's body. The window may send as many more. */
export interface BodyCreditFrame {
  readonly type: 'body-credit';
  readonly id: number;
  readonly bytes: number;
}

export interface HeadFrame {
  readonly type: 'head';
  readonly id: number;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
}

/** What came within a few milliseconds: one chunk for each response. Ten streams side by side have thousands of tokens a second. */
export interface ChunksFrame {
  readonly type: 'chunks';
  readonly chunks: readonly { readonly id: number; readonly bytes: Uint8Array }[];
}

export interface EndFrame {
  readonly type: 'end';
  readonly id: number;
}

/** The request failed, or its response ended early. Errors are sent as data, because the process boundary drops their fields. */
export interface FailureFrame {
  readonly type: 'failure';
  readonly id: number;
  readonly body: ErrorBody;
}

export type HostFrame = BodyCreditFrame | HeadFrame | ChunksFrame | EndFrame | FailureFrame;

/** One end of any kind of port. */
export interface FramePort<Incoming, Outgoing> {
  send(frame: Outgoing): void;
  /** Called once, before the first frame is needed. */
  receive(listener: (frame: Incoming) => void): void;
  /** Called when the other end has closed. */
  onClose(listener: () => void): void;
}

function isPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((item) => typeof item === 'string');
}

function isRequest(frame: Partial<RequestFrame>): boolean {
  const { method, path, headers, body } = frame;
  return (
    typeof method === 'string' &&
    typeof path === 'string' &&
    path.startsWith('/') &&
    Array.isArray(headers) &&
    headers.every(isPair) &&
    (body === null || typeof body === 'string' || body instanceof Uint8Array)
  );
}

/** Validates a message of the port. Null for anything that isn't a frame of the window. */
export function readWindowFrame(value: unknown): WindowFrame | null {
  if (typeof value !== 'object' || value === null) return null;
  const frame = value as Partial<WindowFrame>;
  if (!Number.isSafeInteger(frame.id)) return null;
  if (frame.type === 'cancel' || frame.type === 'body-end') return frame as CancelFrame | BodyEndFrame;
  if (frame.type === 'body') return frame.bytes instanceof Uint8Array ? (frame as BodyFrame) : null;
  if (frame.type === 'credit')
    return Number.isSafeInteger(frame.bytes) && frame.bytes! > 0 ? (frame as CreditFrame) : null;
  if (frame.type === 'request') return isRequest(frame) ? (frame as RequestFrame) : null;
  return null;
}
