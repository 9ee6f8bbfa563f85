import { join } from 'node:path';
import { type FileHandle, open } from 'node:fs/promises';
import type { ExportColumn } from '../../../shared/contract/audit-exports.ts';
import { csvLine } from '../../common/csv.ts';
import type { ExportRecord } from './export-record.ts';
import { conversationSection, conversationsOfPage, pageEnd, type PageHead, pageName, pageStart } from './html-page.ts';
import type { PackNames } from './pack-details.ts';

/** Bytes that are collected before they are written. */
const bufferBytes = 256 * 1024;

/** A file that grows at its end and can be gone on with from any length that it had. */
export class OutputFile {
  readonly #handle: FileHandle;
  #pending: string[] = [];
  #pendingLength = 0;
  #bytes: number;

  private constructor(handle: FileHandle, bytes: number) {
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** Opens a file and cuts off what was written after `bytes`. */
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

  /** Bytes that are written; what was only collected is not counted. */
  get bytes(): number {
    return this.#bytes;
  }

  async write(text: string): Promise<void> {
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#pendingLength >= bufferBytes) await this.#flush();
  }

  /** Resolves when the disk has everything. */
  async sync(): Promise<void> {
    await this.#flush();
    await this.#handle.datasync();
  }

  /** Closes without writing what was only collected. */
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
   * `position` counts the conversations of the pack from 0; `records` is empty for one that was removed meanwhile. `names` are those of
   * the records, for pages that people read.
   */
  write(position: number, records: readonly ExportRecord[], names: readonly PackNames[]): Promise<void>;
  /** Writes what ends the last file. */
  end(): Promise<void>;
  /** Resolves with the lengths of all files of this format when the disk has them. */
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
 * Writes pages of a fixed number of conversations, so that no page outgrows a browser. `conversations` are those written
 * already. A page is ended only when the next one begins: one that is full may still be open.
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
