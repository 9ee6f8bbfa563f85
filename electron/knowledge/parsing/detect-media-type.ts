import { open, readFile, type FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileTypeFromBuffer, type FileTypeResult } from 'file-type';
import { openPromise } from 'yauzl';
import { AppError } from '../../../shared/app-error.ts';
import { isCompoundFile, isEncryptedOffice, kindOfCompoundFile, mainDocument } from './docx-archive.ts';
import type { SourceFile, SourceMediaType } from './parsed-source.ts';
import { looksLikeText } from './text-encoding.ts';

const headBytes = 65_536;
/** The sample that `file-type` needs. Its parsers see no more of a hostile file. */
const signatureBytes = 4_100;
/** PDF readers accept the header within the first, and the end marker within the last, 1,024 bytes. */
const pdfHeaderBytes = 1_024;
/** Longer keys at the start of a JSON file are not recognised. */
const maxKeyCharacters = 1_000;
const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Archive entries that are inspected; documents name their kind early. */
const maxEntries = 2000;

const typeByExtension: Readonly<Record<string, SourceMediaType>> = {
  '.txt': 'text/plain',
  '.text': 'text/plain',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'text/html',
  '.csv': 'text/csv',
  '.tsv': 'text/csv',
  '.json': 'application/json',
  '.jsonl': 'application/json',
  '.ndjson': 'application/json',
};

/** Entry names that identify an archive's format, with a description for the user. */
const kindByEntry: readonly (readonly [RegExp, string])[] = [
  [/^xl\//, 'an Excel workbook; save it as .csv'],
  [/^ppt\//, 'a PowerPoint presentation; save it as PDF'],
  [/^META-INF\/container\.xml$/, 'an e-book (EPUB)'],
  [/^content\.xml$/, 'an OpenDocument file; save it as .docx or PDF'],
  [/^Index\/.*\.iwa$/, 'a Pages, Numbers or Keynote document; save it as .docx or PDF'],
  [/^META-INF\/MANIFEST\.MF$/, 'a Java archive'],
];

const fileTypeGroups: Readonly<Record<string, readonly string[]>> = {
  'an archive': ['gz', 'tar', 'tar.gz', 'bz2', 'xz', 'zst', 'lz', 'lz4', '7z', 'rar', 'cab', 'Z', 'ar', 'deb', 'rpm'],
  'a program': ['exe', 'elf', 'macho', 'wasm', 'class', 'dex', 'msi'],
};

const descriptions: Readonly<Record<string, string>> = {
  rtf: 'an RTF document; save it as .docx',
  ps: 'a PostScript document; save it as PDF',
  eps: 'a PostScript document; save it as PDF',
  sqlite: 'a SQLite database',
  parquet: 'a Parquet table; save it as .csv',
};

/** Text formats. The other signatures may be words at the start of a text. */
const textSignatures = new Set(['rtf', 'ps', 'eps']);

function describeFileType({ ext, mime }: FileTypeResult): string {
  const format = ext.toUpperCase();
  const description = descriptions[ext];
  if (description) return description;
  const [kind] = mime.split('/');
  if (kind === 'image') return `an image (${format})`;
  if (kind === 'video') return `a video (${format})`;
  if (kind === 'audio') return `an audio file (${format})`;
  if (kind === 'font') return `a font (${format})`;
  const group = Object.entries(fileTypeGroups).find(([, extensions]) => extensions.includes(ext))?.[0];
  return group ? `${group} (${format})` : `a file of the type ${format}`;
}

function rejectFile(looksLike: string): never {
  const kinds = 'text, Markdown, HTML, PDF, Word (.docx), CSV and JSON';
  throw new AppError('unsupported_media_type', `This looks like ${looksLike}. Supported: ${kinds}.`, {
    details: [{ field: 'file', issue: `looks like ${looksLike}` }],
  });
}

async function readHead(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** Detects a Word document by its archive entries. A truncated one is detected by its first entries, so that reading it gives the reason. */
async function ofArchive(path: string, head: Buffer, signal: AbortSignal): Promise<SourceMediaType> {
  let looksLike = 'a ZIP archive';
  try {
    const archive = await openPromise(path, { decodeStrings: true });
    let inspected = 0;
    for await (const { fileName } of archive.eachEntry()) {
      signal.throwIfAborted();
      if (mainDocument.test(fileName)) return word;
      looksLike = kindByEntry.find(([name]) => name.test(fileName))?.[1] ?? looksLike;
      inspected += 1;
      if (inspected >= maxEntries) break;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    if (head.includes('word/') || head.includes('[Content_Types].xml')) return word;
    looksLike = 'a broken ZIP archive';
  }
  return rejectFile(looksLike);
}

async function ofCompoundFile(path: string, signal: AbortSignal): Promise<SourceMediaType> {
  const bytes = await readFile(path, { signal });
  return isEncryptedOffice(bytes) ? word : rejectFile(kindOfCompoundFile(bytes));
}

async function readTail(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read({
    buffer: Buffer.alloc(pdfHeaderBytes),
    position: Math.max(0, size - pdfHeaderBytes),
  });
  return buffer.toString('latin1', 0, bytesRead);
}

/**
 * A PDF may have other bytes before its header. A text may also mention the header: it is a PDF only if binary data
 * or a PDF's end marker follows.
 */
async function isPdf(head: Buffer, file: FileHandle): Promise<boolean> {
  const beginning = head.toString('latin1', 0, pdfHeaderBytes + 8);
  const offset = beginning.indexOf('%PDF-');
  if (offset < 0 || offset > pdfHeaderBytes) return false;
  if (beginning.slice(0, offset).trim() === '' || !looksLikeText(head.subarray(offset))) return true;
  return /^%PDF-\d\.\d\s/.test(beginning.slice(offset)) && (await readTail(file)).includes('%%EOF');
}

/** The start as text, enough to detect HTML and JSON, whose characters are ASCII in every encoding. */
function startOf(head: Buffer): string {
  return head
    .toString('latin1')
    .replaceAll(/[\0\xff\xfe]|^\xef\xbb\xbf/g, '')
    .trimStart();
}

/** The rest after an XML declaration, stylesheets and comments. A scan, because a regular expression for this takes exponential time. */
function skipProlog(text: string): string {
  let offset = 0;
  const skip = (opening: string, closing: string): boolean => {
    if (!text.startsWith(opening, offset)) return false;
    const end = text.indexOf(closing, offset + opening.length);
    offset = end < 0 ? text.length : end + closing.length;
    while (offset < text.length && text.charAt(offset).trim() === '') offset += 1;
    return true;
  };
  while (skip('<?xml', '>') || skip('<!--', '-->'));
  return text.slice(offset);
}

/** Whether the text is the start of a JSON object or list, rather than prose in brackets. */
function startsLikeJson(start: string): boolean {
  const rest = start.slice(1).trimStart();
  if (start.startsWith('{')) {
    if (rest.startsWith('}')) return rest.slice(1).trim() === '';
    const key = /^"(?:[^"\\]|\\.)*"/s.exec(rest.slice(0, maxKeyCharacters))?.[0];
    return key !== undefined && rest.slice(key.length).trimStart().startsWith(':');
  }
  if (!start.startsWith('[')) return false;
  if (rest.startsWith(']')) return rest.slice(1).trim() === '';
  return /^(?:[[{"]|-?\d|true|false|null)/.test(rest) && /["\]}]/.test(rest);
}

const isSvgMarkup = (markup: string) => /^<(?:!doctype\s{1,100}svg|(?:[\w-]{1,100}:)?svg)[\s>/]/i.test(markup);

/** Whether a text with this start is XML with the root element `svg`. */
export function isSvg(head: Buffer): boolean {
  return isSvgMarkup(skipProlog(startOf(head)));
}

function ofText(head: Buffer, fileName: string): SourceMediaType {
  const named = typeByExtension[extname(fileName).toLowerCase()];
  if (named) return named;
  const start = startOf(head);
  const markup = skipProlog(start);
  if (/^<(?:!doctype\s+html|html|head|body)[\s>]/i.test(markup)) return 'text/html';
  if (isSvgMarkup(markup)) rejectFile('an SVG image');
  return startsLikeJson(start) ? 'application/json' : 'text/plain';
}

/**
 * Detects the format from the content; the name only decides between text formats. Throws `unsupported_media_type` with the
 * apparent type, and 400 for an empty file. A damaged file keeps its format, so that reading it gives the reason.
 */
export async function detectMediaType(
  { path, fileName }: SourceFile,
  { signal }: { readonly signal: AbortSignal },
): Promise<SourceMediaType> {
  signal.throwIfAborted();
  await using file = await open(path);
  const head = await readHead(file);
  if (head.length === 0)
    throw new AppError('invalid_request', 'The file is empty.', {
      details: [{ field: 'file', issue: 'must not be empty' }],
    });
  if (await isPdf(head, file)) return 'application/pdf';
  if (head.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return ofArchive(path, head, signal);
  if (isCompoundFile(head)) return ofCompoundFile(path, signal);
  const isText = looksLikeText(head);
  const type = await fileTypeFromBuffer(Uint8Array.from(head.subarray(0, signatureBytes)));
  if (type && (!isText || textSignatures.has(type.ext))) return rejectFile(describeFileType(type));
  return isText ? ofText(head, fileName) : rejectFile('binary data of an unknown type');
}
