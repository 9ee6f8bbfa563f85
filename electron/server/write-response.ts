import type { OutgoingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { chunkWriter } from '../api/chunk-writer.ts';
import { defaultHeaders } from '../api/error-response.ts';
import { JsonResponse, type ResponseText } from '../api/json-response.ts';
import { type PassedOutgoing, PassedResponse } from '../api/passed-response.ts';
import { StreamedTexts, type TextSource } from '../api/stream-response.ts';

/** Node's response object: what the classes of HTTP/1.1 and HTTP/2 have in common. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableLength: number;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
  write(bytes: Uint8Array | string): boolean;
  end(bytes?: Uint8Array | string): unknown;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Chunk = Awaited<ReturnType<Reader['read']>>;

/** Records what the caller still has to read, so that stalled responses can be ended. */
export interface WriteProgress {
  /** Bytes of a complete body, which are in memory until the caller has read it. */
  bufferedBytes: number;
  noteProgress(): void;
}

export interface WriteOptions {
  /** Not for HEAD. */
  readonly hasBody: boolean;
  readonly signal: AbortSignal;
  readonly progress?: WriteProgress | undefined;
}

/** Bytes per write. Only a completely sent chunk shows that the caller reads. */
const chunkBytes = 65_536;

/** Headers about the connection. Node sets them for HTTP/1.1, and HTTP/2 forbids them. */
const connectionHeaders = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

function toNodeHeaders(headers: Headers): OutgoingHttpHeaders {
  const result: OutgoingHttpHeaders = { ...defaultHeaders };
  for (const [name, value] of headers) {
    if (!connectionHeaders.has(name)) result[name] = value;
  }
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) result['set-cookie'] = cookies;
  return result;
}

/** A longer text is encoded in another turn of the event loop than the one that wrote it as JSON: both take tens of milliseconds for 4 MB. */
const maxSharedCharacters = 256 * 1024;

/** With a string, Node sends head and text in one write. */
async function writeText(
  { headers, text, bytes }: ResponseText,
  status: number,
  outgoing: NodeResponse,
  options: WriteOptions,
): Promise<void> {
  if (bytes === undefined && text.length > maxSharedCharacters) {
    await nextTurn();
    if (options.signal.aborted) return;
  }
  // A long text is encoded once. Counting its bytes first takes half as long again.
  const encoded = bytes ?? (text.length > chunkBytes ? Buffer.from(text) : null);
  const length = encoded?.byteLength ?? Buffer.byteLength(text);
  outgoing.writeHead(status, { ...defaultHeaders, ...headers, 'content-length': length });
  if (length <= chunkBytes) return void outgoing.end(text);
  await writeChunks(encoded ?? Buffer.from(text), outgoing, options);
  if (!options.signal.aborted) outgoing.end();
}

/** Writes at the caller's pace. The last chunk may still be unsent when it resolves. */
async function writeChunks(bytes: Uint8Array, outgoing: NodeResponse, options: WriteOptions): Promise<void> {
  const { signal, progress } = options;
  if (progress) progress.bufferedBytes = bytes.byteLength;
  for (let start = 0; start < bytes.byteLength && !signal.aborted; start += chunkBytes) {
    if (outgoing.write(bytes.subarray(start, start + chunkBytes))) continue;
    await drained(outgoing);
    progress?.noteProgress();
  }
  if (progress) progress.bufferedBytes = 0;
}

/** The result if it needs no timer or socket; null if the source isn't ready. */
async function readIfReady<Result>(pending: Promise<Result>): Promise<Result | null> {
  let immediate: NodeJS.Immediate | undefined;
  const turn = new Promise<null>((resolve) => {
    immediate = setImmediate(resolve, null);
  });
  try {
    return await Promise.race([pending, turn]);
  } finally {
    clearImmediate(immediate);
  }
}

/** Resolves when the connection accepts more, or has closed. */
function drained(outgoing: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('drain', done);
    outgoing.on('close', done);
  });
}

/** Writes the pending reads first. Reads the next chunk only when the caller has read the last one. */
async function pump(
  pendingReads: Promise<Chunk>[],
  reader: Reader,
  outgoing: NodeResponse,
  options: WriteOptions,
): Promise<void> {
  const { signal } = options;
  while (!signal.aborted) {
    const chunk = await (pendingReads.shift() ?? reader.read());
    if (signal.aborted) return;
    if (chunk.done) return void outgoing.end();
    await writeChunks(chunk.value, outgoing, options);
  }
}

async function writeBody(
  response: Response,
  reader: Reader,
  outgoing: NodeResponse,
  options: WriteOptions,
): Promise<void> {
  const { signal } = options;
  const headers = toNodeHeaders(response.headers);
  const pending = reader.read();
  const first = await readIfReady(pending);
  if (first === null) {
    if (signal.aborted) return;
    outgoing.writeHead(response.status, headers);
    outgoing.flushHeaders();
    return pump([pending], reader, outgoing, options);
  }
  const following = first.done ? pending : reader.read();
  const second = await readIfReady(following);
  if (signal.aborted) return;
  if (second?.done) {
    const bytes = first.value ?? new Uint8Array();
    headers['content-length'] ??= bytes.byteLength;
    outgoing.writeHead(response.status, headers);
    if (bytes.byteLength <= chunkBytes) return void outgoing.end(bytes);
    await writeChunks(bytes, outgoing, options);
    if (!signal.aborted) outgoing.end();
    return;
  }
  outgoing.writeHead(response.status, headers);
  await pump([pending, following], reader, outgoing, options);
}

/** Node writes a short text faster than its bytes, and a long one slower. */
const maxTextCharacters = 4096;

/** Writes texts as they come, each before the next is read. */
async function writeTexts(texts: TextSource, outgoing: NodeResponse, options: WriteOptions): Promise<void> {
  const { signal, progress } = options;
  const write = chunkWriter(outgoing);
  /** Until the caller has read what was written. */
  let full: Promise<void> | null = null;
  const noteFull = () => {
    full = drained(outgoing).then(() => {
      full = null;
      progress?.noteProgress();
    });
  };
  texts.offerTo((text) => {
    if (full || signal.aborted || text.length > maxTextCharacters) return false;
    if (!write(text)) noteFull();
    return true;
  });
  let pending = texts.next();
  if ((await readIfReady(pending)) === null && !signal.aborted) outgoing.flushHeaders();
  for (;;) {
    const { text, isDone } = await pending;
    await full;
    if (signal.aborted) return;
    if (text.length > maxTextCharacters) await writeChunks(Buffer.from(text), outgoing, options);
    else if (text !== '' && !write(text)) {
      noteFull();
      await full;
    }
    if (isDone) return void outgoing.end();
    pending = texts.next();
  }
}

/**
 * Sends a response. The head is sent immediately, even before the first chunk of a slow body. A complete body is sent at once, with its
 * length. Resolves when the connection has everything, or when the signal aborts because the caller left. Rejects if the source of the
 * body fails.
 */
export async function writeResponse(response: Response, outgoing: NodeResponse, options: WriteOptions): Promise<void> {
  const { hasBody, signal } = options;
  if (response instanceof PassedResponse && hasBody) {
    return response.writeTo(outgoing as NodeResponse & PassedOutgoing, {
      signal,
      onProgress: () => options.progress?.noteProgress(),
    });
  }
  const whole = response instanceof JsonResponse && hasBody && !signal.aborted ? response.unread : null;
  if (whole) return writeText(whole, response.status, outgoing, options);
  const streamed = response instanceof StreamedTexts && hasBody && !signal.aborted ? response.unread : null;
  if (streamed) {
    outgoing.writeHead(response.status, { ...defaultHeaders, ...streamed.headers });
    return writeTexts(streamed.texts, outgoing, options);
  }
  if (!response.body || !hasBody || signal.aborted) {
    await response.body?.cancel();
    if (signal.aborted) return;
    const headers = toNodeHeaders(response.headers);
    // HTTP/1.1 would send an empty chunk otherwise. 204 and 304 must not have a length.
    if (hasBody && response.status !== 204 && response.status !== 304) headers['content-length'] ??= 0;
    outgoing.writeHead(response.status, headers);
    outgoing.end();
    return;
  }
  const reader: Reader = response.body.getReader();
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', cancel);
  try {
    await writeBody(response, reader, outgoing, options);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
