import { randomUUID } from 'node:crypto';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { AppError } from '../../shared/app-error.ts';
import type { Api } from '../api/api.ts';
import { ActiveSet } from '../common/active-values.ts';
import { toAppError } from '../api/error-response.ts';
import { errorResponseAt } from '../api/passed-error.ts';
import { type AccessRules, readHead, type RequestHead } from './request-head.ts';
import type { BodyTimeouts } from './body-timeouts.ts';
import type { Connection, Connections, OpenResponse } from './connections.ts';
import { IncomingRequest, type NodeRequest } from './incoming-request.ts';
import type { Log } from '../log.ts';
import type { BrowserWindow } from './browser-window.ts';
import { type NodeResponse, writeResponse } from './write-response.ts';

/** A response of either protocol, with what only HTTP/1.1 has. */
export type OutgoingResponse = NodeResponse & {
  writeContinue(): void;
  destroy(error?: Error): unknown;
  once(event: 'close', listener: () => void): unknown;
};

export interface RequestListenerOptions {
  readonly api: Api;
  readonly rules: AccessRules;
  readonly bodies: BodyTimeouts;
  readonly connections: Connections;
  readonly window: BrowserWindow | null;
  /** Of HTTP/2, where it is only advice to the caller. Node's parser limits the head of HTTP/1.1. */
  readonly maxHeadBytes: number;
  readonly log: Log;
}

/** HTTP/2's error code for a request that wasn't processed and can be sent again. */
const rejectedStream = constants.NGHTTP2_REFUSED_STREAM;

export const tooLargeHead = () =>
  new AppError('payload_too_large', 'The head of the request is too large; send fewer or shorter headers.');

/** 431 says which part of a request is too large, which 413 doesn't. */
export const tooLargeHeadStatus = 431;

function isTooLarge(incoming: NodeRequest, maxBytes: number): boolean {
  if (!('stream' in incoming)) return false;
  let bytes = 0;
  for (const text of incoming.rawHeaders) bytes += text.length;
  return bytes > maxBytes;
}

const tooSlow = () => new AppError('invalid_request', 'The request body took too long to arrive; send it again.');

/** One request and its response. */
interface Exchange {
  readonly incoming: NodeRequest;
  readonly outgoing: OutgoingResponse;
  readonly waitsForContinue: boolean;
  readonly head: RequestHead | AppError;
  readonly connection: Connection;
  readonly open: OpenResponse;
}

/**
 * One read of a socket can contain a hundred requests, and rejecting each takes as much time and memory as processing it. Node skips the
 * rest only if the session is destroyed.
 */
function reject(stream: ServerHttp2Stream, connection: Connection | undefined): void {
  if (!connection || connection.reject()) stream.session?.destroy();
  else stream.close(rejectedStream);
}

function socketOf(incoming: NodeRequest): Socket | undefined {
  return ('stream' in incoming ? incoming.stream.session?.socket : incoming.socket) as Socket | undefined;
}

/** Marks the connection of a known caller. All others are strangers. */
function identify(
  connection: Connection,
  head: RequestHead | AppError,
  { window, api, rules, connections }: RequestListenerOptions,
): void {
  const isAllowed = !(head instanceof AppError) && rules.rejection(head) === null;
  if (isAllowed && (window?.isFromBrowser(head) || api.isKnown(head))) connection.identify();
  else connections.noteStranger(connection);
}

/** Null for a head that can't be read. */
const targetOf = (head: RequestHead | AppError): string | null => (head instanceof AppError ? null : head.target);

/** The API never throws, and its streams end without an error. A failure here is a bug. */
async function fail(failure: unknown, { outgoing, head }: Exchange, signal: AbortSignal, log: Log): Promise<void> {
  const requestId = randomUUID();
  const error = toAppError(failure, requestId, log);
  if (outgoing.headersSent) return void outgoing.destroy(new Error('The response failed.'));
  const response = errorResponseAt(targetOf(head), error, requestId);
  const written = writeResponse(response, outgoing, { hasBody: true, signal });
  await written.catch(() => outgoing.destroy());
}

/** Turns requests of both protocols into calls of the API, and aborts the calls of callers that leave. */
export interface RequestListener {
  /** Serves one request. Never throws. With `waitsForContinue` the caller sends its body after `100 Continue`. */
  handle(incoming: NodeRequest, outgoing: OutgoingResponse, waitsForContinue: boolean): void;
  /** Aborts active requests as if their callers had left. Resolves when all have ended. */
  abortAll(): Promise<void>;
}

export function createRequestListener(options: RequestListenerOptions): RequestListener {
  const active = new ActiveSet<{ readonly controller: AbortController; readonly work: Promise<void> }>();

  function handle(incoming: NodeRequest, outgoing: OutgoingResponse, waitsForContinue: boolean): void {
    const head = readHead(incoming);
    const connection = options.connections.find(socketOf(incoming));
    if (connection && !connection.isKnown) identify(connection, head, options);
    const open = connection?.open(outgoing);
    if (!connection || !open) {
      if ('stream' in incoming) reject(incoming.stream, connection);
      else outgoing.destroy();
      return;
    }
    const controller = new AbortController();
    const work = serve({ incoming, outgoing, waitsForContinue, head, connection, open }, controller);
    void work.finally(active.add({ controller, work }));
  }

  async function abortAll(): Promise<void> {
    const present = [...active];
    for (const { controller } of present) controller.abort();
    await Promise.all(present.map(({ work }) => work));
  }

  async function serve(exchange: Exchange, controller: AbortController): Promise<void> {
    const { incoming, outgoing, connection, open, head } = exchange;
    let linger: (() => void) | null = null;
    outgoing.on('close', () => {
      // HTTP/2 sets `writableFinished` after a reset, too. Only `writableEnded` shows that the response was complete.
      if (!outgoing.writableEnded) controller.abort();
    });
    try {
      const { signal } = controller;
      await connection.waitForRoom(open, signal);
      if (signal.aborted) return;
      if (!(head instanceof AppError) && head.hasBody) linger = watchBody(head, exchange, controller, options.bodies);
      const response = await respond(exchange, controller, options);
      const hasBody = incoming.method !== 'HEAD';
      if (!outgoing.headersSent) await writeResponse(response, outgoing, { hasBody, signal, progress: open });
    } catch (failure) {
      if (!controller.signal.aborted) await fail(failure, exchange, controller.signal, options.log);
    } finally {
      if (controller.signal.aborted && !outgoing.writableEnded) outgoing.destroy(new Error('The answer was ended.'));
      linger?.();
    }
  }

  return { handle, abortAll };
}

async function respond(
  exchange: Exchange,
  controller: AbortController,
  { api, rules, window, maxHeadBytes }: RequestListenerOptions,
): Promise<Response> {
  const { incoming, outgoing, waitsForContinue, head } = exchange;
  if (head instanceof AppError) return errorResponseAt(null, head);
  const rejection = rules.rejection(head);
  if (rejection) {
    api.noteBlocked?.(head.target, rejection);
    return errorResponseAt(head.target, rejection);
  }
  if (isTooLarge(incoming, maxHeadBytes)) {
    const { body, headers } = errorResponseAt(head.target, tooLargeHead());
    return new Response(body, { status: tooLargeHeadStatus, headers });
  }
  const page = await window?.respond(head);
  if (page) return page;
  const download = window?.redeemDownload(head) ?? null;
  const stranger = download === null && window?.rejection(head);
  if (stranger) return errorResponseAt(head.target, stranger);
  const request = toRequest(download === null ? head : { ...head, target: download }, incoming, {
    controller,
    hasBody: head.hasBody,
    beforeBody: () => {
      if (waitsForContinue && !outgoing.headersSent) outgoing.writeContinue();
    },
  });
  if (request instanceof AppError) return errorResponseAt(head.target, request);
  const isFromWindow = download !== null || window?.isFromWindow(head) === true;
  return api.fetch(request, { access: isFromWindow ? 'window' : 'network' });
}

/** Ends a request whose body arrives too slowly. Returns what to call after the response. */
function watchBody(
  head: RequestHead,
  { incoming, outgoing }: Exchange,
  controller: AbortController,
  bodies: BodyTimeouts,
): (() => void) | null {
  const socket = socketOf(incoming);
  if (!socket) return null;
  const isForm = head.headers['content-type']?.toLowerCase().startsWith('multipart/form-data') === true;
  return bodies.open(incoming, socket, isForm, {
    reject: () => {
      if (outgoing.headersSent) return;
      const { signal } = new AbortController();
      const rejection = writeResponse(errorResponseAt(head.target, tooSlow()), outgoing, { hasBody: true, signal });
      void rejection.catch(() => outgoing.destroy()).then(() => controller.abort());
    },
    close: () => {
      if ('stream' in incoming) incoming.stream.close();
      else socket.destroy();
    },
  });
}

function toRequest(
  head: RequestHead,
  incoming: NodeRequest,
  options: ConstructorParameters<typeof IncomingRequest>[3],
): IncomingRequest | AppError {
  const scheme = incoming.socket && 'encrypted' in incoming.socket ? 'https' : 'http';
  try {
    return new IncomingRequest(`${scheme}://${head.authorities[0]}${head.target}`, head, incoming, options);
  } catch {
    return new AppError('invalid_request', 'The method, the address or a header of the request is malformed.');
  }
}
