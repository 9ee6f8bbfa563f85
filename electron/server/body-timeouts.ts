import type { Socket } from 'node:net';
import { ActiveSet } from '../common/active-values.ts';
import type { NodeRequest } from './incoming-request.ts';
import type { ListenerLimits } from './listener-limits.ts';

/** A body that is being received. */
interface OpenBody {
  readonly incoming: NodeRequest;
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
  /** It has ended. */
  forget: () => void;
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
  /**
   * Returns the function to call after the response. The rest of the body is dropped then, within limits. If the connection closed immediately, the caller
   * might not get the response.
   */
  open(incoming: NodeRequest, socket: Socket, isForm: boolean, callbacks: BodyCallbacks): () => void;
  /** Called about once a second. `now` is from `performance`, because the system clock can change meanwhile. */
  check(now: number): void;
}

export function createBodyTimeouts(limits: ListenerLimits): BodyTimeouts {
  const bodies = new ActiveSet<OpenBody>();

  function open(incoming: NodeRequest, socket: Socket, isForm: boolean, callbacks: BodyCallbacks): () => void {
    const now = performance.now();
    const bytes = socket.bytesRead;
    const body: OpenBody = {
      incoming,
      socket,
      isForm,
      startedAt: now,
      bytesBefore: bytes,
      bytesSeen: bytes,
      progressAt: now,
      lingersSince: null,
      callbacks,
      forget: () => undefined,
    };
    body.forget = bodies.add(body);
    return () => {
      if (incoming.complete) body.forget();
      else body.lingersSince ??= performance.now();
      incoming.resume();
    };
  }

  function check(now: number): void {
    for (const body of bodies) {
      if (body.incoming.complete || body.socket.destroyed) {
        body.forget();
      } else if (!isTooSlow(body, now)) {
        continue;
      } else if (body.lingersSince === null) {
        body.lingersSince = now;
        body.callbacks.reject();
      } else {
        body.forget();
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

  return { open, check };
}
