import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.ts';
import type { ListenerLimits } from './listener-limits.ts';

/** The handlers of connections, by protocol. */
export interface ProtocolServers {
  /** `start` is what the connection began with, if that is known. The socket still has it. */
  http1(socket: Socket, start?: Buffer): void;
  http2(socket: Socket): void;
}

/** New connections that are passed on in one turn of the event loop. */
const connectionsPerTurn = 8;

/**
 * Passes new connections on, a few at a time. Otherwise a thousand simultaneous connections with a hundred requests each would be served in
 * one turn. All their memory would be in use at once, and other callers would wait.
 */
class ConnectionQueue {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  add(socket: Socket, serve: () => void): void {
    const cut = (): void => void socket.destroy();
    socket.on('error', cut);
    this.#waiting.push(() => {
      socket.off('error', cut);
      if (!socket.destroyed) serve();
    });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#serveSome());
  }

  #serveSome(): void {
    this.#isScheduled = false;
    // The newest first, so that a caller doesn't wait for a thousand earlier connections.
    for (const serve of this.#waiting.splice(-connectionsPerTurn)) serve();
    if (this.#waiting.length > 0) this.#schedule();
  }
}

/** The first bytes of HTTP/2 with prior knowledge. No method of HTTP/1.1 begins with them. */
const preface = Buffer.from('PRI ');

/**
 * Reads just enough of a connection to know its protocol, unshifts it and passes the connection on. Closes a connection that doesn't send
 * that much in time.
 */
function detectProtocol(socket: Socket, servers: ProtocolServers, queue: ConnectionQueue, headTime: number): void {
  const timer = setTimeout(() => socket.destroy(), headTime);
  const cut = (): void => void socket.destroy();
  let start = Buffer.alloc(0);
  const arrive = (): void => {
    socket.off('readable', arrive);
    // Node's HTTP server can only pause sockets that are being read when it gets them.
    queue.add(socket, () => socket.on('readable', detect));
  };
  const detect = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    start = Buffer.concat([start, chunk]);
    const length = Math.min(start.length, preface.length);
    const isHttp2 = start.subarray(0, length).equals(preface.subarray(0, length));
    if (isHttp2 && length < preface.length) return;
    stop();
    socket.unshift(start);
    if (isHttp2) servers.http2(socket);
    else servers.http1(socket, start);
  };
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('readable', detect).off('error', cut).off('end', cut).off('close', stop);
  };
  socket.on('readable', arrive).on('error', cut).on('end', cut).on('close', stop);
}

/** A port for HTTP/1.1 and clear-text HTTP/2. Half-open, because Node's HTTP server handles the caller's end of the connection. */
export function createClearServer(servers: ProtocolServers, limits: ListenerLimits): Server {
  const queue = new ConnectionQueue();
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    detectProtocol(socket, servers, queue, limits.headTime),
  );
}

/** A port for TLS. The handshake negotiates the protocol. */
export function createSecureServer(
  servers: ProtocolServers,
  limits: ListenerLimits,
  certificate: Certificate,
): { server: Server; renew(certificate: Certificate): void } {
  const server = createTlsServer({
    ...certificate,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: limits.headTime,
    allowHalfOpen: true,
    noDelay: true,
  });
  const queue = new ConnectionQueue();
  server.on('secureConnection', (socket: TLSSocket) =>
    queue.add(socket, () => (socket.alpnProtocol === 'h2' ? servers.http2 : servers.http1)(socket)),
  );
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return { server, renew: (renewed) => server.setSecureContext(renewed) };
}
