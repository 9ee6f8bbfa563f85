import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.ts';
import type { ListenerLimits } from './listener-limits.ts';

/** Where a connection goes once its protocol is known. */
export interface ProtocolServers {
  http1(socket: Socket): void;
  http2(socket: Socket): void;
}

/** New connections that are served in one turn of the event loop. */
const connectionsPerTurn = 8;

/**
 * Hands new connections on a few at a time. A thousand that arrive at once with a hundred requests each would otherwise be served in one
 * turn, with all that they need in memory, while nobody else is served and nothing is freed.
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
    // The newest first: whoever comes after a thousand others needn't wait for them.
    for (const serve of this.#waiting.splice(-connectionsPerTurn)) serve();
    if (this.#waiting.length > 0) this.#schedule();
  }
}

/** The first bytes of HTTP/2 with prior knowledge; no method of HTTP/1.1 begins with them. */
const preface = Buffer.from('PRI ');

/**
 * Reads just enough of a connection to know its protocol, puts it back and hands the connection on. A caller that does not
 * send even that is cut.
 */
function detectProtocol(socket: Socket, servers: ProtocolServers, queue: ConnectionQueue, headTime: number): void {
  const timer = setTimeout(() => socket.destroy(), headTime);
  const cut = (): void => void socket.destroy();
  let start = Buffer.alloc(0);
  const arrive = (): void => {
    socket.off('readable', arrive);
    // Node's HTTP server stops reading only sockets that it gets while they are read.
    queue.add(socket, () => socket.on('readable', detect));
  };
  const detect = (): void => {
    const piece = socket.read() as Buffer | null;
    if (piece === null) return;
    start = Buffer.concat([start, piece]);
    const length = Math.min(start.length, preface.length);
    const isHttp2 = start.subarray(0, length).equals(preface.subarray(0, length));
    if (isHttp2 && length < preface.length) return;
    stop();
    socket.unshift(start);
    (isHttp2 ? servers.http2 : servers.http1)(socket);
  };
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('readable', detect).off('error', cut).off('end', cut).off('close', stop);
  };
  socket.on('readable', arrive).on('error', cut).on('end', cut).on('close', stop);
}

/** A port for HTTP/1.1 and clear-text HTTP/2. Half-open, as Node's own HTTP server is: it decides what an early end means. */
export function createClearServer(servers: ProtocolServers, limits: ListenerLimits): Server {
  const queue = new ConnectionQueue();
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    detectProtocol(socket, servers, queue, limits.headTime),
  );
}

/** A port for TLS; the protocol is agreed on in the handshake. */
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
