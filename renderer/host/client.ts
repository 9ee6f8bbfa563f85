import type { z } from 'zod';
import { AppError, type ErrorBody, errorFromBody } from '../../shared/app-error.ts';
import { createArrayDecoder, createEventDecoder, type DecodedPart } from '../../shared/event-stream.ts';
import type { Endpoint, ResponseKind } from '../../shared/contract/endpoint.ts';
import type { HostFetch, HostRequest } from './host-fetch.ts';

function brokenOff(cause?: unknown): AppError {
  return new AppError('internal', 'Connection lost. Partial answer kept.', { cause });
}

function hasError(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'error' in value && !('choice' in value);
}

const encoder = new TextEncoder();
const outsideAscii = /[\u0080-\uFFFF]/;

/** Of the text as UTF-8. Nearly every part of a stream is ASCII, and encoding it takes as long as parsing it. */
function byteLength(text: string): number {
  return outsideAscii.test(text) ? encoder.encode(text).byteLength : text.length;
}

/**
 * The parts of a streamed response, decoded by its media type. Throws `AppError` for a last `{error}` part and for a stream that
 * ends in the middle. Leaving the loop cancels the body, and so the work at the host.
 */
async function* readParts(response: Response, wire: WireObserver | undefined): AsyncGenerator<unknown> {
  if (!response.body) throw brokenOff();
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const decoder = isEvents ? createEventDecoder() : createArrayDecoder();
  const text = new TextDecoder();
  function decode(bytes: Uint8Array | undefined): DecodedPart[] {
    try {
      return decoder.push(text.decode(bytes, { stream: bytes !== undefined }));
    } catch (error) {
      throw brokenOff(error);
    }
  }

  function* take(parts: readonly DecodedPart[]): Generator<unknown> {
    const at = performance.now();
    for (const part of parts) {
      wire?.onFrame?.({ text: part.text, bytes: byteLength(part.text), at });
    }
    for (const { value } of parts) {
      if (hasError(value)) throw errorFromBody(value, 'The run failed.');
      yield value;
    }
  }

  for await (const bytes of response.body) yield* take(decode(bytes));
  yield* take(decode(undefined));
  if (!decoder.isComplete()) throw brokenOff();
}

type Primitive = string | number | boolean;
type QueryOf<Input> = { readonly [Name in keyof Input]: Input[Name] | Primitive };

type Parameters<E> = E extends Endpoint<infer Schema> ? z.input<Schema> : never;
type Query<E> = E extends Endpoint<z.ZodType, infer Schema> ? z.input<Schema> : never;
type Body<E> = E extends Endpoint<z.ZodType, z.ZodType, infer Schema> ? z.input<Schema> : never;
type FormFields<E> =
  E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType, z.ZodType, infer Schema> ? z.input<Schema> : never;
/** The body of a JSON response; `undefined` for an empty one. */
type ResponseOf<E> = E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer Schema> ? z.output<Schema> : never;
/** One part of a streamed response. An error part is thrown, never yielded. */
export type Part<E> =
  E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType, infer Schema>
    ? Exclude<z.output<Schema>, { error: { requestId: string } }>
    : never;

/** One frame of a response from the wire. */
export interface WireFrame {
  readonly text: string;
  /** Length of `text` as UTF-8. */
  readonly bytes: number;
  /** Milliseconds on the clock of `performance.now()`. */
  readonly at: number;
}

/** Receives the raw requests and responses for the wire view. */
export interface WireObserver {
  onRequest?(request: Omit<HostRequest, 'signal'>): void;
  onHead?(head: { readonly status: number; readonly headers: Headers; readonly at: number }): void;
  /** The whole body of a JSON response or an error; each part of a streamed response. */
  onFrame?(frame: WireFrame): void;
}

interface CommonOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly wire?: WireObserver;
  /** For a call that waits for a provider. Streams always count as lasting. */
  readonly isLasting?: boolean;
}

type CallOptions<E> = CommonOptions &
  (undefined extends Parameters<E> ? { readonly parameters?: undefined } : { readonly parameters: Parameters<E> }) &
  (undefined extends Query<E> ? { readonly query?: undefined } : { readonly query?: QueryOf<Query<E>> }) &
  (undefined extends Body<E> ? { readonly body?: Body<E> } : { readonly body: Body<E> });

type StreamOptions<E> = CallOptions<E> & {
  /** The format of the response; by default the endpoint's first streamed format. */
  readonly kind?: 'event-stream' | 'json-array';
};

type UploadOptions<E> = {
  readonly fields: FormFields<E>;
  readonly file: File;
  readonly signal?: AbortSignal;
  /** Called with the uploaded share of the file, 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
} & (undefined extends Parameters<E> ? { readonly parameters?: undefined } : { readonly parameters: Parameters<E> });

interface Streamed<Item> {
  readonly status: number;
  readonly headers: Headers;
  /** Can be read once. Leaving the loop ends the work at the host. Throws `AppError` for a last error part. */
  readonly parts: AsyncIterable<Item>;
}

type Arguments<E, Options> = object extends Options
  ? [endpoint: E, options?: Options]
  : [endpoint: E, options: Options];

export interface Client {
  /** Calls an endpoint and resolves with its response. Throws `AppError` for every status outside 2xx. */
  call<E extends Endpoint>(...call: Arguments<E, CallOptions<E>>): Promise<ResponseOf<E>>;
  /** Calls an endpoint that streams. Resolves at the head of the response. Throws `AppError` for an error before it. */
  stream<E extends Endpoint>(...call: Arguments<E, StreamOptions<E>>): Promise<Streamed<Part<E>>>;
  /** Calls an endpoint that returns a file. Throws `AppError` for every status outside 2xx. */
  download<E extends Endpoint>(...call: Arguments<E, CallOptions<E>>): Promise<Blob>;
  /** Uploads a file with the fields of an endpoint's form. Throws `AppError` for every status outside 2xx. */
  upload<E extends Endpoint>(endpoint: E, options: UploadOptions<E>): Promise<ResponseOf<E>>;
}

interface AnyOptions extends CommonOptions {
  readonly parameters?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly kind?: 'event-stream' | 'json-array';
}

const mediaTypes: Readonly<Record<ResponseKind, string>> = {
  json: 'application/json',
  'event-stream': 'text/event-stream',
  'json-array': 'application/json',
  file: '*/*',
  empty: '*/*',
};

function pathOf(endpoint: Endpoint, { parameters, query }: AnyOptions): string {
  const values = (parameters ?? {}) as Record<string, Primitive>;
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const given = Object.entries((query ?? {}) as Record<string, unknown>).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return search === '' ? path : `${path}?${search}`;
}

function requestOf(endpoint: Endpoint, options: AnyOptions, accept: string): HostRequest {
  const body = options.body === undefined ? null : JSON.stringify(options.body);
  const contentType: Record<string, string> = body === null ? {} : { 'content-type': 'application/json' };
  return {
    method: endpoint.method.toUpperCase(),
    path: pathOf(endpoint, options),
    headers: { accept, ...contentType, ...options.headers },
    body,
    ...(options.isLasting && { isLasting: true }),
    ...(options.signal && { signal: options.signal }),
  };
}

function observeText(text: string, wire: WireObserver | undefined): void {
  wire?.onFrame?.({ text, bytes: byteLength(text), at: performance.now() });
}

function parseResponse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The error of a response with a status outside 2xx. */
function failureOf(response: Response, text: string): AppError {
  const body = parseResponse(text) as ErrorBody | null;
  const error = errorFromBody(body, `Touchstone responded with status ${response.status}.`);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (Number.isNaN(seconds)) return error;
  const { code, message, details, requestId } = error;
  return new AppError(code, message, { details, retryAfterSeconds: seconds, ...(requestId && { requestId }) });
}

async function send(hostFetch: HostFetch, request: HostRequest, wire: WireObserver | undefined): Promise<Response> {
  wire?.onRequest?.(request);
  const response = await hostFetch(request);
  wire?.onHead?.({ status: response.status, headers: response.headers, at: performance.now() });
  if (response.ok) return response;
  const text = await response.text();
  observeText(text, wire);
  throw failureOf(response, text);
}

/** The typed client of the contract. Responses come from our own host and are not validated again. */
export function createClient(hostFetch: HostFetch): Client {
  async function call(endpoint: Endpoint, options: AnyOptions = {}): Promise<unknown> {
    const kind = endpoint.kinds?.[0] ?? 'json';
    const response = await send(hostFetch, requestOf(endpoint, options, mediaTypes[kind]), options.wire);
    const text = await response.text();
    observeText(text, options.wire);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }

  async function stream(endpoint: Endpoint, options: AnyOptions = {}): Promise<Streamed<unknown>> {
    const isStreamed = (kind: ResponseKind) => kind === 'event-stream' || kind === 'json-array';
    const kind = options.kind ?? endpoint.kinds?.find(isStreamed) ?? 'event-stream';
    const request = requestOf(endpoint, { ...options, isLasting: true }, mediaTypes[kind]);
    const response = await send(hostFetch, request, options.wire);
    return { status: response.status, headers: response.headers, parts: readParts(response, options.wire) };
  }

  async function download(endpoint: Endpoint, options: AnyOptions = {}): Promise<Blob> {
    const response = await send(hostFetch, requestOf(endpoint, options, mediaTypes.file), undefined);
    return response.blob();
  }

  async function upload(endpoint: Endpoint, options: UploadOptions<Endpoint>): Promise<unknown> {
    const { file, onProgress, signal } = options;
    const maxBytes = endpoint.form?.maximumFileBytes ?? 0;
    // The host would reject it too, but it stops reading a very large file so early that the response gets lost.
    if (file.size > maxBytes)
      throw new AppError('payload_too_large', `The file is larger than ${maxBytes / 1_048_576} MB.`);
    const form = new FormData();
    // Before the file, so that the host can check them while the file arrives.
    for (const [name, value] of Object.entries(options.fields as Record<string, unknown>)) {
      if (value !== undefined) form.append(name, String(value));
    }
    form.append('file', file);
    const request: HostRequest = {
      method: endpoint.method.toUpperCase(),
      path: pathOf(endpoint, { parameters: options.parameters }),
      headers: { accept: mediaTypes.json },
      body: form,
      ...(signal && { signal }),
      ...(onProgress && { onUpload: (bytes) => onProgress(Math.min(1, bytes / Math.max(1, file.size))) }),
    };
    const response = await send(hostFetch, request, undefined);
    return (await response.json()) as unknown;
  }

  return { call, stream, download, upload } as Client;
}
