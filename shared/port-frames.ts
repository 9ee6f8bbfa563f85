import type { ErrorBody } from './app-error.ts';

/**
 * What crosses the one MessagePort between window and host: requests and answers in pieces. Every frame names the request
 * that it belongs to. The window grants credit in bytes, and the host reads an answer's body only while there is credit:
 * a reader that stops reading stops the provider's reader, and memory stays bounded.
 */

/** Bytes that the host may send of one answer before the window has taken any of them. */
export const initialCredit = 256 * 1024;

/** Largest body of one chunk frame; longer pieces of an answer are cut. */
export const maximumChunk = 64 * 1024;

export interface RequestFrame {
  readonly type: 'request';
  readonly id: number;
  /** Upper case, as `fetch` takes it. */
  readonly method: string;
  /** Path and query, from the first slash. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array | null;
  /** Instead of `body`: it comes in separate frames after this one. */
  readonly isBodyFollowing?: boolean;
}

/** A piece of a body that follows. As with answers, `initialCredit` bytes may be on their way before the host has taken any. */
export interface BodyFrame {
  readonly type: 'body';
  readonly id: number;
  readonly bytes: Uint8Array;
}

export interface BodyEndFrame {
  readonly type: 'body-end';
  readonly id: number;
}

/** The window took `bytes` of the answer; the host may send as many more. */
export interface CreditFrame {
  readonly type: 'credit';
  readonly id: number;
  readonly bytes: number;
}

/** The window wants no more of it: the host ends the work and sends nothing further. */
export interface CancelFrame {
  readonly type: 'cancel';
  readonly id: number;
}

export type WindowFrame = RequestFrame | BodyFrame | BodyEndFrame | CreditFrame | CancelFrame;

/** The host took `bytes` of the request's body; the window may send as many more. */
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

export interface ChunkFrame {
  readonly type: 'chunk';
  readonly id: number;
  readonly bytes: Uint8Array;
}

export interface EndFrame {
  readonly type: 'end';
  readonly id: number;
}

/** The host could not answer, or its answer broke off. Errors cross as data: the process boundary drops their fields. */
export interface FailureFrame {
  readonly type: 'failure';
  readonly id: number;
  readonly body: ErrorBody;
}

export type HostFrame = BodyCreditFrame | HeadFrame | ChunkFrame | EndFrame | FailureFrame;

/** One end of any kind of port. */
export interface FramePort<Incoming, Outgoing> {
  send(frame: Outgoing): void;
  /** Called once, before the first frame is needed. */
  receive(listener: (frame: Incoming) => void): void;
  /** The other end is gone. */
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

/** Checks what came over the port before the host believes it; null for anything that is not a frame of the window. */
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
