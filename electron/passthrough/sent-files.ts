import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AppError } from '../../shared/app-error.ts';
import type { FilePart, MessagePart } from '../../shared/contract/messages.ts';
import type { PromptFiles } from '../completions/prompt-file.ts';
import type { Files } from '../files/create-files.ts';
import type { Log } from '../log.ts';

/** A file inside a request. */
export interface SentFile {
  readonly part: FilePart;
  readonly content: Buffer;
}

const extensions: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'image/png': 'png',
    'image/jpeg': 'jpg',
    'image/gif': 'gif',
    'image/webp': 'webp',
    'application/pdf': 'pdf',
    'audio/wav': 'wav',
    'audio/mpeg': 'mp3',
  }),
);

/** Collects the files of one request. Their messages refer to them by the hash of their content. */
export class SentFiles {
  readonly #files = new Map<string, SentFile>();
  readonly #maxCharacters: number;
  #missing: string | null = null;

  /** `keepsWhole` is whether rules of redaction follow: the start of what they look for isn't found. */
  constructor(keepsWhole: boolean) {
    this.#maxCharacters = keepsWhole ? Number.POSITIVE_INFINITY : 2000;
  }

  /** The start of an address, or of a part of an unknown kind, which may be a whole film. */
  startOf(text: string): string {
    return text.slice(0, this.#maxCharacters);
  }

  get list(): readonly SentFile[] {
    return [...this.#files.values()];
  }

  /** The address, the id or the type of the first file whose content isn't in the request. */
  get missing(): string | null {
    return this.#missing;
  }

  #withoutContent(name: string): MessagePart {
    this.#missing ??= name;
    return { type: 'text', text: `[${name}]` };
  }

  /** The part for a file in base64. */
  add(mediaType: string, base64: string, name = ''): MessagePart {
    const content = Buffer.from(base64, 'base64');
    if (content.length === 0) return this.#withoutContent(mediaType || 'file');
    const fileId = createHash('sha256').update(content).digest('hex');
    const fileName = name || `file.${extensions.get(mediaType) ?? 'bin'}`;
    const part: FilePart = { type: 'file', fileId, mediaType, name: fileName, bytes: content.length };
    this.#files.set(fileId, { part, content });
    return part;
  }

  /** The part for a `data:` URL, or the text of any other address. */
  addUrl(url: string, name = ''): MessagePart {
    const comma = url.startsWith('data:') ? url.indexOf(',') : -1;
    const head = comma === -1 ? '' : url.slice(5, comma);
    if (!head.endsWith(';base64')) return this.#withoutContent(this.startOf(url));
    return this.add(head.slice(0, head.indexOf(';')), url.slice(comma + 1), name);
  }
}

/** The contents of the files that messages refer to. */
export function promptFiles(files: readonly SentFile[]): PromptFiles {
  return new Map(
    files.map(({ part, content }) => {
      const stored = { id: part.fileId, name: part.name, bytes: part.bytes, width: null, height: null, pages: null };
      return [part.fileId, { ...stored, mediaType: part.mediaType as never, data: content }];
    }),
  );
}

/** Stores the files of a request, whose messages refer to them already, until the signal aborts. */
export async function storeFiles(
  sent: readonly SentFile[],
  callerId: string,
  { files, log, signal }: { readonly files: Files; readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  for (const { part, content } of sent) {
    if (signal.aborted) return;
    try {
      await using incoming = await files.incoming();
      await incoming.receive({
        content: Readable.from([content]),
        fileName: part.name,
        mediaType: part.mediaType || null,
      });
      await incoming.store({ signal, callerId, keepLocation: true });
    } catch (error) {
      if (!(error instanceof AppError) && !signal.aborted) log('a file of a recorded call could not be stored', error);
    }
  }
}
