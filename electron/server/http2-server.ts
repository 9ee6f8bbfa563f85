import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import type { ListenerLimits } from './listener-limits.ts';
import type { NodeAnswer, RequestListener } from './request-listener.ts';

/** Bytes that one stream, and one connection of a known caller, may have on the way to us before they are read. */
const streamWindow = 262_144;
const connectionWindow = 4 * 1_048_576;

interface SessionState {
  streams: number;
  /** Since when the session serves nothing. */
  idleSince: number;
  hasServed: boolean;
}

/** HTTP/2 without a port of its own, and its sessions, which Node does not look after. */
export class Http2Listener {
  readonly server: Http2Server;
  readonly #sessions = new Map<ServerHttp2Session, SessionState>();
  readonly #limits: ListenerLimits;

  readonly #connections: Connections;

  constructor(listener: RequestListener, limits: ListenerLimits, connections: Connections) {
    this.#limits = limits;
    this.#connections = connections;
    this.server = createServer({
      // Room for a client in a hurry, none for one that opens and resets as fast as it can (CVE-2023-44487).
      streamResetBurst: 200,
      streamResetRate: 50,
      maxSessionInvalidFrames: 20,
      maxSessionRejectedStreams: 50,
      maxOutstandingPings: 10,
      maxHeaderListPairs: 128,
      maxSettings: 32,
      settings: {
        maxConcurrentStreams: limits.streams,
        maxHeaderListSize: limits.headSize,
        initialWindowSize: streamWindow,
        enablePush: false,
      },
    });
    this.server.on('session', (session) => this.#watch(session));
    // The class has `destroy` and `flushHeaders`; its published types do not.
    const serve = (waitsForContinue: boolean) => (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) =>
      listener.handle(incoming, outgoing as unknown as NodeAnswer, waitsForContinue);
    this.server.on('request', serve(false));
    this.server.on('checkContinue', serve(true));
    // The session that failed is closed by Node; its caller broke the protocol, and the others are not concerned.
    this.server.on('sessionError', () => {});
  }

  /** Closes sessions that send no request: a stalled head shows as a session without streams. Called about once a second. */
  check(now: number): void {
    for (const [session, state] of this.#sessions) {
      const allowed = state.hasServed ? this.#limits.idleTime : this.#limits.headTime;
      if (state.streams > 0 || now - state.idleSince <= allowed) continue;
      // The first call asks the caller to leave, the next look a second later finds it gone or ends it.
      if (session.closed) session.destroy();
      else session.close();
    }
  }

  /** Takes no new streams; those under way go on. */
  closeSessions(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  #watch(session: ServerHttp2Session): void {
    const state: SessionState = { streams: 0, idleSince: performance.now(), hasServed: false };
    this.#sessions.set(session, state);
    // A stranger keeps the 64 KB of the protocol.
    this.#connections
      .find(session.socket as Socket)
      ?.onIdentified(() => !session.destroyed && session.setLocalWindowSize(connectionWindow));
    session.on('stream', (stream) => {
      state.streams += 1;
      state.hasServed = true;
      stream.once('close', () => {
        state.streams -= 1;
        state.idleSince = performance.now();
      });
    });
    session.once('close', () => this.#sessions.delete(session));
  }
}
