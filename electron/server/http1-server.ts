import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../shared/app-error.ts';
import type { ListenerLimits } from './listener-limits.ts';
import { errorResponse } from '../api/error-response.ts';
import type { RequestListener } from './request-listener.ts';
import type { WindowSockets } from './window-sockets.ts';

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
 * HTTP/1.1 without a port of its own: connections are given to it by `emit('connection', socket)`. Without `sockets` a
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
