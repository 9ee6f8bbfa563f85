import type { Socket } from 'node:net';
import type { NodeRequest } from './incoming-request.ts';
import type { ListenerLimits } from './listener-limits.ts';

/** A body that is being received. */
interface OpenBody {
  readonly socket: Socket;
  /** A form can have a large file, so only silence ends it. */
  readonly isForm: boolean;
  readonly startedAt: number;
  readonly bytesBefore: number;
  bytesSeen: number;
  progressAt: number;
  /** Set after the response. The rest of the body is then read and dropped, so that the caller can read the response. */
  lingersSince: number | null;
  readonly callbacks: BodyCallbacks;
}

interface BodyCallbacks {
  /** The time for the body is over. The rest is dropped for a while, so that the caller can read the error. */
  reject(): void;
  /** The time for dropping the rest is over. */
  close(): void;
}

/**
 * Ends bodies that take too long. One check a second for all of them costs less than a timer for each. Node's own time limit would be the
 * same for an upload of 50 MB as for a prompt.
 */
export interface BodyTimeouts {
  open(incoming: NodeRequest, socket: Socket, isForm: boolean, callbacks: BodyCallbacks): void;
  /**
   * Call it after the response. The rest of the body is dropped, within limits. If the connection closed immediately, the caller might
   * not get the response.
   */
  linger(incoming: NodeRequest): void;
  /** Called about once a second. `now` is from `performance`, because the system clock can change meanwhile. */
  check(now: number): void;
}

export function createBodyTimeouts(limits: ListenerLimits): BodyTimeouts {
  const bodies = new Map<NodeRequest, OpenBody>();

  function open(incoming: NodeRequest, socket: Socket, isForm: boolean, callbacks: BodyCallbacks): void {
    const now = performance.now();
    const bytes = socket.bytesRead;
    bodies.set(incoming, {
      socket,
      isForm,
      startedAt: now,
      bytesBefore: bytes,
      bytesSeen: bytes,
      progressAt: now,
      lingersSince: null,
      callbacks,
    });
  }

  function linger(incoming: NodeRequest): void {
    const body = bodies.get(incoming);
    if (!body) return;
    if (incoming.complete) bodies.delete(incoming);
    else body.lingersSince ??= performance.now();
    incoming.resume();
  }

  function check(now: number): void {
    for (const [incoming, body] of bodies) {
      if (incoming.complete || body.socket.destroyed) {
        bodies.delete(incoming);
      } else if (!isTooSlow(body, now)) {
        continue;
      } else if (body.lingersSince === null) {
        body.lingersSince = now;
        body.callbacks.reject();
      } else {
        bodies.delete(incoming);
        body.callbacks.close();
      }
    }
  }

  function isTooSlow(body: OpenBody, now: number): boolean {
    const { bodyTime, smallBody, lingerTime, lingerBytes } = limits;
    const bytes = body.socket.bytesRead;
    if (bytes > body.bytesSeen) {
      body.bytesSeen = bytes;
      body.progressAt = now;
    }
    const received = bytes - body.bytesBefore;
    if (body.lingersSince !== null) return now - body.lingersSince > lingerTime || received > lingerBytes;
    return now - (body.isForm || received > smallBody ? body.progressAt : body.startedAt) > bodyTime;
  }

  return { open, linger, check };
}
