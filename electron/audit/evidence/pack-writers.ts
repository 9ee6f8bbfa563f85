import { join } from 'node:path';
import { type FileHandle, open } from 'node:fs/promises';
import type { ExportColumn } from '../../../shared/contract/audit-exports.ts';
import { csvLine } from '../../common/csv.ts';
import type { ExportRecord } from './export-record.ts';
import { conversationSection, conversationsOfPage, pageEnd, type PageHead, pageName, pageStart } from './html-page.ts';
import type { PackNames } from './pack-details.ts';

/** Bytes that are buffered before a write. */
const bufferBytes = 256 * 1024;

/** A file that is appended to, and can continue from any earlier length. */
export class OutputFile {
  readonly #handle: FileHandle;
  #pending: string[] = [];
  #pendingLength = 0;
  #bytes: number;

  private constructor(handle: FileHandle, bytes: number) {
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** Opens a file and truncates it to `bytes`. */
  static async open(file: string, bytes: number): Promise<OutputFile> {
    const handle = await open(file, bytes === 0 ? 'w' : 'r+', 0o600);
    try {
      await handle.truncate(bytes);
      return new OutputFile(handle, bytes);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Written bytes, without buffered ones. */
  get bytes(): number {
    return this.#bytes;
  }

  async write(text: string): Promise<void> {
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#pendingLength >= bufferBytes) await this.#flush();
  }

  /** Resolves when everything is on disk. */
  async sync(): Promise<void> {
    await this.#flush();
    await this.#handle.datasync();
  }

  /** Closes the file without writing the buffer. */
  close(): Promise<void> {
    return this.#handle.close();
  }

  async #flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending.join(''), 'utf8');
    this.#pending = [];
    this.#pendingLength = 0;
    for (let written = 0; written < bytes.length;) {
      const result = await this.#handle.write(bytes, written, bytes.length - written, this.#bytes + written);
      written += result.bytesWritten;
    }
    this.#bytes += bytes.length;
  }
}

/** Writes one format of a pack, conversation by conversation. */
export interface PackWriter {
  /**
   * `position` counts the conversations of the pack from 0. `records` is empty if the conversation was removed meanwhile. `names` are the
   * names for the records, for HTML pages.
   */
  write(position: number, records: readonly ExportRecord[], names: readonly PackNames[]): Promise<void>;
  /** Writes the end of the last file. */
  end(): Promise<void>;
  /** Resolves with the lengths of all files of this format when they are on disk. */
  sync(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

type Lengths = Readonly<Record<string, number>>;

async function lineWriter(
  folder: string,
  name: string,
  lengths: Lengths,
  head: string,
  line: (record: ExportRecord) => string,
): Promise<PackWriter> {
  const file = await OutputFile.open(join(folder, name), lengths[name] ?? 0);
  if (file.bytes === 0 && head !== '') await file.write(head);
  return {
    write: async (_, records) => {
      for (const record of records) await file.write(line(record));
    },
    end: async () => {},
    sync: async () => {
      await file.sync();
      return { [name]: file.bytes };
    },
    close: () => file.close(),
  };
}

export function createJsonLinesWriter(folder: string, lengths: Lengths): Promise<PackWriter> {
  return lineWriter(folder, 'evidence.jsonl', lengths, '', (record) => `${JSON.stringify(record)}\n`);
}

export function createCsvWriter(
  folder: string,
  lengths: Lengths,
  columns: readonly ExportColumn[],
): Promise<PackWriter> {
  return lineWriter(folder, 'evidence.csv', lengths, csvLine(columns), (record) =>
    csvLine(columns.map((column) => record[column])),
  );
}

/**
 * Writes pages with a fixed number of conversations, so that browsers can open them. `conversations` is the number of written ones. A page
 * ends only when the next one starts, so a full page may still be open.
 */
export async function createHtmlWriter(
  folder: string,
  lengths: Lengths,
  head: PageHead,
  conversations: number,
): Promise<PackWriter> {
  const known: Record<string, number> = Object.fromEntries(
    Object.entries(lengths).filter(([name]) => name.endsWith('.html')),
  );
  let page = Math.max(1, Math.ceil(conversations / conversationsOfPage));
  let file = await openPage();

  async function openPage(): Promise<OutputFile> {
    const opened = await OutputFile.open(join(folder, pageName(page)), known[pageName(page)] ?? 0);
    if (opened.bytes === 0) await opened.write(pageStart(head, page));
    return opened;
  }

  async function sync(): Promise<Record<string, number>> {
    await file.sync();
    known[pageName(page)] = file.bytes;
    return { ...known };
  }

  async function end(): Promise<void> {
    await file.write(pageEnd(head, page));
  }

  return {
    async write(position, records, names) {
      const nextPage = Math.floor(position / conversationsOfPage) + 1;
      if (nextPage !== page) {
        await end();
        await sync();
        await file.close();
        page = nextPage;
        file = await openPage();
      }
      if (records.length > 0)
        await file.write(conversationSection({ position: position + 1, records, names, timeZone: head.timeZone }));
    },
    end,
    sync,
    close: () => file.close(),
  };
}
