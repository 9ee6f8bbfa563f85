import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { LazyRequest } from '../api/lazy-request.ts';
import { parseAddress } from '../common/parse-address.ts';

/** Node's request object, of HTTP/1.1 or HTTP/2. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** Reads a whole body without web streams, which take more time than everything else about a small request. */
function collect(incoming: NodeRequest, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    incoming.once('error', reject);
  });
}

/** The body as a stream of chunks, at the reader's pace. Cancelling keeps the connection, which the response needs. */
function toStream(incoming: NodeRequest, signal: AbortSignal): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
      },
      async pull(controller) {
        const next = (await chunks.next()) as IteratorResult<Buffer, undefined>;
        if (signal.aborted) return;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A request whose body stays in Node's stream until it is read. */
export class IncomingRequest extends LazyRequest {
  readonly #incoming: NodeRequest;

  /** `beforeBody` is called before the body is read, perhaps more than once. Throws `TypeError` for an invalid address or method. */
  constructor(
    url: string,
    { method, headers }: { method: string; headers: Readonly<Record<string, string>> },
    incoming: NodeRequest,
    {
      controller: { signal },
      hasBody,
      beforeBody,
    }: { controller: AbortController; hasBody: boolean; beforeBody: () => void },
  ) {
    const body = {
      bytes() {
        beforeBody();
        return collect(incoming, signal);
      },
      stream() {
        beforeBody();
        return toStream(incoming, signal);
      },
    };
    super(parseAddress(url).href, { method, headers, signal, body: hasBody ? body : null });
    this.#incoming = incoming;
  }

  /** Names and values in turn, as the caller wrote them. */
  get rawHeaders(): readonly string[] {
    return this.#incoming.rawHeaders;
  }
}
