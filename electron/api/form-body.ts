import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { z } from 'zod';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Form } from '../../shared/contract/endpoint.ts';
import { validate } from './validation.ts';

export const formMediaTypes = ['multipart/form-data'] as const;

/** Bytes that a form may have beside its file. */
const spareBytes = 1_048_576;

const megabyte = 1_048_576;

/** Takes the file as it arrives; its promise is awaited before the fields are answered. */
export type ReceiveFile = (file: FormFile) => Promise<void>;

export interface FormFile {
  /** As the caller calls it, without a path and without control characters; may be empty. */
  readonly fileName: string;
  /** Fails when the form breaks off, is malformed or too large. */
  readonly content: Readable;
}

const tooLarge = ({ maximumFileBytes }: Form) =>
  new AppError(
    'payload_too_large',
    `The file is larger than ${maximumFileBytes / megabyte} MB (${maximumFileBytes.toLocaleString('en-GB')} bytes). Split it and send the parts.`,
  );

const malformed = (cause: unknown) =>
  new AppError('invalid_request', 'The form is malformed or ended before it was complete.', { cause });

/** Browsers write `"` and line ends of a name as in an address. */
function cleanFileName(fileName: string | undefined): string {
  return (fileName ?? '')
    .replaceAll('%22', '"')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]|%0A|%0D/gu, '')
    .slice(0, 255);
}

function openParser(headers: Headers, form: Form): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': headers.get('content-type') ?? '' },
      isPartAFile: (name, contentType, fileName) =>
        name === 'file' && (fileName !== undefined || contentType === 'application/octet-stream'),
      limits: { fileSize: form.maximumFileBytes, fieldSize: 65_536, parts: 64, headerPairs: 32, headerSize: 16_384 },
    });
  } catch (error) {
    throw malformed(error);
  }
}

/** One form on its way in: the parser, what it found, and the first thing that went wrong. */
class FormReading {
  readonly #parser: BusboyInstance;
  readonly #form: Form;
  readonly #receive: ReceiveFile;
  readonly #failed = new AbortController();
  readonly #fields: Record<string, string> = Object.create(null) as Record<string, string>;
  #file: BusboyFileStream | null = null;
  #received: Promise<void> | null = null;

  constructor(headers: Headers, form: Form, receive: ReceiveFile) {
    this.#form = form;
    this.#receive = receive;
    this.#parser = openParser(headers, form);
    this.#parser.on('field', (name, value, _isNameCut, isCut) => this.#takeField(name, value, isCut));
    this.#parser.on('file', (_name, content, fileName) => this.#takeFile(content, fileName));
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
      // What was begun is ended before the caller is answered: nothing of the file may still be on its way to the disk.
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
    for (let piece = await next(); !piece.done && !signal.aborted; piece = await next()) {
      bytes += piece.value.byteLength;
      if (bytes > this.#form.maximumFileBytes + spareBytes) this.fail(tooLarge(this.#form));
      else if (!this.#parser.write(piece.value)) await once(this.#parser, 'drain', { signal });
    }
    signal.throwIfAborted();
    this.#parser.end();
  }

  #takeField(name: string, value: string, isCut: boolean): void {
    if (isCut) this.fail(invalidField(name, 'is too long'));
    else if (name in this.#fields) this.fail(invalidField(name, 'is given more than once'));
    else this.#fields[name] = value;
  }

  #takeFile(content: BusboyFileStream, fileName: string): void {
    if (this.#file) {
      content.resume();
      return this.fail(invalidField('file', 'is given more than once', 'Send one file in one request.'));
    }
    this.#file = content;
    // The receiver may have finished already; an unhandled failure would end the process.
    content.on('error', () => {});
    content.once('limit', () => this.fail(tooLarge(this.#form)));
    this.#received = this.#receive({ fileName: cleanFileName(fileName), content });
    this.#received.catch((error: unknown) => this.fail(error));
  }

  /** Ends it; only the first reason is reported. */
  fail(error: unknown): void {
    if (this.#failed.signal.aborted) return;
    this.#failed.abort(error);
    this.#file?.destroy(error instanceof Error ? error : new Error('The form broke off.'));
  }
}

/**
 * Reads a form as it arrives: its file goes to `receive` piece by piece, as fast as that takes it. Throws `payload_too_large` while
 * a larger file is still being sent, and `invalid_request` for a form that is malformed, breaks off, has no file or more than one,
 * or fields that do not fit. Whoever received the file has then seen its stream fail, or has to drop what it got.
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
  request.signal.throwIfAborted();
  const reading = new FormReading(request.headers, form, receive);
  request.signal.addEventListener('abort', () => reading.fail(request.signal.reason), { once: true });
  return validate(form.fields, await reading.read(request.body), 'form');
}
