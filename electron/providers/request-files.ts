import { randomUUID } from 'node:crypto';
import { isTextFile } from './model-translation.ts';
import type { ModelRequest } from './provider.ts';

/** A multiple of three, so that the base64 of the chunks is the base64 of the whole. Encoding one takes about a millisecond. */
const chunkBytes = 3 * 262_144;

/** A file that a request contains as base64. */
interface SentFile {
  /** Stands for the content in the JSON that a package writes. */
  readonly placeholder: string;
  readonly content: Buffer;
  /** Stands for the content in stored requests. Touchstone stores it once, beside the database. */
  readonly note: string;
}

export interface RequestBody {
  readonly bytes: number;
  readonly chunks: AsyncIterable<Buffer>;
}

/**
 * The contents of a request's files. Packages write the body with `JSON.stringify`, which blocks the process for 400 ms with 20 MB of
 * base64. They get placeholders, and the contents are encoded while the body is sent.
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
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type !== 'file' || isTextFile(part)) continue;
      const data = files?.get(part.fileId)?.data;
      if (!Buffer.isBuffer(data)) continue;
      const placeholder = randomUUID().replaceAll('-', '');
      sent.set(part.fileId, { placeholder, content: data, note: `[file ${part.fileId}, ${part.bytes} bytes]` });
    }
  }
  return sent;
}

const base64Bytes = ({ length }: Buffer) => Math.ceil(length / 3) * 4;

async function* encode(content: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += chunkBytes) {
    yield Buffer.from(content.toString('base64', start, Math.min(content.length, start + chunkBytes)), 'latin1');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* chunksOf(parts: readonly (Buffer | SentFile)[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part;
    else yield* encode(part.content);
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

/** Null for a request without files that are sent as base64. */
export function requestFilesOf(request: ModelRequest): RequestFiles | null {
  const sent = sentFilesOf(request);
  if (sent.size === 0) return null;
  const files = new Map(request.files);
  for (const [id, { placeholder }] of sent) files.set(id, { data: placeholder });
  return {
    request: { ...request, files },
    fill(body) {
      const parts = partsOf(body, sent.values()).map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
      const bytes = parts.reduce(
        (sum, part) => sum + (Buffer.isBuffer(part) ? part.length : base64Bytes(part.content)),
        0,
      );
      return { bytes, chunks: chunksOf(parts) };
    },
    describe: (body) =>
      partsOf(body, sent.values())
        .map((part) => (typeof part === 'string' ? part : part.note))
        .join(''),
  };
}
