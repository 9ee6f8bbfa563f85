import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Api } from '../api/api.ts';
import { createAccessRules } from './request-head.ts';
import { createBodyTimeouts } from './body-timeouts.ts';
import { createBrowserWindow, type DownloadTickets } from './browser-window.ts';
import { readOrMakeCertificate } from './certificate.ts';
import { type Connections, createConnections } from './connections.ts';
import { createHttp1Server, createHttp2Listener } from './http-servers.ts';
import { defaultLimits, type ListenerLimits } from './listener-limits.ts';
import type { Log } from '../log.ts';
import { createClearServer, createSecureServer, type ProtocolServers } from './port-server.ts';
import { createRequestListener } from './request-listener.ts';
import { createWindowSockets } from './window-sockets.ts';

export interface WindowOptions {
  /** The folder of the built window. */
  readonly directory: string;
  /** The one-time token of the first address that signs a browser in. */
  readonly token: string;
  readonly downloads: DownloadTickets;
  /** Shows the user another address, after the last one was used. */
  readonly onNewAddress: (windowAddress: string) => void;
}

export interface ListenOptions {
  readonly api: Api;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly isTls: boolean;
  /** Has the certificate of a TLS listener. */
  readonly dataDirectory: string;
  /** The window for browsers; null serves only the API. */
  readonly window: WindowOptions | null;
  readonly log: Log;
  readonly limits?: Partial<ListenerLimits>;
}

export interface Listener {
  /** Scheme, 127.0.0.1 and port, without a slash at the end. */
  readonly address: string;
  readonly port: number;
  /** The first address that signs a browser in; null without a window. */
  readonly windowAddress: string | null;
  /** Accepts no more requests, aborts active ones, and waits until they have ended or the signal aborts. */
  close(options?: { signal?: AbortSignal }): Promise<void>;
}

/** The protocols of every listener, for the screen. */
export const protocols = ['HTTP/1.1', 'HTTP/2'] as const;

const certificateCheck = 12 * 3_600_000;

/**
 * Serves the API on one loopback port: HTTP/1.1 and HTTP/2 with prior knowledge, or TLS with either. Rejects with Node's error if the
 * port isn't available (`EADDRINUSE`, `EACCES`).
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  const connections = createConnections(limits);
  const servers: { current: ProtocolServers | null } = { current: null };
  const hand = (protocol: keyof ProtocolServers) => (socket: Socket, start?: Buffer) =>
    servers.current?.[protocol](socket, start);
  const { server, stopRenewing } = await createPort(options, { http1: hand('http1'), http2: hand('http2') }, limits);
  server.on('connection', (socket) => connections.add(socket));
  const second = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
  const port = await listenOnLoopback(server, second, options.port).catch((failure: unknown) => {
    stopRenewing();
    throw failure;
  });
  const serving = serve(options, port, limits, connections);
  servers.current = serving.servers;
  const address = addressOf(port, options.isTls);
  return {
    address,
    port,
    windowAddress: options.window && windowAddress(address, options.window.token),
    async close({ signal } = {}) {
      stopRenewing();
      const closed = Promise.all([server, second].filter(({ listening }) => listening).map(closeServer));
      await Promise.race([serving.close(), ...(signal ? [aborted(signal)] : [])]);
      connections.destroyAll();
      await closed;
    },
  };
}

/** Errors of a machine without the address family. */
const noAddressCodes = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EPROTONOSUPPORT']);

const maxPortAttempts = 10;

async function bind(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

async function closeServer(server: Server): Promise<void> {
  await once(server.close(), 'close');
}

/**
 * Binds the port on both loopback addresses, because `localhost` can resolve to either. Another process on one of them would get requests
 * for this service. Resolves with the port.
 */
async function listenOnLoopback(server: Server, second: Server, requestedPort: number, attempt = 1): Promise<number> {
  await bind(server, requestedPort, '127.0.0.1');
  const { port } = server.address() as AddressInfo;
  try {
    await bind(second, port, '::1');
    return port;
  } catch (failure) {
    const { code = '' } = failure as NodeJS.ErrnoException;
    if (noAddressCodes.has(code)) return port;
    await closeServer(server);
    // A free port of one address can be in use on the other one.
    if (requestedPort === 0 && code === 'EADDRINUSE' && attempt < maxPortAttempts) {
      return listenOnLoopback(server, second, requestedPort, attempt + 1);
    }
    throw failure;
  }
}

function addressOf(port: number, isTls: boolean): string {
  return `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`;
}

function windowAddress(address: string, token: string): string {
  return `${address}/?token=${encodeURIComponent(token)}`;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

async function createPort(
  options: ListenOptions,
  servers: ProtocolServers,
  limits: ListenerLimits,
): Promise<{ server: Server; stopRenewing: () => void }> {
  if (!options.isTls) return { server: createClearServer(servers, limits), stopRenewing: () => {} };
  const certificate = await readOrMakeCertificate(options.dataDirectory, Date.now());
  const { server, renew } = createSecureServer(servers, limits, certificate);
  const timer = setInterval(() => {
    readOrMakeCertificate(options.dataDirectory, Date.now()).then(renew, (failure: unknown) =>
      options.log('The certificate could not be renewed.', failure),
    );
  }, certificateCheck).unref();
  return { server, stopRenewing: () => clearInterval(timer) };
}

/** Everything behind the port: both protocols, the access rules, and the regular check for slow callers. */
function serve(
  { api, isTls, window, log }: ListenOptions,
  port: number,
  limits: ListenerLimits,
  connections: Connections,
): { servers: ProtocolServers; close(): Promise<void> } {
  const rules = createAccessRules({ port, isTls });
  const bodies = createBodyTimeouts(limits);
  const onNewToken = (token: string) => window?.onNewAddress(windowAddress(addressOf(port, isTls), token));
  const browserWindow = window && createBrowserWindow({ ...window, onNewToken, port, isTls });
  const { headSize: maxHeadBytes } = limits;
  const listener = createRequestListener({
    api,
    rules,
    bodies,
    connections,
    window: browserWindow,
    maxHeadBytes,
    log,
  });
  const windowSockets = browserWindow && createWindowSockets({ api, rules, connections, window: browserWindow });
  const http1 = createHttp1Server(listener, limits, windowSockets);
  const http2 = createHttp2Listener(listener, limits, connections);
  const { headTime, bodyTime, lingerTime, idleTime, stallTime, strangerStallTime, strangerIdleTime } = limits;
  const shortest = Math.min(headTime, bodyTime, lingerTime, idleTime, stallTime, strangerStallTime, strangerIdleTime);
  const timer = setInterval(
    () => {
      const now = performance.now();
      bodies.check(now);
      http2.check(now);
      connections.check(now);
    },
    Math.min(1000, shortest / 2),
  ).unref();
  return {
    servers: {
      http1: (socket, start) => void http1.emit('connection', socket, start),
      http2: (socket) => {
        // Half-open connections are for HTTP/1.1. With open streams, the session would wait for a caller that has left.
        socket.once('end', () => socket.destroy());
        http2.server.emit('connection', socket);
      },
    },
    async close() {
      clearInterval(timer);
      windowSockets?.close();
      await listener.abortAll();
      http2.closeSessions();
      http1.close(() => {});
    },
  };
}
