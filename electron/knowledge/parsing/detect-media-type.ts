import { open, readFile, type FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { openPromise } from 'yauzl';
import { AppError } from '../../../shared/app-error.ts';
import { mainDocument } from './docx-archive.ts';
import type { SourceFile, SourceMediaType } from './parsed-source.ts';
import { isCompoundFile, isEncryptedOffice, kindBySignature, kindOfCompoundFile } from './signatures.ts';
import { looksLikeText } from './text-encoding.ts';

const headBytes = 65_536;
const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Entries of an archive that are looked at; documents name their kind early. */
const mostEntries = 2000;

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

/** The first file name in an archive that tells its kind, and how a person calls it. */
const kindByEntry: readonly (readonly [RegExp, string])[] = [
  [/^xl\//, 'an Excel workbook; save it as .csv'],
  [/^ppt\//, 'a PowerPoint presentation; save it as PDF'],
  [/^META-INF\/container\.xml$/, 'an e-book (EPUB)'],
  [/^content\.xml$/, 'an OpenDocument file; save it as .docx or PDF'],
  [/^Index\/.*\.iwa$/, 'a Pages, Numbers or Keynote document; save it as .docx or PDF'],
  [/^META-INF\/MANIFEST\.MF$/, 'a Java archive'],
];

function refuse(looksLike: string): never {
  const kinds = 'text, Markdown, HTML, PDF, Word (.docx), CSV and JSON';
  throw new AppError('unsupported_media_type', `This looks like ${looksLike}. What can be read is ${kinds}.`, {
    details: [{ field: 'file', issue: `looks like ${looksLike}` }],
  });
}

async function readHead(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** A Word document by what is in the archive. One that is cut off is taken for what its first entries say, so that the reason is told. */
async function ofArchive(path: string, head: Buffer, signal: AbortSignal): Promise<SourceMediaType> {
  let looksLike = 'a ZIP archive';
  try {
    const archive = await openPromise(path, { decodeStrings: true });
    let looked = 0;
    for await (const { fileName } of archive.eachEntry()) {
      signal.throwIfAborted();
      if (mainDocument.test(fileName)) return word;
      looksLike = kindByEntry.find(([name]) => name.test(fileName))?.[1] ?? looksLike;
      looked += 1;
      if (looked >= mostEntries) break;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    if (head.includes('word/') || head.includes('[Content_Types].xml')) return word;
    looksLike = 'a broken ZIP archive';
  }
  return refuse(looksLike);
}

async function ofCompoundFile(path: string, signal: AbortSignal): Promise<SourceMediaType> {
  const bytes = await readFile(path, { signal });
  return isEncryptedOffice(bytes) ? word : refuse(kindOfCompoundFile(bytes));
}

/** Readers of PDF take its mark within the first 1,024 bytes; in a text it may be a word like any other. */
function isPdf(head: Buffer, isText: boolean): boolean {
  const beginning = head.toString('latin1', 0, 1024);
  return beginning.trimStart().startsWith('%PDF-') || (!isText && beginning.includes('%PDF-'));
}

/** The beginning as text, as far as telling HTML and JSON apart needs it: their signs are ASCII in every encoding. */
function beginningOf(head: Buffer): string {
  return head
    .toString('latin1')
    .replaceAll(/[\0\xff\xfe]|^\xef\xbb\xbf/g, '')
    .trimStart();
}

function ofText(head: Buffer, fileName: string): SourceMediaType {
  const named = typeByExtension[extname(fileName).toLowerCase()];
  if (named) return named;
  const beginning = beginningOf(head);
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]/is.test(beginning))
    return 'text/html';
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+svg|svg)[\s>]/is.test(beginning)) refuse('an SVG picture');
  if (/^\{\s*(?:"(?:[^"\\]|\\.){0,1000}"\s*:|\}\s*$)/.test(beginning)) return 'application/json';
  if (/^\[\s*(?:[[{"]|-?\d|true|false|null|\]\s*$)/.test(beginning) && /["\]}]/.test(beginning))
    return 'application/json';
  return 'text/plain';
}

/**
 * The kind of a file by its content; its name only decides among kinds of text. Throws `unsupported_media_type` with what the
 * file looks like, and 400 for an empty one. A file that is damaged is still of its kind: reading it tells what is wrong.
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
  const isText = looksLikeText(head);
  if (isPdf(head, isText)) return 'application/pdf';
  if (head.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return ofArchive(path, head, signal);
  if (isCompoundFile(head)) return ofCompoundFile(path, signal);
  const kind = kindBySignature(head, { isText });
  if (kind) return refuse(kind);
  return isText ? ofText(head, fileName) : refuse('binary data of no known kind');
}
