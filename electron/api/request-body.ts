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

/** Throws `unsupported_media_type` unless the request says that its body is one of the media types. */
export function requireMediaType(headers: Headers, mediaTypes: readonly string[]): void {
  const contentType = headers.get('content-type');
  if (contentType !== null && matchesMediaType(contentType, mediaTypes)) return;
  throw new AppError('unsupported_media_type', `Send the body as ${mediaTypes.join(' or ')}, named in content-type.`);
}

async function readChunks(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maximumBodyBytes) throw tooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function readText(request: Request): Promise<string> {
  const announced = request.headers.get('content-length');
  if (announced !== null && Number(announced) > maximumBodyBytes) throw tooLarge();
  try {
    // An announced length is enforced by the listener, so that only bodies without one have to be counted here.
    if (announced !== null) return await request.text();
    return request.body === null ? '' : await readChunks(request.body);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_request', 'The request body ended before it was complete.', { cause: error });
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

/**
 * Reads a JSON body of at most 4 MB. Throws `payload_too_large`, or `invalid_request` for text that is not JSON or nested
 * more than 500 levels deep. An empty body is `undefined`.
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const text = await readText(request);
  if (text === '') return undefined;
  if (text.length >= shortestDeepText && isTooDeep(text)) {
    throw new AppError('invalid_request', `The request body is nested more than ${maximumDepth} levels deep.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('invalid_request', 'The request body is not valid JSON.');
  }
}
