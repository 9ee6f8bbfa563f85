import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../shared/app-error.ts';
import { type FileMediaType, maxFileBytes, type StoredFile } from '../../shared/contract/files.ts';
import type { Log } from '../log.ts';
import type { SourceReader } from '../knowledge/parsing/parsed-source.ts';
import type { FileReader, FileStore } from '../storage/file-store.ts';
import { FileFolder } from './file-folder.ts';
import type { FileInspector } from './inspect-file.ts';
import type { PageRenderer, RenderedPage } from './render-pages.ts';

const hourMilliseconds = 3_600_000;

export interface NewFile {
  readonly content: Readable;
  /** The caller's file name; may be empty. */
  readonly fileName: string;
  /** The caller's type; null for none. */
  readonly mediaType: string | null;
}

interface Cancellable {
  readonly signal: AbortSignal;
}

interface StoreOptions extends Cancellable {
  readonly callerId: string;
  readonly keepLocation: boolean;
}

/** A file that has arrived but isn't stored yet. Disposing of it removes the received bytes. */
export interface ReceivedFile extends AsyncDisposable {
  /** Writes the content at the pace of the disk. */
  receive(file: NewFile): Promise<void>;
  /**
   * Stores the content once. Throws `unsupported_media_type` for a type that isn't accepted, and `invalid_request` for an empty or
   * damaged file and for one that claims another type.
   */
  store(options: StoreOptions): Promise<NewlyStored>;
}

export interface NewlyStored {
  readonly file: StoredFile;
  /** Whether this caller sends the content for the first time. */
  readonly isNew: boolean;
}

export interface FileDownload {
  readonly file: StoredFile;
  readonly stream: Readable;
}

/** The files of prompts. */
export interface Files {
  incoming(): Promise<ReceivedFile>;
  /** Null for an unknown file, and for one that this reader may not read. */
  find(id: string, reader: FileReader): StoredFile | null;
  /** Finds a file that is in use, which then stays longer. Throws `not_found`. */
  keep(id: string, reader: FileReader): StoredFile;
  /** Throws `not_found`, and `internal` if the content is missing from the disk. */
  download(id: string, reader: FileReader): Promise<FileDownload>;
  /**
   * A text file with the text of a PDF, which it stores for the caller. Throws `invalid_request` if the PDF contains no text, and
   * `payload_too_large` for more than 20 MB of it.
   */
  textOf(pdf: StoredFile, options: Cancellable & { readonly callerId: string }): Promise<StoredFile>;
  /**
   * Images of pages of a PDF, in the order of their numbers, which it stores for the caller. Throws `invalid_request` with the reason if
   * a page can't be rendered.
   */
  pagesOf(
    pdf: StoredFile,
    options: Cancellable & { readonly callerId: string; readonly pages: readonly number[]; readonly pixels: number },
  ): Promise<StoredFile[]>;
  /** The content of a file. Extends the time for which it is stored by a day. Throws `internal` if the content is missing from the disk. */
  read(file: Pick<StoredFile, 'id' | 'name'>): Promise<Buffer>;
  /** Removes files that no run uses any more, and content without a row, which a crash can leave behind. */
  removeUnused(options?: { readonly now?: number }): Promise<void>;
  close(): Promise<void>;
}

export interface FilesOptions {
  readonly directory: string;
  readonly store: FileStore;
  readonly inspector: FileInspector & PageRenderer & Pick<SourceReader, 'readSource'>;
  /** Who sends the files of the window, which stay longer. */
  readonly windowCallerId: string;
  /** When the newest backup of the database was made, in milliseconds since 1970; null without one. */
  readonly lastBackupAt: () => number | null;
  readonly log: Log;
}

const needsInspection = (mediaType: FileMediaType) => mediaType.startsWith('image/') || mediaType === 'application/pdf';
const hasMetadata = (mediaType: FileMediaType) => ['image/jpeg', 'image/png', 'image/webp'].includes(mediaType);

async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest('hex');
}

class Incoming implements ReceivedFile {
  readonly #folder: FileFolder;
  readonly #inspector: FileInspector;
  readonly #path: string;
  #fileName = '';
  #claimed: string | null = null;

  constructor(folder: FileFolder, inspector: FileInspector) {
    this.#folder = folder;
    this.#inspector = inspector;
    this.#path = folder.incomingPath();
  }

  async receive({ content, fileName, mediaType }: NewFile): Promise<void> {
    this.#fileName = fileName;
    this.#claimed = mediaType;
    await pipeline(content, createWriteStream(this.#path, { mode: 0o600, flush: true }));
  }

  async store({ signal, callerId, keepLocation }: StoreOptions): Promise<NewlyStored> {
    const detected = { path: this.#path, fileName: this.#fileName, claimed: this.#claimed };
    const { detectFile } = await import('./detect-file.ts');
    const mediaType = await detectFile(detected, { signal });
    const cleanPath = hasMetadata(mediaType) && !keepLocation ? this.#cleanPath : null;
    const size = needsInspection(mediaType)
      ? await this.#inspector.inspectFile({ path: this.#path, mediaType, cleanPath }, { signal })
      : { width: null, height: null, pages: null };
    const path = cleanPath ?? this.#path;
    const id = await hashFile(path, signal);
    const { size: bytes } = await stat(path);
    const file = { id, mediaType, name: this.#fileName || nameFor(mediaType), bytes, ...size };
    return { file, isNew: await this.#folder.store(path, file, callerId) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of [this.#path, this.#cleanPath]) await rm(path, { force: true });
  }

  get #cleanPath(): string {
    return `${this.#path}.clean`;
  }
}

/** For a file without a name. */
function nameFor(mediaType: FileMediaType): string {
  return mediaType.startsWith('text/') ? 'file.txt' : `file.${mediaType.split('/')[1]!.replace('mpeg', 'mp3')}`;
}

/** Names what is converted from a PDF. Callers give the same PDF different names, so this is never the name of another caller. */
const titleOf = ({ name }: StoredFile) => name.replace(/\.pdf$/i, '');

/** More conversions than these are made again. */
const maxKnownTexts = 200;

/** Keeps which text belongs to which PDF, so that a comparison of models reads a PDF once. */
function createTextConversion({ store, inspector }: FilesOptions, folder: FileFolder): Files['textOf'] {
  const known = new Map<string, StoredFile>();
  return async (pdf, { signal, callerId }) => {
    const { id, mediaType, name } = pdf;
    const fileName = `${titleOf(pdf)}.txt`;
    const converted = known.get(id);
    if (converted && store.has(converted.id)) {
      const file = { ...converted, name: fileName };
      store.add(file, callerId);
      return file;
    }
    if (mediaType !== 'application/pdf') throw new TypeError(`${mediaType} has no text to extract`);
    const { text } = await inspector.readSource({ path: folder.pathOf(id), fileName: name, mediaType }, { signal });
    const content = Buffer.from(text);
    if (content.length > maxFileBytes)
      throw new AppError('payload_too_large', `The text of "${name}" is larger than 20 MB. Split the PDF.`);
    await using incoming = new Incoming(folder, inspector);
    await incoming.receive({ content: Readable.from([content]), fileName, mediaType: 'text/plain' });
    const { file } = await incoming.store({ signal, callerId, keepLocation: false });
    if (known.size >= maxKnownTexts) known.clear();
    known.set(id, file);
    return file;
  };
}

/** More images of pages than these are rendered again. */
const maxKnownPages = 2_000;

/** Keeps which image belongs to which page, so that a comparison of models renders a page once. */
function createPageConversion({ store, inspector }: FilesOptions, folder: FileFolder): Files['pagesOf'] {
  const known = new Map<string, StoredFile>();
  const nameOf = (pdf: StoredFile, number: number) => `${titleOf(pdf)}, page ${number}.jpg`;

  async function storeImage(
    pdf: StoredFile,
    { number, path, width, height }: RenderedPage & { readonly number: number; readonly path: string },
    { signal, callerId }: Parameters<Files['pagesOf']>[1],
  ): Promise<StoredFile> {
    const name = nameOf(pdf, number);
    const { size: bytes } = await stat(path);
    const id = await hashFile(path, signal);
    const file: StoredFile = { id, mediaType: 'image/jpeg', name, bytes, width, height, pages: null };
    await folder.store(path, file, callerId);
    return file;
  }

  return async (pdf, options) => {
    const { pages, pixels, signal, callerId } = options;
    const keyOf = (number: number) => `${pdf.id} ${number} ${pixels}`;
    const isKnown = (number: number) => {
      const image = known.get(keyOf(number));
      return image !== undefined && store.has(image.id);
    };
    const images = new Map<number, StoredFile>();
    for (const number of pages.filter(isKnown)) {
      const image = { ...known.get(keyOf(number))!, name: nameOf(pdf, number) };
      store.add(image, callerId);
      images.set(number, image);
    }
    const missing = pages.filter((number) => !images.has(number));
    if (known.size + missing.length > maxKnownPages) known.clear();
    const targets = missing.map((number) => ({ number, path: folder.incomingPath() }));
    try {
      const pdfPath = folder.pathOf(pdf.id);
      const sizes =
        missing.length === 0 ? [] : await inspector.renderPages({ path: pdfPath, pages: targets, pixels }, { signal });
      for (const [index, size] of sizes.entries()) {
        const { number, path } = targets[index]!;
        const image = await storeImage(pdf, { number, path, ...size }, options);
        known.set(keyOf(number), image);
        images.set(number, image);
      }
    } finally {
      for (const { path } of targets) await rm(path, { force: true });
    }
    return pages.map((number) => images.get(number)!);
  };
}

/** Opens the folder of files and removes what an earlier process left behind. */
export async function createFiles(options: FilesOptions): Promise<Files> {
  const { directory, store, inspector, windowCallerId, lastBackupAt, log } = options;
  const folder = new FileFolder(directory, store);

  async function removeUnused({ now = Date.now() }: { readonly now?: number } = {}): Promise<void> {
    await folder.removeUnused(now, windowCallerId);
    // After a restore, files that are newer than the backup have no row. They stay as long as a later backup may contain them.
    await folder.removeOrphans(now, lastBackupAt() ?? -1);
  }

  function requireFile(id: string, reader: FileReader): StoredFile {
    const file = store.find(id, reader);
    if (!file) throw new AppError('not_found', 'No file has this ID.');
    return file;
  }

  const removeOrLog = () =>
    removeUnused().catch((error: unknown) => {
      if (!folder.isClosed) log('files that no run uses could not be removed', error);
    });
  await folder.prepare();
  let removal = removeOrLog();
  const timer = setInterval(() => (removal = removal.then(removeOrLog)), hourMilliseconds).unref();

  return {
    incoming: async () => new Incoming(folder, inspector),
    find: store.find,
    keep(id, reader) {
      const file = requireFile(id, reader);
      store.noteUse(id.toLowerCase());
      return file;
    },
    async download(id, reader) {
      const file = requireFile(id, reader);
      return { file, stream: (await folder.open(file)).createReadStream() };
    },
    textOf: createTextConversion(options, folder),
    pagesOf: createPageConversion(options, folder),
    async read(file) {
      store.noteUse(file.id);
      await using content = await folder.open(file);
      return content.readFile();
    },
    removeUnused,
    async close() {
      clearInterval(timer);
      folder.close();
      await removal;
    },
  };
}
