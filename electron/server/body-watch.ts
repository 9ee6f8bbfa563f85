import type { Socket } from 'node:net';
import type { NodeRequest } from './incoming-request.ts';
import type { ListenerLimits } from './listener-limits.ts';

/** One body on its way in. */
interface OpenBody {
  readonly socket: Socket;
  /** A form brings a file: only silence ends it, however small it is so far. */
  readonly isForm: boolean;
  readonly startedAt: number;
  readonly bytesBefore: number;
  bytesSeen: number;
  progressAt: number;
  /** Set once the answer is out and the rest is only taken in so that the caller gets to read it. */
  lingersSince: number | null;
  readonly callbacks: BodyCallbacks;
}

interface BodyCallbacks {
  /** The time for the body is over. What comes still is dropped for a while, so that the caller can read why. */
  refuse(): void;
  /** The time for dropping it is over, too. */
  cut(): void;
}

/**
 * Ends bodies that take too long. One look a second at all of them: a timer for each would cost every request, and
 * Node's own limit counts uploads of 50 MB like a prompt.
 */
export class BodyWatch {
  readonly #bodies = new Map<NodeRequest, OpenBody>();
  readonly #limits: ListenerLimits;

  constructor(limits: ListenerLimits) {
    this.#limits = limits;
  }

  open(incoming: NodeRequest, socket: Socket, isForm: boolean, callbacks: BodyCallbacks): void {
    const now = performance.now();
    const bytes = socket.bytesRead;
    this.#bodies.set(incoming, {
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

  /**
   * The answer is out. What is left of the body is dropped as it comes, within bounds: closing the connection at once could
   * cost the caller the answer.
   */
  linger(incoming: NodeRequest): void {
    const body = this.#bodies.get(incoming);
    if (!body) return;
    if (incoming.complete) this.#bodies.delete(incoming);
    else body.lingersSince ??= performance.now();
    incoming.resume();
  }

  /** Called about once a second. `now` is of `performance`: the clock of the computer may be set while a body is on its way. */
  check(now: number): void {
    for (const [incoming, body] of this.#bodies) {
      if (incoming.complete || body.socket.destroyed) {
        this.#bodies.delete(incoming);
      } else if (!this.#isTooSlow(body, now)) {
        continue;
      } else if (body.lingersSince === null) {
        body.lingersSince = now;
        body.callbacks.refuse();
      } else {
        this.#bodies.delete(incoming);
        body.callbacks.cut();
      }
    }
  }

  #isTooSlow(body: OpenBody, now: number): boolean {
    const { bodyTime, smallBody, lingerTime, lingerBytes } = this.#limits;
    const bytes = body.socket.bytesRead;
    if (bytes > body.bytesSeen) {
      body.bytesSeen = bytes;
      body.progressAt = now;
    }
    const received = bytes - body.bytesBefore;
    if (body.lingersSince !== null) return now - body.lingersSince > lingerTime || received > lingerBytes;
    return now - (body.isForm || received > smallBody ? body.progressAt : body.startedAt) > bodyTime;
  }
}
