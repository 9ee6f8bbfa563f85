import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Busboy, BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import type { z } from 'zod';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Form } from '../../shared/contract/endpoint.ts';
import { validate } from '../common/validate.ts';

export const formMediaTypes = ['multipart/form-data'] as const;

/** Bytes that a form may have beside its file. */
const spareBytes = 1_048_576;

const megabyte = 1_048_576;

/** Receives the file as it arrives. Its promise is awaited before the fields are returned. */
export type ReceiveFile = (file: FormFile) => Promise<void>;

export interface FormFile {
  /** The caller's file name, without path and control characters; may be empty. */
  readonly fileName: string;
  /** As the caller sends it; null if the caller sends none. */
  readonly mediaType: string | null;
  /** Fails if the form ends early, is malformed or too large. */
  readonly content: Readable;
}

const tooLarge = ({ maximumFileBytes }: Form) =>
  new AppError(
    'payload_too_large',
    `The file is larger than ${maximumFileBytes / megabyte} MB (${maximumFileBytes.toLocaleString('en-GB')} bytes). Split it and send the parts.`,
  );

const malformed = (cause: unknown) =>
  new AppError('invalid_request', 'The form is malformed or ended before it was complete.', { cause });

/** Browsers percent-encode `"` and line ends of a name. */
function cleanFileName(fileName: string | undefined): string {
  return (fileName ?? '')
    .replaceAll('%22', '"')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]|%0A|%0D/gu, '')
    .slice(0, 255);
}

/** The parser returns `text/plain` for a part without a type, and clients send `application/octet-stream` if they have none. */
function namedType(mediaType: string): string | null {
  return mediaType === 'text/plain' || mediaType === 'application/octet-stream' ? null : mediaType;
}

function openParser(Parser: typeof Busboy, headers: Headers, form: Form): BusboyInstance {
  try {
    return new Parser({
      headers: { 'content-type': headers.get('content-type') ?? '' },
      isPartAFile: (name, contentType, fileName) =>
        name === 'file' && (fileName !== undefined || contentType === 'application/octet-stream'),
      limits: { fileSize: form.maximumFileBytes, fieldSize: 65_536, parts: 64, headerPairs: 32, headerSize: 16_384 },
    });
  } catch (error) {
    throw malformed(error);
  }
}

/** A form that is being received: the parser, its results, and the first error. */
class FormReading {
  readonly #parser: BusboyInstance;
  readonly #form: Form;
  readonly #receive: ReceiveFile;
  readonly #failed = new AbortController();
  readonly #fields: Record<string, string> = Object.create(null) as Record<string, string>;
  #file: BusboyFileStream | null = null;
  #received: Promise<void> | null = null;

  constructor(parser: BusboyInstance, form: Form, receive: ReceiveFile) {
    this.#form = form;
    this.#receive = receive;
    this.#parser = parser;
    this.#parser.on('field', (name, value, _isNameCut, isCut) => this.#takeField(name, value, isCut));
    this.#parser.on('file', (_name, content, fileName, _encoding, mediaType) =>
      this.#takeFile(content, fileName, mediaType),
    );
    this.#parser.on('partsLimit', () =>
      this.fail(invalidField('', 'has too many parts', 'The form has too many parts.')),
    );
    this.#parser.on('error', (error) => this.fail(malformed(error)));
  }

  async read(body: ReadableStream<Uint8Array>): Promise<Record<string, string>> {
    const finished = once(this.#parser, 'finish', { signal: this.#failed.signal });
    finished.catch(() => {});
    try {
      await this.#pump(body);
      await finished;
      await this.#received;
      this.#failed.signal.throwIfAborted();
      if (!this.#file) throw invalidField('file', 'is required', 'Send the file in the part `file` of the form.');
      return { ...this.#fields };
    } catch (error) {
      const cause: unknown = this.#failed.signal.aborted ? this.#failed.signal.reason : error;
      this.#file?.destroy(cause instanceof Error ? cause : new Error('The form broke off.'));
      // Waits for the file's receiver, so that nothing is written to the disk after the response.
      await this.#received?.catch(() => {});
      throw cause;
    }
  }

  async #pump(body: ReadableStream<Uint8Array>): Promise<void> {
    const { signal } = this.#failed;
    const reader = body.getReader();
    const leave = () => void reader.cancel(signal.reason).catch(() => {});
    signal.addEventListener('abort', leave, { once: true });
    const next = () =>
      reader.read().catch((error: unknown) => {
        throw malformed(error);
      });
    let bytes = 0;
    for (let chunk = await next(); !chunk.done && !signal.aborted; chunk = await next()) {
      bytes += chunk.value.byteLength;
      if (bytes > this.#form.maximumFileBytes + spareBytes) this.fail(tooLarge(this.#form));
      else if (!this.#parser.write(chunk.value)) await once(this.#parser, 'drain', { signal });
    }
    signal.throwIfAborted();
    this.#parser.end();
  }

  #takeField(name: string, value: string, isCut: boolean): void {
    if (isCut) this.fail(invalidField(name, 'is too long'));
    else if (name in this.#fields) this.fail(invalidField(name, 'is given more than once'));
    else this.#fields[name] = value;
  }

  #takeFile(content: BusboyFileStream, fileName: string, mediaType: string): void {
    if (this.#file) {
      content.resume();
      return this.fail(invalidField('file', 'is given more than once', 'Send one file in one request.'));
    }
    this.#file = content;
    // The receiver may have finished already. An unhandled rejection would end the process.
    content.on('error', () => {});
    content.once('limit', () => this.fail(tooLarge(this.#form)));
    this.#received = this.#receive({ fileName: cleanFileName(fileName), mediaType: namedType(mediaType), content });
    this.#received.catch((error: unknown) => this.fail(error));
  }

  /** Ends the form. Only the first reason is reported. */
  fail(error: unknown): void {
    if (this.#failed.signal.aborted) return;
    this.#failed.abort(error);
    this.#file?.destroy(error instanceof Error ? error : new Error('The form broke off.'));
  }
}

/**
 * Reads a form as it arrives and passes the chunks of its file to `receive`, at its pace. Throws `payload_too_large` as soon as the file
 * exceeds the limit, and `invalid_request` for a form that is malformed, breaks off, has no file or more than one, or has invalid fields.
 * The file's stream has then failed, or the receiver has to drop the file.
 */
export async function readForm<Fields extends z.ZodType>(
  request: Request,
  form: Form<Fields> | undefined,
  receive: ReceiveFile,
): Promise<z.output<Fields>> {
  if (!form) throw new Error('This endpoint has no form.');
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > form.maximumFileBytes + spareBytes) throw tooLarge(form);
  if (request.body === null) throw new AppError('invalid_request', 'The request has no body. Send a form with a file.');
  const { Busboy: Parser } = await import('@fastify/busboy');
  request.signal.throwIfAborted();
  const reading = new FormReading(openParser(Parser, request.headers, form), form, receive);
  request.signal.addEventListener('abort', () => reading.fail(request.signal.reason), { once: true });
  return validate(form.fields, await reading.read(request.body), 'form');
}
