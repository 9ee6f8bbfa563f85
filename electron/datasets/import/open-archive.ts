import { createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { maxDatasetBytes } from '../../../shared/contract/datasets.ts';
import { maxFileBytes } from '../../../shared/contract/files.ts';
import { type Companion, unreadable } from './table.ts';

const maxEntries = 10_000;
const tableName = /\.(?:csv|tsv|jsonl|ndjson|json|ya?ml|xlsx)$/i;
const documentName = /\.(?:json|ya?ml)$/i;
/** What a configuration refers to as text. */
const textName = /\.(?:csv|tsv|jsonl|ndjson|json|ya?ml|txt|md|[cm]?js|j2|jinja2?|njk)$/i;
const maxTexts = 1000;
/** Of one text and of all of them. Each is parsed at once. */
const maxTextBytes = 4 * 1_048_576;
const maxTextsBytes = 64 * 1_048_576;
/** A longer definition is no definition. */
const maxDefinitionBytes = 1_048_576;
const maxDefinitions = 20;

/** A ZIP file with a table and the files that its cells name. */
export interface TableArchive extends AsyncDisposable {
  /** Paths of its tables. */
  readonly tables: readonly string[];
  readonly table: string;
  /** What cells may name: paths from the table or from the root, and names that only one file has. */
  readonly fileNames: readonly string[];
  /** Writes the table to a file. Throws `invalid_request` for one of more than 200 MB. */
  extractTable(path: string): Promise<void>;
  /** Writes the texts that belong to the table to a folder: what a configuration may refer to, or what may be the definition of rows. */
  extractTexts(directory: string): Promise<Companion[]>;
  openFile(name: string): Promise<{ readonly content: Readable; readonly fileName: string }>;
}

async function isArchive(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
  return bytesRead === 4 && buffer.toString('latin1') === 'PK\u0003\u0004';
}

const isHidden = (path: string) => path.startsWith('__MACOSX/') || path.split('/').some((part) => part.startsWith('.'));

async function entriesOf(archive: ZipFile): Promise<Map<string, Entry> | null> {
  if (archive.entryCount > maxEntries) {
    const count = archive.entryCount.toLocaleString('en');
    throw unreadable(`is a ZIP file of ${count} files, more than ${maxEntries.toLocaleString('en')}`);
  }
  const entries = new Map<string, Entry>();
  for await (const entry of archive.eachEntry()) {
    // A workbook is a ZIP file, too.
    if (entry.fileName === 'xl/workbook.xml') return null;
    if (!entry.fileName.endsWith('/') && !isHidden(entry.fileName)) entries.set(entry.fileName, entry);
  }
  return entries;
}

/** Each file by its names. */
function filesOf(entries: ReadonlyMap<string, Entry>, table: string): Map<string, Entry> {
  const folder = posix.dirname(table);
  const others = [...entries].filter(([path]) => path !== table);
  const byName = Map.groupBy(others, ([path]) => posix.basename(path));
  const files = new Map<string, Entry>();
  for (const [name, [first, second]] of byName) if (first && !second) files.set(name, first[1]);
  for (const [path, entry] of others) {
    files.set(path, entry);
    if (folder !== '.' && path.startsWith(`${folder}/`)) files.set(path.slice(folder.length + 1), entry);
  }
  return files;
}

async function openEntry(archive: ZipFile, entry: Entry, maxBytes: number): Promise<Readable> {
  if (entry.uncompressedSize > maxBytes) {
    const megabytes = maxBytes / 1_048_576;
    throw unreadable(`has "${entry.fileName.slice(0, 100)}" in it, which is larger than ${megabytes} MB`);
  }
  // A stream of more bytes than the entry claims fails.
  return archive.openReadStreamPromise(entry);
}

/** A configuration comes before tables, and tables before what may be their definition. */
function rankOf(path: string): number {
  const name = posix.basename(path).toLowerCase();
  if (/^promptfooconfig.*\.(?:ya?ml|json)$/.test(name)) return 0;
  if (!documentName.test(name)) return 1;
  return /grader|criteria|eval|config|definition/.test(name) ? 3 : 2;
}

const depthOf = (path: string) => path.split('/').length;

const inOrder = (one: string, other: string) =>
  depthOf(one) - depthOf(other) || rankOf(one) - rankOf(other) || one.localeCompare(other);

/** The texts that may belong to a table. */
function textsOf(entries: ReadonlyMap<string, Entry>, table: string): [string, Entry][] {
  const isConfiguration = documentName.test(table);
  const [name, maxBytes, maxCount] = isConfiguration
    ? [textName, maxTextBytes, maxTexts]
    : [documentName, maxDefinitionBytes, maxDefinitions];
  let bytes = 0;
  return [...entries]
    .filter(([path, { uncompressedSize }]) => path !== table && name.test(path) && uncompressedSize <= maxBytes)
    .toSorted(([one], [other]) => rankOf(other) - rankOf(one) || inOrder(one, other))
    .slice(0, maxCount)
    .filter(([, { uncompressedSize }]) => {
      bytes += uncompressedSize;
      return bytes <= maxTextsBytes;
    });
}

const damaged = (error: unknown) =>
  error instanceof Error && !('details' in error) && !('code' in error) ? unreadable('is a damaged ZIP file') : error;

/** Null for anything but a ZIP file, and for a workbook. `sheet` is the path of the table; null is the first one. */
export async function openArchive(path: string, sheet: string | null): Promise<TableArchive | null> {
  if (!(await isArchive(path))) return null;
  const archive = await openPromise(path, { autoClose: false }).catch(() => {
    throw unreadable('is a damaged ZIP file');
  });
  try {
    const entries = await entriesOf(archive);
    if (entries === null) {
      archive.close();
      return null;
    }
    const tables = [...entries.keys()].filter((name) => tableName.test(name)).toSorted(inOrder);
    const table = sheet ?? tables[0];
    if (table === undefined) throw unreadable('is a ZIP file without a table: add a CSV file that names its files');
    const entry = entries.get(table);
    if (!entry || !tables.includes(table))
      throw unreadable(`has no table "${table.slice(0, 100)}"; it has ${tables.slice(0, 20).join(', ')}`);
    const files = filesOf(entries, table);
    return {
      tables,
      table,
      fileNames: [...files.keys()],
      async extractTable(target) {
        try {
          await pipeline(await openEntry(archive, entry, maxDatasetBytes), createWriteStream(target, { mode: 0o600 }));
        } catch (error) {
          throw damaged(error);
        }
      },
      async extractTexts(directory) {
        const texts = textsOf(entries, table);
        if (texts.length > 0) await mkdir(directory, { mode: 0o700 });
        const companions: Companion[] = [];
        try {
          for (const [index, [name, text]] of texts.entries()) {
            const target = join(directory, String(index));
            await pipeline(await openEntry(archive, text, maxTextBytes), createWriteStream(target, { mode: 0o600 }));
            companions.push({ name, path: target });
          }
        } catch (error) {
          throw damaged(error);
        }
        return companions;
      },
      async openFile(name) {
        const found = files.get(name)!;
        return { content: await openEntry(archive, found, maxFileBytes), fileName: posix.basename(found.fileName) };
      },
      [Symbol.asyncDispose]: async () => archive.close(),
    };
  } catch (error) {
    archive.close();
    throw damaged(error);
  }
}
