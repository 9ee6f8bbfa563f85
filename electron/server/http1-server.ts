import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../shared/app-error.ts';
import type { ListenerLimits } from './listener-limits.ts';
import { errorResponse, type RequestListener } from './request-listener.ts';

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

/** Nothing but the socket is left to write to once the parser has given up. */
async function refuse(error: NodeJS.ErrnoException, socket: Socket): Promise<void> {
  if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten > 0) return void socket.destroy();
  const response = errorResponse(parseError(error.code));
  const body = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  socket.end(`HTTP/1.1 ${response.status} Refused\r\n${headers}${length}connection: close\r\n\r\n${body}`);
  // The rest of what it sends is dropped for a moment, or closing would take the answer away from the caller.
  socket.resume();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** HTTP/1.1 without a port of its own: connections are given to it by `emit('connection', socket)`. */
export function createHttp1Server(listener: RequestListener, limits: ListenerLimits): Server {
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
  });
  const serve = (waitsForContinue: boolean) => (incoming: IncomingMessage, outgoing: ServerResponse) =>
    listener.handle(incoming, outgoing, waitsForContinue);
  server.on('request', serve(false));
  server.on('checkContinue', serve(true));
  server.on('checkExpectation', serve(false));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => void refuse(error, socket as Socket));
  // Node starts its look at slow heads with the port; this server has none.
  server.emit('listening');
  return server;
}
