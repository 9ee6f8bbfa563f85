import type { Socket } from 'node:net';
import { ActiveSet } from '../common/active-values.ts';
import type { ListenerLimits } from './listener-limits.ts';

/** What responses of both protocols have. */
interface Outgoing {
  /** Bytes that the connection hasn't sent yet. */
  readonly writableLength: number;
  destroy(error: Error): unknown;
  once(event: 'close', listener: () => void): unknown;
}

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/** A response that is being sent. */
export class OpenResponse {
  readonly outgoing: Outgoing;
  /** Bytes of a complete body that wait in memory, beside those that the connection has. */
  bufferedBytes = 0;
  hasStarted = false;
  #length = 0;
  #progressAt: number;
  readonly #now: () => number;

  constructor(outgoing: Outgoing, now: () => number) {
    this.outgoing = outgoing;
    this.#now = now;
    this.#progressAt = now();
  }

  /** The caller has read a chunk. */
  noteProgress(): void {
    this.#progressAt = this.#now();
  }

  /** Milliseconds since the caller last read something. */
  stalledFor(now: number): number {
    const length = this.outgoing.writableLength;
    if (length === 0 || length !== this.#length) this.#progressAt = now;
    this.#length = length;
    return now - this.#progressAt;
  }
}

/** One connection. Its caller is a stranger until a request has a valid API key or the window's cookie. */
export class Connection {
  readonly #limits: ListenerLimits;
  readonly #now: () => number;
  readonly #responses = new ActiveSet<OpenResponse>();
  readonly #onIdentified: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  #isKnown = false;
  #rejected = 0;
  idleSince: number;
  readonly socket: Socket;
  readonly peer: string;

  constructor(socket: Socket, limits: ListenerLimits, now: () => number) {
    this.socket = socket;
    this.peer = peerOf(socket);
    this.#limits = limits;
    this.#now = now;
    this.idleSince = now();
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  identify(): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    for (const listener of this.#onIdentified) listener();
    this.#wake();
  }

  onIdentified(listener: () => void): void {
    this.#onIdentified.push(listener);
  }

  /** Registers a response until it closes. Null if a stranger has too many. */
  open(outgoing: Outgoing): OpenResponse | null {
    if (!this.#isKnown && this.#responses.size >= this.#limits.strangerRequests) return null;
    const response = new OpenResponse(outgoing, this.#now);
    const remove = this.#responses.add(response);
    outgoing.once('close', () => {
      remove();
      this.idleSince = this.#now();
      this.#wake();
    });
    return response;
  }

  /** Counts a rejected request. Returns whether there were so many that the connection has to end. */
  reject(): boolean {
    this.#rejected += 1;
    return this.#rejected > this.#limits.strangerRequests;
  }

  /** Resolves when the caller has read enough of the earlier responses that this one may start, or when the signal aborts. */
  async waitForRoom(response: OpenResponse, signal: AbortSignal): Promise<void> {
    if (!this.#hasRoom()) {
      signal.addEventListener('abort', () => this.#wake(), { once: true });
      while (!signal.aborted && !this.#hasRoom()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    response.hasStarted = true;
  }

  /** Ends responses that take too long. Called about once a second. */
  check(now: number): void {
    const { stallTime, strangerStallTime, strangerIdleTime } = this.#limits;
    if (this.#isKnown) {
      for (const response of this.#responses) {
        // Without an error, HTTP/2 would report a complete response.
        if (response.stalledFor(now) > stallTime) response.outgoing.destroy(new Error('The caller reads nothing.'));
      }
      this.#wake();
      return;
    }
    const isStalled = [...this.#responses].some((response) => response.stalledFor(now) > strangerStallTime);
    const isIdle = this.#responses.size === 0 && now - this.idleSince > strangerIdleTime;
    if (isStalled || isIdle) this.socket.destroy();
  }

  #hasRoom(): boolean {
    const started = [...this.#responses].filter(({ hasStarted }) => hasStarted);
    if (!this.#isKnown) return started.length < this.#limits.strangerResponses;
    const bytes = started.reduce(
      (sum, { bufferedBytes, outgoing }) => sum + bufferedBytes + outgoing.writableLength,
      0,
    );
    return bytes < this.#limits.unreadBytes;
  }

  /** Each waiting response checks for room again. Those without room wait again, in the same order. */
  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/**
 * The connections of a listener. Bounds the memory of responses that callers don't read, and keeps room for callers with a key:
 * strangers share a small number of connections, and the one that has been idle longest is closed first.
 */
export interface Connections {
  /** Adds a connection, or destroys it if there is no room. */
  add(socket: Socket): void;
  /** Undefined if the connection has closed. */
  find(socket: Peer | undefined): Connection | undefined;
  /** Records the request of a stranger. Ends another stranger's connection if there are too many. */
  noteStranger(connection: Connection): void;
  check(now: number): void;
  destroyAll(): void;
}

export function createConnections(limits: ListenerLimits, now = () => performance.now()): Connections {
  /** By address and port of the caller, which sockets of TLS and HTTP/2 have, too. */
  const byPeer = new Map<string, Connection>();
  /** Strangers that made a request, ordered by their last request, oldest first. */
  const strangers = new Set<Connection>();

  function add(socket: Socket): void {
    if (byPeer.size >= limits.connections && !makeRoom()) return void socket.destroy();
    const connection = new Connection(socket, limits, now);
    byPeer.set(connection.peer, connection);
    connection.onIdentified(() => strangers.delete(connection));
    socket.once('close', () => remove(connection));
  }

  function find(socket: Peer | undefined): Connection | undefined {
    return socket && byPeer.get(peerOf(socket));
  }

  function noteStranger(connection: Connection): void {
    strangers.delete(connection);
    strangers.add(connection);
    if (strangers.size > limits.strangers) end(strangers.values().next().value);
  }

  function remove(connection: Connection): void {
    strangers.delete(connection);
    // A newer connection may have the same address and port.
    if (byPeer.get(connection.peer) === connection) byPeer.delete(connection.peer);
  }

  /** Ends the connection of a stranger that made a request, or that had enough time to make one. */
  function makeRoom(): boolean {
    const [quietest] = strangers;
    if (quietest) return end(quietest);
    const latest = now() - limits.headTime / 2;
    for (const connection of byPeer.values()) {
      if (!connection.isKnown && connection.idleSince < latest) return end(connection);
    }
    return false;
  }

  function end(connection: Connection | undefined): boolean {
    if (!connection) return false;
    connection.socket.destroy();
    // Not only at `close`, which comes later: another call would choose the same connection.
    remove(connection);
    return true;
  }

  return {
    add,
    find,
    noteStranger,
    check: (time) => byPeer.forEach((connection) => connection.check(time)),
    destroyAll: () => byPeer.forEach(({ socket }) => socket.destroy()),
  };
}

function peerOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress} ${remotePort}`;
}
