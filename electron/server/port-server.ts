import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.ts';
import type { ListenerLimits } from './listener-limits.ts';

/** Where a connection goes once its protocol is known. */
export interface ProtocolServers {
  http1(socket: Socket): void;
  http2(socket: Socket): void;
}

/** The first bytes of HTTP/2 with prior knowledge; no method of HTTP/1.1 begins with them. */
const preface = Buffer.from('PRI ');

/**
 * Reads just enough of a connection to know its protocol, puts it back and hands the connection on. A caller that does not
 * send even that is cut.
 */
function detectProtocol(socket: Socket, servers: ProtocolServers, headTime: number): void {
  const timer = setTimeout(() => socket.destroy(), headTime);
  const cut = (): void => void socket.destroy();
  let start = Buffer.alloc(0);
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
  socket.on('readable', detect).on('error', cut).on('end', cut).on('close', stop);
}

/** A port for HTTP/1.1 and clear-text HTTP/2. Half-open, as Node's own HTTP server is: it decides what an early end means. */
export function createClearServer(servers: ProtocolServers, limits: ListenerLimits): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    detectProtocol(socket, servers, limits.headTime),
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
  server.on('secureConnection', (socket: TLSSocket) =>
    (socket.alpnProtocol === 'h2' ? servers.http2 : servers.http1)(socket),
  );
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return { server, renew: (renewed) => server.setSecureContext(renewed) };
}
