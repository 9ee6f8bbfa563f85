import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../shared/app-error.ts';
import type { ParsedSource, SourcePage } from './parsing/parsed-source.ts';

/** The offsets of the extracted text count UTF-16 units, and each is two bytes of its file, so any part can be read alone. */
const unitBytes = 2;
const unitsAtOnce = 262_144;

/** A file that is being uploaded. Disposing of it removes the received bytes unless `keep` was called. */
export interface IncomingFile extends AsyncDisposable {
  readonly id: string;
  readonly path: string;
  /** Bytes that have arrived. */
  bytes(): number;
  /** Writes everything that arrives, at the disk's pace. Everything is synced when it resolves. */
  receive(content: Readable): Promise<void>;
  /** Moves it to its final path, with its id. */
  keep(): Promise<void>;
}

/** Part of the extracted text of a source. */
export interface ExtractedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly characters: number;
  readonly pages: readonly SourcePage[] | null;
}

/** The files of sources and their extracted texts, with a folder for each source. */
export interface SourceFiles {
  incoming(): Promise<IncomingFile>;
  /** Moves files that had arrived when the process ended to their final paths, and removes files without a source. */
  recover(isKnown: (id: string) => boolean): Promise<void>;
  path(id: string): string;
  exists(id: string): Promise<boolean>;
  writeText(id: string, parsed: Pick<ParsedSource, 'text' | 'pages'>): Promise<void>;
  /** Null if nothing was extracted yet. Offsets outside of the text are clamped. */
  readText(id: string, range: { start: number; end: number }): Promise<ExtractedText | null>;
  /** The pages of the extracted text; null if it has none. */
  readPages(id: string): Promise<readonly SourcePage[] | null>;
  remove(ids: readonly string[]): Promise<void>;
}

/** Only the owner may read files of sources. */
const folderMode = 0o700;
const fileMode = 0o600;

/** Halves of characters, which are removed at the ends of a part. */
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/**
 * Makes one folder in one that exists. Making the whole path would create a second data folder, on another disk, while the disk of
 * the real one is away.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: folderMode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    if (!isMissing(error)) throw error;
    throw new AppError('internal', 'The data folder is missing. Reconnect the disk that it is on and try again.', {
      cause: error,
    });
  }
}

export function createSourceFiles(directory: string): SourceFiles {
  const incomingFolder = join(directory, 'incoming');
  const folderOf = (id: string) => join(directory, id);
  const path = (id: string) => join(folderOf(id), 'original');
  const textPath = (id: string) => join(folderOf(id), 'text');
  const pagesPath = (id: string) => join(folderOf(id), 'pages.json');

  async function moveToStore(id: string): Promise<void> {
    await makeFolder(folderOf(id));
    await rename(join(incomingFolder, id), path(id));
  }

  /** Writes under another name until the file is complete, so that a crash never leaves a partial file. */
  async function writeWhole(file: string, content: string | Iterable<Uint8Array>): Promise<void> {
    await writeFile(`${file}.partial`, content, { mode: fileMode });
    await rename(`${file}.partial`, file);
  }

  async function readPages(id: string): Promise<SourcePage[] | null> {
    return JSON.parse(await readFile(pagesPath(id), 'utf8')) as SourcePage[] | null;
  }

  return {
    path,
    readPages,
    exists: async (id) => (await stat(path(id)).catch(() => null)) !== null,
    async incoming() {
      await makeFolder(directory);
      await makeFolder(incomingFolder);
      return new ArrivingFile(randomUUID(), incomingFolder, moveToStore);
    },
    async recover(isKnown) {
      const ids = await readdir(incomingFolder).catch(() => []);
      for (const id of ids) {
        if (isKnown(id)) await moveToStore(id);
        else await rm(join(incomingFolder, id), { recursive: true, force: true });
      }
    },
    async writeText(id, { text, pages }) {
      await writeWhole(pagesPath(id), JSON.stringify(pages));
      await writeWhole(textPath(id), encoded(text));
    },
    async readText(id, range) {
      try {
        const pages = await readPages(id);
        const part = await readUnits(textPath(id), range);
        const touches = (page: SourcePage) => page.start < part.end && page.end > part.start;
        return { ...part, pages: pages?.filter(touches) ?? null };
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async remove(ids) {
      for (const id of ids) await rm(folderOf(id), { recursive: true, force: true });
    },
  };
}

class ArrivingFile implements IncomingFile {
  readonly id: string;
  readonly path: string;
  readonly #moveToStore: (id: string) => Promise<void>;
  #bytes = 0;
  #isStored = false;

  constructor(id: string, folder: string, moveToStore: (id: string) => Promise<void>) {
    this.id = id;
    this.path = join(folder, id);
    this.#moveToStore = moveToStore;
  }

  bytes(): number {
    return this.#bytes;
  }

  async receive(content: Readable): Promise<void> {
    const file = createWriteStream(this.path, { mode: fileMode, flush: true });
    await pipeline(content, file);
    this.#bytes = file.bytesWritten;
  }

  async keep(): Promise<void> {
    this.#isStored = true;
    await this.#moveToStore(this.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isStored) await rm(this.path, { force: true });
  }
}

/** Text as UTF-16 in chunks: a long text would block the process and double its memory. */
function* encoded(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length; start += unitsAtOnce) {
    yield Buffer.from(text.slice(start, start + unitsAtOnce), 'utf16le');
  }
}

/** Reads a part of a file of UTF-16 units, without half characters at its ends. */
async function readUnits(
  file: string,
  range: { start: number; end: number },
): Promise<{ text: string; start: number; end: number; characters: number }> {
  await using handle = await open(file);
  const characters = (await handle.stat()).size / unitBytes;
  let start = Math.min(range.start, characters);
  let end = Math.min(Math.max(range.end, start), characters);
  const bytes = Buffer.alloc((end - start) * unitBytes);
  await handle.read(bytes, 0, bytes.length, start * unitBytes);
  let text = bytes.toString('utf16le');
  if (isLowSurrogate(text.charCodeAt(0))) {
    text = text.slice(1);
    start += 1;
  }
  if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
    text = text.slice(0, -1);
    end -= 1;
  }
  return { text, start, end, characters };
}
