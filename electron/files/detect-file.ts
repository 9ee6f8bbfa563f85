import { open } from 'node:fs/promises';
import { fileTypeFromBuffer } from 'file-type';
import { AppError, invalidField } from '../../shared/app-error.ts';
import { type FileMediaType, fileMediaTypes, isTextType } from '../../shared/contract/files.ts';
import { detectMediaType, isSvg } from '../knowledge/parsing/detect-media-type.ts';
import { looksLikeText } from '../knowledge/parsing/text-encoding.ts';

/** The sample that `file-type` needs. Its parsers see no more of a hostile file. */
const signatureBytes = 4_100;

/** Comments before the root element of an SVG image can be longer than a signature. */
const headBytes = 65_536;

/** Other names of the accepted types, as clients and `file-type` write them. */
const aliases: Readonly<Record<string, FileMediaType>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/apng': 'image/png',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
  'text/x-markdown': 'text/markdown',
  'audio/mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'audio/m4a': 'audio/mp4',
  'audio/x-m4a': 'audio/mp4',
  'audio/opus': 'audio/ogg',
  'application/ogg': 'audio/ogg',
};

const known: ReadonlySet<string> = new Set(fileMediaTypes);

/** The accepted type of this name, or null. */
function acceptedType(name: string): FileMediaType | null {
  const essence = name.split(';', 1)[0]!.trim().toLowerCase();
  return aliases[essence] ?? (known.has(essence) ? (essence as FileMediaType) : null);
}

const supported = 'PNG, JPEG, WebP and GIF images, PDF, text, and MP3, WAV, OGG, FLAC, AAC and M4A audio';

const reasons: Readonly<Record<string, string>> = {
  'an SVG image': 'an SVG image, which can hold programs; save it as PNG',
  'an image (HEIC)': 'an image (HEIC); save it as JPEG',
};

function reject(looksLike: string): never {
  throw new AppError(
    'unsupported_media_type',
    `This looks like ${reasons[looksLike] ?? looksLike}. Supported: ${supported}.`,
    {
      details: [{ field: 'file', issue: `looks like ${looksLike}` }],
    },
  );
}

/** Types of sources that aren't accepted as a file of a prompt, because no model supports them. */
const wordDocument = 'a Word document; save it as PDF';

async function detectDocument(path: string, fileName: string, signal: AbortSignal): Promise<FileMediaType> {
  let mediaType: string;
  try {
    mediaType = await detectMediaType({ path, fileName }, { signal });
  } catch (error) {
    const issue = error instanceof AppError && error.code === 'unsupported_media_type' ? error.details[0]?.issue : null;
    if (!issue) throw error;
    return reject(issue.replace(/^looks like /, ''));
  }
  return acceptedType(mediaType) ?? reject(wordDocument);
}

async function readHead(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.subarray(0, bytesRead);
}

export interface DetectedFile {
  readonly path: string;
  readonly fileName: string;
  /** The caller's type; null for none. */
  readonly claimed: string | null;
}

/**
 * The type of a file by its content. Throws `unsupported_media_type`, with the detected type, for a type that isn't accepted, and
 * `invalid_request` for an empty file and for content that isn't of the claimed type.
 */
export async function detectFile(
  { path, fileName, claimed }: DetectedFile,
  { signal }: { readonly signal: AbortSignal },
): Promise<FileMediaType> {
  const head = await readHead(path);
  const start = head.subarray(0, signatureBytes);
  // Signatures such as `GIF8` may be the first word of a text.
  const isText = looksLikeText(start);
  if (isText && isSvg(head)) reject('an SVG image');
  const signature = isText ? undefined : await fileTypeFromBuffer(Uint8Array.from(start));
  const isMedia = signature !== undefined && /^(?:image|audio)\/|^application\/ogg$/.test(signature.mime);
  const media = isMedia ? acceptedType(signature.mime) : null;
  const detected = media ?? (await detectDocument(path, fileName, signal));
  if (claimed === null) return detected;
  const expected = acceptedType(claimed);
  if (isTextType(detected)) {
    if (expected !== null && isTextType(expected)) return expected;
    // Text files have many types, most of which are not in the list: `application/xml`, `text/x-python`.
    if (expected === null && !/^(?:image|audio|video|font)\//i.test(claimed.trim())) return detected;
  } else if (expected === detected) return detected;
  throw invalidField(
    'file',
    `is ${detected}, not ${claimed.slice(0, 100)}`,
    `The file claims to be ${claimed.slice(0, 100)}, but its content is ${detected}. Send it with its own type.`,
  );
}
