import type { OutgoingHttpHeaders } from 'node:http';
import { AppError } from '../../shared/app-error.ts';
import type { PassedCall, PassedHead } from '../passthrough/passed-call.ts';
import { chunkWriter } from './chunk-writer.ts';
import { DeferredResponse } from './lazy-response.ts';

/** Headers about the provider's connection. */
const connectionHeaders = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Those of this service are its own: the provider may be another host of Touchstone, or pretend to be one. */
const isDropped = (name: string): boolean => connectionHeaders.has(name) || name.startsWith('x-touchstone-');

/** A reason as Node accepts it: its UTF-8 one character for each byte, without control characters. */
function reasonOf(statusText: string): string {
  if (/^[\x20-\x7e]*$/.test(statusText)) return statusText;
  return Buffer.from(statusText)
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e\x80-\xff]/g, '');
}

/** What a passed response needs of Node's response object. */
export interface PassedOutgoing {
  readonly stream?: unknown;
  readonly headersSent: boolean;
  sendDate: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders | string[]): unknown;
  writeHead(status: number, statusText: string, headers: OutgoingHttpHeaders | string[]): unknown;
  flushHeaders(): void;
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  destroy(error?: Error): unknown;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/** A provider's response on its way to another program. On the listener, neither its head nor its body becomes a web stream. */
export class PassedResponse extends DeferredResponse {
  readonly #call: PassedCall;
  readonly #head: PassedHead;
  readonly #added: Readonly<Record<string, string>>;

  /** `added` are this service's own headers, with names in lower case. */
  constructor(call: PassedCall, head: PassedHead, added: Readonly<Record<string, string>>) {
    super(head.status);
    this.#call = call;
    this.#head = head;
    this.#added = added;
  }

  /** Writes head and body at the program's pace. Resolves when the program has everything, or when the call has ended early. */
  writeTo(
    outgoing: PassedOutgoing,
    { signal, onProgress }: { signal: AbortSignal; onProgress: () => void },
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call = this.#call;
    const write = chunkWriter(outgoing);
    const drained = () => {
      onProgress();
      call.resume();
    };
    const leave = () => resolve();
    let isRejected = false;
    /** False if Node doesn't take the head. It throws, and the program would wait for ever. */
    const begin = (): boolean => {
      if (outgoing.headersSent || isRejected) return !isRejected;
      try {
        this.#writeHead(outgoing);
      } catch (cause) {
        isRejected = true;
        call.cancel();
        reject(new AppError('provider_failed', 'The headers of the response can not be passed on.', { cause }));
      }
      return !isRejected;
    };
    // A response that is already there leaves together with its head.
    const heading = setImmediate(() => {
      if (!outgoing.headersSent && !signal.aborted && begin()) outgoing.flushHeaders();
    });
    outgoing.on('drain', drained);
    signal.addEventListener('abort', leave, { once: true });
    call.connect({
      write: (chunk) => {
        return signal.aborted || !begin() || write(chunk);
      },
      end: () => {
        if (!signal.aborted && begin()) outgoing.end();
        resolve();
      },
      fail: () => {
        if (signal.aborted || begin()) outgoing.destroy(new Error("The provider's connection broke."));
        resolve();
      },
      reject: (error) => {
        if (!outgoing.headersSent) return reject(error);
        outgoing.destroy(error);
        resolve();
      },
    });
    return promise.finally(() => {
      clearImmediate(heading);
      outgoing.off('drain', drained);
      signal.removeEventListener('abort', leave);
    });
  }

  #writeHead(outgoing: PassedOutgoing): void {
    outgoing.sendDate = false;
    const { status, statusText } = this.#head;
    if (outgoing.stream !== undefined && 'stream' in outgoing) {
      const headers: OutgoingHttpHeaders = { ...this.#added };
      for (const [name, value] of Object.entries(this.#head.headers)) {
        // HTTP/2 rejects a second `content-type`, for example. A list has the same meaning, except of cookies.
        const isList = Array.isArray(value) && name !== 'set-cookie';
        if (!isDropped(name)) headers[name] = isList ? value.join(', ') : value;
      }
      outgoing.writeHead(status, headers);
      return;
    }
    outgoing.writeHead(status, reasonOf(statusText), [...this.#rawHeaders(), ...Object.entries(this.#added).flat()]);
  }

  /** As the provider wrote them. */
  #rawHeaders(): string[] {
    const { raw } = this.#head;
    const result: string[] = [];
    for (let index = 0; index < raw.length; index += 2) {
      const [name, value] = [latin1(raw[index]!), latin1(raw[index + 1]!)];
      if (!isDropped(name.toLowerCase())) result.push(name, value);
    }
    return result;
  }

  override get statusText(): string {
    return this.#head.statusText;
  }

  protected override createPlain(): Response {
    const headers = new Headers(this.#added);
    const raw = this.#rawHeaders();
    for (let index = 0; index < raw.length; index += 2) headers.append(raw[index]!, raw[index + 1]!);
    const { status, statusText } = this.#head;
    const hasBody = status !== 204 && status !== 205 && status !== 304;
    return new Response(hasBody ? this.#toStream() : null, { status, statusText, headers });
  }

  #toStream(): ReadableStream<Uint8Array> {
    const call = this.#call;
    return new ReadableStream<Uint8Array>({
      start: (controller) =>
        call.connect({
          write: (chunk) => {
            controller.enqueue(chunk);
            return (controller.desiredSize ?? 0) > 0;
          },
          end: () => controller.close(),
          fail: (error) => controller.error(error),
          reject: (error) => controller.error(error),
        }),
      pull: () => call.resume(),
      cancel: () => call.cancel(),
    });
  }
}

function latin1(value: string | Uint8Array): string {
  return typeof value === 'string'
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1');
}
