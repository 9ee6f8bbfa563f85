import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { isTextFile } from './model-translation.ts';
import type { ModelRequest } from './provider.ts';

/** A multiple of three, so that the base64 of the chunks is the base64 of the whole. Encoding one takes about a millisecond. */
const chunkBytes = 3 * 262_144;

/** A shorter text stays in the JSON that a package writes, and so in the stored request. */
const minTextBytes = 65_536;

/** A file that a request contains as base64, or as text. */
interface SentFile {
  /** Stands for the content in the JSON that a package writes. */
  readonly placeholder: string;
  readonly content: Buffer;
  readonly isText: boolean;
  /** Of the content in the body. */
  readonly sentBytes: number;
  /** Stands for the content in stored requests. Touchstone stores it once, beside the database. */
  readonly note: string;
}

export interface RequestBody {
  readonly bytes: number;
  readonly chunks: AsyncIterable<Buffer>;
}

/**
 * The contents of a request's files. Packages write the body with `JSON.stringify`, which blocks the process for 400 ms with 20 MB of
 * base64, and for 700 ms with 20 MB of quotes. They get placeholders, and the contents are encoded while the body is sent.
 */
export interface RequestFiles {
  /** The request with placeholders as the contents. */
  readonly request: ModelRequest;
  /** The body with the contents. */
  fill(body: string): RequestBody;
  /** The body with a note in place of each content. */
  describe(body: string): string;
}

function sentFilesOf({ files, messages }: ModelRequest): Map<string, SentFile> {
  const sent = new Map<string, SentFile>();
  for (const message of messages) {
    for (const part of message.content) {
      const data = part.type === 'file' ? files?.get(part.fileId)?.data : undefined;
      if (part.type !== 'file' || !Buffer.isBuffer(data)) continue;
      const isText = isTextFile(part);
      if (isText && data.length < minTextBytes) continue;
      // As a text, bytes that aren't UTF-8 become replacement characters.
      const content = isText && !isUtf8(data) ? Buffer.from(data.toString()) : data;
      sent.set(part.fileId, {
        placeholder: randomUUID().replaceAll('-', ''),
        content,
        isText,
        sentBytes: isText ? escapedBytes(content) : base64Bytes(content),
        note: `[file ${part.fileId}, ${part.bytes} bytes]`,
      });
    }
  }
  return sent;
}

const base64Bytes = ({ length }: Buffer) => Math.ceil(length / 3) * 4;

/** How many bytes each byte of a text has in a JSON string. */
const escapedLengths = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)).length - 2 : 1,
);

/** The length of a text in a JSON string. 20 MB take 20 ms, and 150 ms with an iterator. */
function escapedBytes(text: Buffer): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) bytes += escapedLengths[text[index]!]!;
  return bytes;
}

/** The end of a chunk of a text, which must not be inside a character. */
function textEnd(text: Buffer, end: number): number {
  let last = Math.min(text.length, end);
  while (last < text.length && (text[last]! & 0xc0) === 0x80) last -= 1;
  return last;
}

async function* encode({ content, isText }: SentFile): AsyncGenerator<Buffer> {
  let start = 0;
  while (start < content.length) {
    const end = isText ? textEnd(content, start + chunkBytes) : Math.min(content.length, start + chunkBytes);
    if (isText) yield Buffer.from(JSON.stringify(content.toString('utf8', start, end)).slice(1, -1));
    else yield Buffer.from(content.toString('base64', start, end), 'latin1');
    start = end;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* chunksOf(parts: readonly (Buffer | SentFile)[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part;
    else yield* encode(part);
  }
}

/** The text of a body, and the files in the positions of their placeholders. */
function partsOf(body: string, files: Iterable<SentFile>): (string | SentFile)[] {
  let parts: (string | SentFile)[] = [body];
  for (const file of files)
    parts = parts.flatMap((part) =>
      typeof part === 'string'
        ? part.split(file.placeholder).flatMap((text, index) => (index === 0 ? [text] : [file, text]))
        : [part],
    );
  return parts;
}

/** Null for a request without files that are sent as base64 or as long texts. */
export function requestFilesOf(request: ModelRequest): RequestFiles | null {
  const sent = sentFilesOf(request);
  if (sent.size === 0) return null;
  const files = new Map(request.files);
  for (const [id, { placeholder }] of sent) files.set(id, { data: placeholder });
  return {
    request: { ...request, files },
    fill(body) {
      const parts = partsOf(body, sent.values()).map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
      const bytes = parts.reduce((sum, part) => sum + (Buffer.isBuffer(part) ? part.length : part.sentBytes), 0);
      return { bytes, chunks: chunksOf(parts) };
    },
    describe: (body) =>
      partsOf(body, sent.values())
        .map((part) => (typeof part === 'string' ? part : part.note))
        .join(''),
  };
}
