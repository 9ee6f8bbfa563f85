import { once } from 'node:events';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { SourceFailure } from './parsed-source.ts';

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** Microsoft's compound files: old Office documents, and the container of encrypted new ones. */
export function isCompoundFile(head: Buffer): boolean {
  return head.subarray(0, 8).equals(Buffer.from('d0cf11e0a1b11ae1', 'hex'));
}

/** Whether a compound file is the container of an encrypted document. Its directory may be anywhere in the file. */
export function isEncryptedOffice(bytes: Buffer): boolean {
  return bytes.includes(utf16('EncryptedPackage'));
}

/** The likely type of a compound file. */
export function kindOfCompoundFile(bytes: Buffer): string {
  if (bytes.includes(utf16('WordDocument'))) return 'an old Word document (.doc); save it as .docx';
  if (bytes.includes(utf16('Workbook'))) return 'an old Excel workbook (.xls); save it as .csv';
  if (bytes.includes(utf16('PowerPoint Document'))) return 'an old PowerPoint presentation (.ppt); save it as PDF';
  if (bytes.includes(utf16('__substg1.0_'))) return 'an Outlook message (.msg); save it as text';
  return 'an old Office document';
}

/** The path of the text; some programs number the file. */
export const mainDocument = /^word\/document\d*\.xml$/;

/** A Word document has a few dozen entries; one with many pictures has a few hundred. */
const maxEntries = 5_000;
/** Max bytes of all parts that are read together; 200 MB of XML are about 20,000 pages. */
const maxUnpackedBytes = 200 * 1024 * 1024;
/** XML compresses to a twentieth, very repetitive XML to a hundredth; more is a zip bomb. */
const maxRatio = 200;
/** Small parts may have a higher ratio; they are harmless. */
const bytesWithoutRatio = 4 * 1024 * 1024;

/** An open archive. Its parts are unpacked one after the other, within limits for all of them together. */
export interface DocxArchive {
  /** Name of the first part that matches the pattern; `null` if there is none. */
  find(name: RegExp): string | null;
  /** The part's text in chunks; empty if there is no such part. */
  read(name: string | null): AsyncGenerator<string>;
  close(): Promise<void>;
}

const damaged = () => new SourceFailure('The Word document is damaged or incomplete.');

async function listEntries(archive: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  let count = 0;
  for await (const entry of archive.eachEntry()) {
    count += 1;
    if (count > maxEntries)
      throw new SourceFailure(
        'The Word document contains more than 5,000 files. Remove embedded files and add it again.',
      );
    // Of two entries with one name the first is read, as in Word.
    if (!entries.has(entry.fileName)) entries.set(entry.fileName, entry);
  }
  return entries;
}

function tooLarge(): SourceFailure {
  return new SourceFailure(
    'The Word document unpacks to more than 200 times its size. Save it again in Word and add it again.',
  );
}

/** The XML of nearly all documents is UTF-8; the standard also allows UTF-16 with a byte order mark. */
function decoderFor(first: Buffer) {
  const mark = first.readUInt16BE(0);
  if (mark === 0xfffe) return new TextDecoder('utf-16le');
  return new TextDecoder(mark === 0xfeff ? 'utf-16be' : 'utf-8');
}

export async function openDocx(path: string): Promise<DocxArchive> {
  const archive = await openPromise(path, { autoClose: false }).catch(() => {
    throw damaged();
  });
  let unpacked = 0;

  function count(bytes: number, compressedSize: number, ofPart: number): void {
    unpacked += bytes;
    const isBomb = ofPart > bytesWithoutRatio && ofPart > compressedSize * maxRatio;
    if (unpacked > maxUnpackedBytes || isBomb) throw tooLarge();
  }

  const entries = await listEntries(archive).catch((error: unknown) => {
    archive.close();
    throw error instanceof SourceFailure ? error : damaged();
  });

  async function* read(name: string | null): AsyncGenerator<string> {
    const entry = name === null ? undefined : entries.get(name);
    if (!entry) return;
    let decoder: ReturnType<typeof decoderFor> | null = null;
    let ofPart = 0;
    try {
      const stream = await archive.openReadStreamPromise(entry);
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        ofPart += chunk.length;
        count(chunk.length, entry.compressedSize, ofPart);
        decoder ??= decoderFor(chunk.length > 1 ? chunk : Buffer.alloc(2));
        yield decoder.decode(chunk, { stream: true });
      }
      if (decoder) yield decoder.decode();
    } catch (error) {
      if (error instanceof SourceFailure) throw error;
      throw damaged();
    }
  }

  return {
    find: (name) => [...entries.keys()].find((own) => name.test(own)) ?? null,
    read,
    async close() {
      if (!archive.isOpen) return;
      const closed = once(archive, 'close');
      archive.close();
      await closed;
    },
  };
}
