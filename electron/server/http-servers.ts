import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { AppError } from '../../shared/app-error.ts';
import type { ListenerLimits } from './listener-limits.ts';
import { errorResponse } from '../api/error-response.ts';
import type { NodeAnswer, RequestListener } from './request-listener.ts';
import type { WindowSockets } from './window-sockets.ts';
import type { Connections } from './connections.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** What Node's parser found wrong, as the error that the caller gets. */
function parseError(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new AppError('payload_too_large', 'The head of the request is too large; send fewer or shorter headers.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('invalid_request', 'The head of the request took too long to arrive; send it again.');
  }
  return new AppError('invalid_request', 'This is not a well-formed HTTP request.');
}

/** Nothing but the socket is left to write to once the parser has given up, or has left it to a tunnel. */
async function refuse(error: AppError, socket: Socket): Promise<void> {
  const response = errorResponse(error);
  const body = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  socket.end(
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}\r\n${headers}${length}connection: close\r\n\r\n${body}`,
  );
  // The rest of what it sends is dropped for a moment, or closing would take the answer away from the caller.
  socket.resume();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/**
 * Node closes a connection after its last answer even while its caller is still sending, and the reset then takes the answer
 * away from the caller. This takes the rest of the body in first; `BodyWatch` says for how long.
 */
function closeAfterBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (outgoing.shouldKeepAlive || incoming.complete) return;
  const { socket } = incoming;
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (incoming.complete) close();
    else incoming.once('end', close);
  };
}

function serveSockets(server: Server, sockets: WindowSockets): void {
  server.on('upgrade', (incoming, stream, head) => {
    const socket = stream as Socket;
    socket.on('error', () => socket.destroy());
    const refusal = sockets.refusal(incoming);
    if (refusal) void refuse(refusal, socket);
    else sockets.serve(incoming, socket, head);
  });
}

/**
 * HTTP/1.1 without a port: it gets connections by `emit('connection', socket)`. Without `sockets` a
 * connection stays what it is.
 */
export function createHttp1Server(
  listener: RequestListener,
  limits: ListenerLimits,
  sockets: WindowSockets | null,
): Server {
  const server = createServer({
    noDelay: true,
    headersTimeout: limits.headTime,
    // Bodies are timed by BodyWatch, which tells an upload from a prompt.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleTime,
    connectionsCheckingInterval: Math.min(1000, limits.headTime / 2),
    maxHeaderSize: limits.headSize,
    // A missing Host is answered by the access rules, in the error form.
    requireHostHeader: false,
    ...(sockets && { shouldUpgradeCallback: (incoming: IncomingMessage) => sockets.isAskedFor(incoming) }),
  });
  if (sockets) serveSockets(server, sockets);
  const serve = (waitsForContinue: boolean) => (incoming: IncomingMessage, outgoing: ServerResponse) => {
    closeAfterBody(incoming, outgoing);
    listener.handle(incoming, outgoing, waitsForContinue);
  };
  server.on('request', serve(false));
  server.on('checkContinue', serve(true));
  server.on('checkExpectation', serve(false));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { writable, bytesWritten } = socket as Socket;
    if (!writable || error.code === 'ECONNRESET' || bytesWritten > 0) socket.destroy();
    else void refuse(parseError(error.code), socket as Socket);
  });
  server.on('connect', (_incoming, socket) => {
    socket.on('error', () => socket.destroy());
    const noTunnels = 'This service opens no tunnels to other hosts.';
    void refuse(new AppError('method_not_allowed', noTunnels, { allow: [...methods] }), socket as Socket);
  });
  // Node starts its look at slow heads with the port; this server has none.
  server.emit('listening');
  return server;
}

/** Bytes that one stream, and one connection of a known caller, may have on the way to us before they are read. */
const streamWindow = 262_144;
const connectionWindow = 4 * 1_048_576;

interface SessionState {
  streams: number;
  /** Since when the session serves nothing. */
  idleSince: number;
  hasServed: boolean;
}

/** HTTP/2 without a port, and its sessions, which Node doesn't time out. */
export class Http2Listener {
  readonly server: Http2Server;
  readonly #sessions = new Map<ServerHttp2Session, SessionState>();
  readonly #limits: ListenerLimits;

  readonly #connections: Connections;

  constructor(listener: RequestListener, limits: ListenerLimits, connections: Connections) {
    this.#limits = limits;
    this.#connections = connections;
    this.server = createHttp2Server({
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

  /** Takes no new streams; active ones continue. */
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
