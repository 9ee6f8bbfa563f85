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

/** A request frame with the largest body that the API takes, every character of it escaped, is smaller. */
const largestMessage = 64 * 1_048_576;

/** After this silence the operating system looks whether the other end is still there, in milliseconds. */
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

/** The sockets over which windows in a browser hold all that lasts: a browser has few other connections to one host. */
export class WindowSockets {
  readonly #options: WindowSocketsOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    perMessageDeflate: false,
    // Never the secret, which browsers offer as a second protocol.
    handleProtocols: () => socketProtocol,
    maxPayload: largestMessage,
  });

  constructor(options: WindowSocketsOptions) {
    this.#options = options;
  }

  /** Whether a request asks for a window's socket. Every other wish to change the protocol is passed over, as HTTP allows. */
  isAskedFor({ method, url, headers }: IncomingMessage): boolean {
    return method === 'GET' && url === socketPath && headers.upgrade?.toLowerCase() === 'websocket';
  }

  /** Why a request may have no socket, or null. A page must say that it is ours: browsers name the page that asks. */
  refusal(incoming: IncomingMessage): AppError | null {
    const head = readHead(incoming);
    if (head instanceof AppError) return head;
    const { rules, window } = this.#options;
    const refusal = rules.refusal(head);
    if (refusal) return refusal;
    const [protocol, secret] = (head.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    if (head.origin !== undefined && protocol === socketProtocol && window.isFromWindow(head, secret ?? ''))
      return null;
    return new AppError('unauthorized', 'Only the window that Touchstone served may open a socket.');
  }

  /** Takes the connection over and serves the API on it for as long as the window is there. */
  serve(incoming: IncomingMessage, connection: Socket, head: Buffer): void {
    this.#options.connections.find(connection)?.identify();
    connection.setKeepAlive(true, keepAliveDelay);
    this.#server.handleUpgrade(incoming, connection, head, (socket) => {
      // What breaks the connection closes it, and the end of it is all that matters here.
      socket.on('error', () => {});
      servePort(framePort(socket), this.#options.api);
    });
  }

  /** Ends active requests as if the windows had left. */
  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }
}
