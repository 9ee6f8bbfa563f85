import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerOptions,
} from 'node:http2';
import { AppError } from '../../shared/app-error.ts';
import type { ListenerLimits } from './listener-limits.ts';
import { errorResponseAt, formatOfPath } from '../api/passed-error.ts';
import { type OutgoingResponse, type RequestListener, tooLargeHead, tooLargeHeadStatus } from './request-listener.ts';
import type { WindowSockets } from './window-sockets.ts';
import type { Connections } from './connections.ts';

/** An `import` would read every member of the module, and some load undici, 50 ms of a start. */
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The caller's error for an error of Node's parser. */
function parseError(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return tooLargeHead();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('invalid_request', 'The head of the request took too long to arrive; send it again.');
  }
  return new AppError('invalid_request', 'This is not a well-formed HTTP request.');
}

/** After 408, programs send a request again. */
const parserStatuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: tooLargeHeadStatus,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** An error of Node's parser. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** Longer than the start of each path whose errors have a format of their own. */
const maxTargetBytes = 256;

/** The path of the request that bytes begin with; null if they begin with none. */
function pathIn(bytes: Buffer | undefined): string | null {
  const line = bytes?.subarray(0, maxTargetBytes).toString('latin1') ?? '';
  return /^[A-Z]+ (?:https?:\/\/[^/?#\s]+)?(\/[^\s?#]*)/.exec(line)?.[1] ?? null;
}

/** What is known of the requests of a connection, for an error of Node's parser, which has no request. */
class RequestPaths {
  /** Of connections whose first request has a format of its own for errors. */
  readonly #first = new WeakMap<Socket, string>();
  /** The newest response of each connection. */
  readonly #newest = new WeakMap<Socket, ServerResponse>();

  noteStart(socket: Socket, start: Buffer | undefined): void {
    const path = pathIn(start);
    if (path !== null && formatOfPath(path) !== null) this.#first.set(socket, path);
  }

  noteResponse(socket: Socket, outgoing: ServerResponse): void {
    this.#newest.set(socket, outgoing);
  }

  hasWritten(socket: Socket): boolean {
    return this.#newest.get(socket)?.writableFinished === true;
  }

  /** That of the open request, else that of the bytes in error, else that of an earlier request of the connection. */
  pathOf(socket: Socket, { rawPacket }: ParserError): string | null {
    const newest = this.#newest.get(socket);
    const last = newest?.req.url ?? null;
    if (newest?.writableFinished === false) return last;
    return pathIn(rawPacket) ?? last ?? this.#first.get(socket) ?? null;
  }
}

/** Writes to the socket itself, which is all that is left after a parser error or a CONNECT request. */
async function reject(
  error: AppError,
  socket: Socket,
  { status: ownStatus, path = null }: { readonly status?: number | undefined; readonly path?: string | null } = {},
): Promise<void> {
  const response = errorResponseAt(path, error);
  const status = ownStatus ?? response.status;
  if (status === 408 && response.headers.has('x-should-retry')) response.headers.set('x-should-retry', 'true');
  const body = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}${length}connection: close\r\n\r\n${body}`);
  // Drops the rest of the request for a moment. If the socket closed immediately, the caller might not get the response.
  socket.resume();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/**
 * Node closes a connection after its last response even while the caller is still sending. The reset can then lose the response. This
 * reads the rest of the body first, for as long as `BodyTimeouts` allows.
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
    const rejection = sockets.rejection(incoming);
    if (rejection) void reject(rejection, socket);
    else sockets.serve(incoming, socket, head);
  });
}

/**
 * HTTP/1.1 without a port. It gets connections by `emit('connection', socket)`. If `sockets` is null, it upgrades none to a WebSocket.
 */
export function createHttp1Server(
  listener: RequestListener,
  limits: ListenerLimits,
  sockets: WindowSockets | null,
): Server {
  const server = createServer({
    noDelay: true,
    headersTimeout: limits.headTime,
    // `BodyTimeouts` limits bodies. It distinguishes uploads from prompts.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleTime,
    connectionsCheckingInterval: Math.min(1000, limits.headTime / 2),
    maxHeaderSize: limits.headSize,
    // The access rules reject a missing Host, with the usual error body.
    requireHostHeader: false,
    ...(sockets && { shouldUpgradeCallback: (incoming: IncomingMessage) => sockets.isUpgrade(incoming) }),
  });
  if (sockets) serveSockets(server, sockets);
  const paths = new RequestPaths();
  server.on('connection', (socket: Socket, start?: Buffer) => paths.noteStart(socket, start));
  const serve = (waitsForContinue: boolean) => (incoming: IncomingMessage, outgoing: ServerResponse) => {
    paths.noteResponse(incoming.socket, outgoing);
    closeAfterBody(incoming, outgoing);
    listener.handle(incoming, outgoing, waitsForContinue);
  };
  server.on('request', serve(false));
  server.on('checkContinue', serve(true));
  server.on('checkExpectation', serve(false));
  server.on('clientError', (error: ParserError, stream) => {
    const socket = stream as Socket;
    const { writable, bytesWritten } = socket;
    // Nothing of a response may be on its way: the error would be read as a part of it.
    const isFree = bytesWritten === 0 || paths.hasWritten(socket);
    if (!writable || error.code === 'ECONNRESET' || !isFree) socket.destroy();
    else {
      const status = parserStatuses[error.code ?? ''];
      void reject(parseError(error.code), socket, { status, path: paths.pathOf(socket, error) });
    }
  });
  server.on('connect', (_incoming, socket) => {
    socket.on('error', () => socket.destroy());
    const noTunnels = 'This service opens no tunnels to other hosts.';
    void reject(new AppError('method_not_allowed', noTunnels, { allow: [...methods] }), socket as Socket);
  });
  // Node checks for slow heads once the server listens. This one has no port, so the event is emitted here.
  server.emit('listening');
  return server;
}

/** Unread bytes that one stream, and one connection of a known caller, may send. */
const streamWindow = 262_144;
const connectionWindow = 4 * 1_048_576;

interface SessionState {
  streams: number;
  /** When the last stream closed. */
  idleSince: number;
  hasServed: boolean;
}

/** HTTP/2 without a port, with timeouts for sessions, which Node doesn't have. */
export interface Http2Listener {
  readonly server: Http2Server;
  /** Closes sessions without requests. A session with a stalled head has no streams. Called about once a second. */
  check(now: number): void;
  /** Takes no new streams; active ones continue. */
  closeSessions(): void;
}

function http2Options(limits: ListenerLimits): ServerOptions {
  return {
    // Enough for a busy client, too few for one that opens and resets streams as fast as it can (CVE-2023-44487).
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
  };
}

export function createHttp2Listener(
  listener: RequestListener,
  limits: ListenerLimits,
  connections: Connections,
): Http2Listener {
  const sessions = new Map<ServerHttp2Session, SessionState>();
  const server = createHttp2Server(http2Options(limits));
  server.on('session', (session) => watch(session));
  // The published types lack `destroy` and `flushHeaders`.
  const serve = (waitsForContinue: boolean) => (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) =>
    listener.handle(incoming, outgoing as unknown as OutgoingResponse, waitsForContinue);
  server.on('request', serve(false));
  server.on('checkContinue', serve(true));
  // Node closes the session that broke the protocol. The others continue.
  server.on('sessionError', () => {});

  function check(now: number): void {
    for (const [session, state] of sessions) {
      const allowed = state.hasServed ? limits.idleTime : limits.headTime;
      if (state.streams > 0 || now - state.idleSince <= allowed) continue;
      // The first check asks the caller to leave. The next one destroys the session if the caller is still there.
      if (session.closed) session.destroy();
      else session.close();
    }
  }

  function closeSessions(): void {
    for (const session of sessions.keys()) session.close();
  }

  function watch(session: ServerHttp2Session): void {
    const state: SessionState = { streams: 0, idleSince: performance.now(), hasServed: false };
    sessions.set(session, state);
    // Strangers keep the protocol's default of 64 KB.
    connections
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
    session.once('close', () => sessions.delete(session));
  }

  return { server, check, closeSessions };
}
