import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../../shared/app-error.ts';
import type { FramePort, HostFrame } from '../../shared/port-frames.ts';
import { decodeWindowFrame, encodeHostFrame, socketPath, socketProtocol } from '../../shared/window-socket.ts';
import type { Api } from '../api/api.ts';
import { type AccessRules, readHead } from './request-head.ts';
import type { BrowserWindow } from './browser-window.ts';
import type { Connections } from './connections.ts';
import { servePort } from '../ipc/serve-port.ts';

/** Larger than a request frame with the largest allowed body, even if every character of it is escaped. */
const largestMessage = 64 * 1_048_576;

/** After this time without data, the operating system checks whether the other end is still connected. */
const keepAliveDelay = 60_000;

function framePort(socket: WebSocket): FramePort<unknown, HostFrame> {
  return {
    send: (frame) => socket.send(encodeHostFrame(frame)),
    receive: (listener) =>
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) return;
        if (data.byteLength === 0) socket.send('');
        else listener(decodeWindowFrame(data.toString()));
      }),
    onClose: (listener) => socket.on('close', listener),
  };
}

interface WindowSocketsOptions {
  readonly api: Api;
  readonly rules: AccessRules;
  readonly connections: Connections;
  readonly window: BrowserWindow;
}

/** WebSockets of windows in browsers. They carry all long requests, because browsers allow few other connections to a host. */
export interface WindowSockets {
  /** Whether a request asks for a window's WebSocket. Other upgrades are ignored, as HTTP allows. */
  isUpgrade(incoming: IncomingMessage): boolean;
  /** The error for a request that may not open a WebSocket, or null. Browsers always send the origin of the page. */
  rejection(incoming: IncomingMessage): AppError | null;
  /** Upgrades the connection and serves the API on it until the window closes. */
  serve(incoming: IncomingMessage, connection: Socket, head: Buffer): void;
  /** Aborts active requests as if the windows had closed. */
  close(): void;
}

export function createWindowSockets({ api, rules, connections, window }: WindowSocketsOptions): WindowSockets {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    perMessageDeflate: false,
    // Must not return the secret, which browsers send as a second protocol.
    handleProtocols: () => socketProtocol,
    maxPayload: largestMessage,
  });

  function isUpgrade({ method, url, headers }: IncomingMessage): boolean {
    return method === 'GET' && url === socketPath && headers.upgrade?.toLowerCase() === 'websocket';
  }

  function rejection(incoming: IncomingMessage): AppError | null {
    const head = readHead(incoming);
    if (head instanceof AppError) return head;
    const byRules = rules.rejection(head);
    if (byRules) return byRules;
    const [protocol, secret] = (head.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    if (head.origin !== undefined && protocol === socketProtocol && window.isFromWindow(head, secret ?? ''))
      return null;
    return new AppError('unauthorized', 'Only the window that Touchstone served may open a socket.');
  }

  function serve(incoming: IncomingMessage, connection: Socket, head: Buffer): void {
    connections.find(connection)?.identify();
    connection.setKeepAlive(true, keepAliveDelay);
    server.handleUpgrade(incoming, connection, head, (socket) => {
      // A failure also closes the connection, which is handled.
      socket.on('error', () => {});
      servePort(framePort(socket), api);
    });
  }

  function close(): void {
    for (const socket of server.clients) socket.terminate();
  }

  return { isUpgrade, rejection, serve, close };
}
