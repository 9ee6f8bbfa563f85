import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Api } from '../../electron/api/api.ts';
import { listen, type Listener, type ListenOptions } from '../../electron/server/listen.ts';

/** The four ways in which a program may reach the listener. */
export const transports = ['HTTP/1.1', 'HTTP/2', 'HTTP/1.1 over TLS', 'HTTP/2 over TLS'] as const;
export type Transport = (typeof transports)[number];

export interface CallerRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | Readable;
}

export interface CallerResponse {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Readable;
  /** Goes away in the middle: cuts the connection, or resets the stream over HTTP/2. */
  leave(): void;
}

export interface PendingCall {
  readonly response: Promise<CallerResponse>;
  leave(): void;
}

/** A folder that is gone when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}

/** Starts a listener in front of a function; it is closed when the test is over. `logged` is what it told its person. */
export async function startListener(
  fetch: Api['fetch'],
  { isKnown = () => true, ...options }: Partial<Omit<ListenOptions, 'api'>> & Partial<Pick<Api, 'isKnown'>> = {},
): Promise<Listener & { logged: string[] }> {
  const logged: string[] = [];
  const listener = await listen({
    api: { fetch, isKnown },
    port: 0,
    isTls: false,
    dataDirectory: options.isTls ? await temporaryFolder() : '',
    window: null,
    log: (message, failure) => void logged.push(`${message} ${String(failure ?? '')}`),
    ...options,
  });
  onTestFinished(() => listener.close({ signal: AbortSignal.timeout(1000) }));
  return { ...listener, logged };
}

export function isSecure(transport: Transport): boolean {
  return transport.endsWith('TLS');
}

function send(body: CallerRequest['body'], writable: Writable): void {
  if (body instanceof Readable) {
    body.pipe(writable);
    body.on('error', () => {});
  } else writable.end(body);
}

function callHttp1(address: string, { method, path, headers, body }: CallerRequest): PendingCall {
  const isTls = address.startsWith('https');
  const options = { method: method ?? 'GET', headers: headers ?? {}, rejectUnauthorized: false };
  const target = `${address}${path ?? '/'}`;
  const request = isTls
    ? httpsRequest(target, { ...options, agent: new HttpsAgent() })
    : httpRequest(target, { ...options, agent: new HttpAgent() });
  const response = Promise.withResolvers<CallerResponse>();
  request.on('error', response.reject);
  request.on('response', (incoming: IncomingMessage) =>
    response.resolve({
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      body: incoming.on('error', () => {}),
      leave: () => request.destroy(),
    }),
  );
  send(body, request);
  response.promise.catch(() => {});
  return { response: response.promise, leave: () => request.destroy() };
}

function callHttp2(address: string, { method, path, headers, body }: CallerRequest): PendingCall {
  const session = connectHttp2(address, { rejectUnauthorized: false });
  onTestFinished(() => session.destroy());
  const { host, ...others } = headers ?? {};
  const stream = session.request(
    { ':method': method ?? 'GET', ':path': path ?? '/', ...(host ? { ':authority': host } : {}), ...others },
    { endStream: body === undefined },
  );
  const response = Promise.withResolvers<CallerResponse>();
  session.on('error', response.reject);
  stream.on('error', response.reject);
  stream.on('close', () => session.close());
  const leave = (): void => stream.close(8);
  stream.on('response', (received) =>
    response.resolve({ status: Number(received[':status']), headers: received, body: stream, leave }),
  );
  if (body !== undefined) send(body, stream);
  response.promise.catch(() => {});
  return { response: response.promise, leave };
}

/** Sends one request on a connection of its own. */
export function call(transport: Transport, address: string, request: CallerRequest = {}): PendingCall {
  return transport.startsWith('HTTP/2') ? callHttp2(address, request) : callHttp1(address, request);
}

/** Sends one request and reads the whole answer as text. */
export async function fetchText(
  transport: Transport,
  address: string,
  request: CallerRequest = {},
): Promise<{ status: number; headers: CallerResponse['headers']; text: string }> {
  const { status, headers, body } = await call(transport, address, request).response;
  body.setEncoding('utf8');
  let text = '';
  for await (const chunk of body) text += chunk;
  return { status, headers, text };
}

/** A bare connection, for what no client would send. */
export class RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #text = '';

  constructor(address: string) {
    this.socket = connect({ port: Number(new URL(address).port), host: '127.0.0.1', allowHalfOpen: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.#text += text;
    });
    this.socket.on('error', () => {});
    // An end that it cannot answer any more is the end of the connection for a caller.
    this.socket.on('end', () => this.socket.end());
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve()));
    onTestFinished(() => void this.socket.destroy());
  }

  send(data: string | Buffer): this {
    this.socket.write(data);
    return this;
  }

  /** Everything received so far. */
  get text(): string {
    return this.#text;
  }

  /** Resolves once the text holds the part; rejects when the connection ends without it. */
  async receive(part: string): Promise<string> {
    while (!this.#text.includes(part)) {
      if (this.socket.destroyed) throw new Error(`The connection ended after: ${this.#text}`);
      await Promise.race([once(this.socket, 'data').catch(() => {}), this.closed]);
    }
    return this.#text;
  }

  /** The whole text once the other side has closed the connection. */
  async untilClosed(): Promise<string> {
    await this.closed;
    return this.#text;
  }
}
