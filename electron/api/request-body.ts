import { randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError } from '../../shared/app-error.ts';

/** Of a JSON body: 4 MB. */
export const maximumBodyBytes = 4 * 1_048_576;

/** A body that is nested deeper is rejected, because serializing it again would overflow the stack. */
const maxDepth = 500;
/** Parsing takes about 2 microseconds for each new field name, and 4 MB have room for 360,000. */
const maxFieldNames = 20_000;
/** Lists and objects. 4 MB have room for 1.4 million, which take a third of a second to parse. */
const maxContainers = 250_000;

/** From this many bytes on, each step of reading a body has a separate turn of the event loop, so that other requests can run. */
export const longBodyBytes = 262_144;

/** A shorter text can't exceed any of these limits, so it isn't scanned. */
const shortestScanned = 2 * maxDepth;

const tooLarge = (maximumBytes: number) =>
  new AppError(
    'payload_too_large',
    `The request body is larger than ${maximumBytes / 1_048_576} MB (${maximumBytes.toLocaleString('en')} bytes). Send less in one request.`,
  );

/** Whether a `content-type` is one of the media types. `application/*+json` matches any structured suffix. */
function matchesMediaType(contentType: string, mediaTypes: readonly string[]): boolean {
  const essence = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  return mediaTypes.some((mediaType) =>
    mediaType === 'application/*+json' ? /^application\/[^\s/+][^\s/]*\+json$/.test(essence) : essence === mediaType,
  );
}

/** Whether the parameters of a `content-type` allow UTF-8, the only encoding of JSON between programs. */
function isInUtf8(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

const encodingOf = (headers: Headers): string => headers.get('content-encoding')?.trim().toLowerCase() || 'identity';

/** Throws `unsupported_media_type` unless the headers name one of the media types, in UTF-8 and not compressed in another way. */
export function requireMediaType(headers: Headers, mediaTypes: readonly string[], acceptsGzip = false): void {
  const encoding = encodingOf(headers);
  if (encoding !== 'identity' && !(acceptsGzip && encoding === 'gzip')) {
    const accepted = acceptsGzip ? 'with gzip or without content-encoding' : 'without content-encoding';
    throw new AppError('unsupported_media_type', `Send the body ${accepted}.`);
  }
  const contentType = headers.get('content-type');
  if (contentType === null || !matchesMediaType(contentType, mediaTypes)) {
    throw new AppError('unsupported_media_type', `Send the body as ${mediaTypes.join(' or ')}, named in content-type.`);
  }
  if (!isInUtf8(contentType)) throw new AppError('unsupported_media_type', 'Send the body in UTF-8.');
}

/** Rejects invalid UTF-8. With replacement characters, the wrong text would be run and stored. */
const decoder = new TextDecoder('utf-8', { fatal: true });

async function readChunks(body: ReadableStream<Uint8Array>, maximumBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maximumBytes) throw tooLarge(maximumBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a body as it is. Throws `payload_too_large`, and `invalid_request` for one that ends early. */
export async function readBytes(request: Request, maximumBytes = maximumBodyBytes): Promise<Buffer> {
  const announced = request.headers.get('content-length');
  if (announced !== null && Number(announced) > maximumBytes) throw tooLarge(maximumBytes);
  try {
    // The listener enforces a declared length. Only bodies without one are counted here.
    if (announced !== null) return bufferOf(await request.bytes());
    return request.body === null ? Buffer.alloc(0) : await readChunks(request.body, maximumBytes);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_request', 'The request body ended before it was complete.', { cause: error });
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const decompress = promisify(gunzip);

/** Decompresses outside of the event loop. */
async function decompressed(bytes: Buffer): Promise<Buffer> {
  try {
    return await decompress(bytes, { maxOutputLength: maximumBodyBytes });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(maximumBodyBytes);
    throw new AppError('invalid_request', 'The request body is not valid gzip.');
  }
}

async function readText(request: Request): Promise<string> {
  const isCompressed = encodingOf(request.headers) === 'gzip';
  const bytes = isCompressed ? await decompressed(await readBytes(request)) : await readBytes(request);
  if (bytes.byteLength > longBodyBytes) await nextTurn();
  try {
    return decoder.decode(bytes);
  } catch {
    throw new AppError('invalid_request', 'The request body is not valid UTF-8.');
  }
}

/** Random, so that no caller can choose names with equal hashes. */
const hashFactor = randomInt(2 ** 31) | 1;

/** The offset of the quote that ends the text at `from`. Native searches skip everything between quotes. */
function endOfText(json: string, from: number): number {
  let end = json.indexOf('"', from);
  while (end !== -1) {
    let start = end;
    while (start > from && json.charCodeAt(start - 1) === 92) start -= 1;
    if ((end - start) % 2 === 0) return end;
    end = json.indexOf('"', end + 1);
  }
  return json.length;
}

function hashOf(json: string, start: number, end: number): number {
  let hash = 0;
  for (let index = start; index < end; index += 1) hash = (Math.imul(hash, hashFactor) + json.charCodeAt(index)) | 0;
  return hash;
}

/** The limit that a JSON text exceeds, or null. Scans it once, without parsing. */
function findExcess(json: string): string | null {
  const names = new Set<number>();
  let [depth, containers, textStart, textEnd] = [0, 0, 0, 0];
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === 34) {
      textStart = index + 1;
      textEnd = index = endOfText(json, textStart);
    } else if (code === 58) {
      // More colons after the same text must not hash it again.
      if (names.add(hashOf(json, textStart, textEnd)).size > maxFieldNames)
        return `has more than ${maxFieldNames.toLocaleString('en')} field names. Send less in one request`;
      textStart = textEnd;
    } else if (code === 91 || code === 123) {
      depth += 1;
      containers += 1;
      if (depth > maxDepth) return `is nested more than ${maxDepth} levels deep`;
      if (containers > maxContainers) {
        return `has more than ${maxContainers.toLocaleString('en')} lists and objects. Send less in one request`;
      }
    } else if (code === 93 || code === 125) depth -= 1;
  }
  return null;
}

/** The path of a field named `__proto__`, if there is one. It is built while the recursion returns, because few bodies have one. */
function findPrototypeField(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const isList = Array.isArray(value);
  for (const name of Object.keys(value)) {
    const inner = name === '__proto__' ? '' : findPrototypeField((value as Record<string, unknown>)[name]);
    if (inner === null) continue;
    const step = isList ? `[${name}]` : name;
    return inner === '' || inner.startsWith('[') ? step + inner : `${step}.${inner}`;
  }
  return null;
}

/** Copying an object silently drops such a field, so it would be neither sent nor stored. */
function rejectPrototypeFields(body: unknown): void {
  const field = findPrototypeField(body);
  if (field === null) return;
  const issue = 'is a name that no field can have';
  throw new AppError('invalid_request', `${field.slice(0, 200)} ${issue}.`, {
    details: [{ field: field.slice(0, 200), issue }],
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('invalid_request', 'The request body is not valid JSON.');
  }
}

/**
 * Reads a JSON body of at most 4 MB, decompressed. Throws `payload_too_large`, and `invalid_request` for a body that isn't UTF-8 or JSON, exceeds one
 * of the limits above, or has a field named `__proto__`. An empty body is `undefined`.
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const text = await readText(request);
  if (text === '') return undefined;
  const excess = text.length < shortestScanned ? null : findExcess(text);
  if (excess !== null) throw new AppError('invalid_request', `The request body ${excess}.`);
  const isLong = text.length > longBodyBytes;
  if (isLong) await nextTurn();
  const body = parseJson(text);
  if (text.includes('__proto__')) rejectPrototypeFields(body);
  if (isLong) await nextTurn();
  return body;
}
