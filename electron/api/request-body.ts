import { AppError } from '../../shared/app-error.ts';

/** Most bytes of a JSON body: 4 MB. */
export const maximumBodyBytes = 4 * 1_048_576;

/** A body nested deeper than this is refused: writing it down again would overflow the stack. */
const maximumDepth = 500;

/** A shorter text cannot be nested deeply enough to do harm, so that it need not be looked at. */
const shortestDeepText = 2 * maximumDepth;

const tooLarge = () =>
  new AppError(
    'payload_too_large',
    'The request body is larger than 4 MB (4,194,304 bytes). Send less in one request.',
  );

/** Whether a `content-type` is one of the media types; `application/*+json` stands for any structured suffix. */
function matchesMediaType(contentType: string, mediaTypes: readonly string[]): boolean {
  const essence = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  return mediaTypes.some((mediaType) =>
    mediaType === 'application/*+json' ? /^application\/[^\s/+][^\s/]*\+json$/.test(essence) : essence === mediaType,
  );
}

/** Whether the parameters of a `content-type` leave a text in UTF-8, the only encoding of JSON between programs. */
function isInUtf8(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** Throws `unsupported_media_type` unless a body is one of the media types, in UTF-8 and not compressed, by its headers. */
export function requireMediaType(headers: Headers, mediaTypes: readonly string[]): void {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity') {
    throw new AppError('unsupported_media_type', 'Send the body as it is, without content-encoding.');
  }
  const contentType = headers.get('content-type');
  if (contentType === null || !matchesMediaType(contentType, mediaTypes)) {
    throw new AppError('unsupported_media_type', `Send the body as ${mediaTypes.join(' or ')}, named in content-type.`);
  }
  if (!isInUtf8(contentType)) throw new AppError('unsupported_media_type', 'Send the body in UTF-8.');
}

/** What is no UTF-8 is refused: with other characters in its place the wrong text would be run and kept. */
const decoder = new TextDecoder('utf-8', { fatal: true });

async function readChunks(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maximumBodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  if (announced !== null && Number(announced) > maximumBodyBytes) throw tooLarge();
  try {
    // An announced length is enforced by the listener, so that only bodies without one have to be counted here.
    if (announced !== null) return await request.bytes();
    return request.body === null ? new Uint8Array() : await readChunks(request.body);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_request', 'The request body ended before it was complete.', { cause: error });
  }
}

async function readText(request: Request): Promise<string> {
  const bytes = await readBytes(request);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new AppError('invalid_request', 'The request body is not valid UTF-8.');
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === 92) index += 1;
      else if (code === 34) isInString = false;
    } else if (code === 34) isInString = true;
    else if (code === 91 || code === 123) {
      depth += 1;
      if (depth > maximumDepth) return true;
    } else if (code === 93 || code === 125) depth -= 1;
  }
  return false;
}

/** The path of a field named `__proto__`, if there is one. */
function findPrototypeField(value: unknown, path: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : `${path === '' ? '' : '.'}${name}`;
    const found = name === '__proto__' ? path + step : findPrototypeField(inner, path + step);
    if (found !== null) return found;
  }
  return null;
}

/** An object that is copied loses such a field: what was sent would be neither run nor kept, and nobody told. */
function refusePrototypeFields(body: unknown): void {
  const field = findPrototypeField(body, '');
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
 * Reads a JSON body of at most 4 MB. Throws `payload_too_large`, or `invalid_request` for what is not UTF-8, not JSON,
 * nested more than 500 levels deep or has a field named `__proto__`. An empty body is `undefined`.
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const text = await readText(request);
  if (text === '') return undefined;
  if (text.length >= shortestDeepText && isTooDeep(text)) {
    throw new AppError('invalid_request', `The request body is nested more than ${maximumDepth} levels deep.`);
  }
  const body = parseJson(text);
  if (text.includes('__proto__')) refusePrototypeFields(body);
  return body;
}
