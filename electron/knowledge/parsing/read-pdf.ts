import { getResolvedPDFJS } from 'unpdf';
import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import { createDocumentWriter, type DocumentWriter, type PagedPart, type ReadDocument } from './document-writer.ts';
import { blocksOf, linesOfPage, type PdfBlock, type PdfLine } from './pdf-layout.ts';
import { fieldsOfPage } from './pdf-fields.ts';
import type { ReportProgress } from './document-writer.ts';
import { maxTextCharacters, SourceFailure, tooMuchText } from './parsed-source.ts';
import { openPdf } from './open-pdf.ts';
import { areColumnNames, createTableWriter, minNamedColumns } from './table-writer.ts';

/** Joins the lines of a paragraph. */
interface LineJoiner {
  /** One part for each page of the lines. */
  join(lines: readonly PdfLine[]): PagedPart[];
}

const brokenEnd = /(?<![\p{L}\p{N}])([\p{L}\p{N}]+)[-\u2010\u00ad]$/u;
const smallBeginning = /^\p{Ll}[\p{L}\p{N}]*/u;
const endsWithoutSpaces = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{P}]$/u;
const beginsWithoutSpaces = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u;

/** Reads all lines of a document first: a word with a hyphen elsewhere, within a line, keeps it at a line end. */
export function createLineJoiner(all: readonly PdfLine[]): LineJoiner {
  const hyphenated = new Set<string>();
  for (const { text } of all) {
    for (const [word] of text.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]+[-\u2010][\p{L}\p{N}]+/gu))
      hyphenated.add(word.replace('\u2010', '-').toLowerCase());
  }

  /** The rest of the first line, and the joint to the second. */
  function jointOf(text: string, next: string): { readonly remaining: string; readonly joint: string } {
    const end = brokenEnd.exec(text)?.[1];
    const beginning = smallBeginning.exec(next)?.[0];
    if (end && beginning) {
      const isOwnHyphen = end.length === 1 || hyphenated.has(`${end}-${beginning}`.toLowerCase());
      return { remaining: isOwnHyphen ? text : text.slice(0, -1), joint: '' };
    }
    const hasNoSpaces = endsWithoutSpaces.test(text) && beginsWithoutSpaces.test(next);
    return { remaining: text, joint: hasNoSpaces ? '' : ' ' };
  }

  return {
    join(lines) {
      const parts: { page: number; text: string; joint: string }[] = [];
      let joint = '';
      for (const [index, { page, text }] of lines.entries()) {
        const next = lines[index + 1]?.text ?? '';
        const { remaining, joint: following } = jointOf(text, next);
        const last = parts.at(-1);
        if (last?.page === page) last.text += joint + remaining;
        else parts.push({ page, text: remaining, joint });
        joint = following;
      }
      return parts;
    },
  };
}

/** Headers and footers are within this fraction of a page, at its top and bottom. */
const margin = 0.1;
/** A line is a header or footer if it occurs on so many pages: not on all, because left and right pages may differ, and chapters do. */
function minPages(pages: number): number {
  return pages <= 3 ? 2 : Math.max(3, Math.ceil(pages * 0.3));
}

const pageNumber =
  /^[\s\p{P}]*(?:page|seite|pagina|página|s\.|p\.)?\s*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:\/|of|von|de|sur)\s*\d{1,4})?[\s\p{P}]*$/iu;

const isInMargin = ({ relativeHeight: height }: PdfLine) => height < margin || height > 1 - margin;

/** Without its digits, because the page number changes, and separate for headers and footers. */
const nameOf = (line: PdfLine) =>
  `${line.relativeHeight < 0.5 ? 'below' : 'above'} ${line.text.replaceAll(/\d+/g, '#')}`;

/** The lines without running headers, footers and page numbers, which would interrupt sentences that cross pages. */
function withoutRunningLines(lines: readonly PdfLine[], pages: number): PdfLine[] {
  const pagesOf = new Map<string, Set<number>>();
  for (const line of lines) {
    if (!isInMargin(line)) continue;
    const name = nameOf(line);
    pagesOf.set(name, (pagesOf.get(name) ?? new Set()).add(line.page));
  }
  const isRunning = (line: PdfLine) => {
    if (!isInMargin(line)) return false;
    const returns = pagesOf.get(nameOf(line))?.size ?? 0;
    return returns >= minPages(pages) || (pages > 1 && pageNumber.test(line.text));
  };
  return lines.filter((line) => !isRunning(line));
}

/** Above this share of unmapped letters, the text of the fonts is not readable. */
const maxUnknown = 0.3;

/** Pictures and fonts are not decoded beyond the needs of the text. */
const openText = async (data: Uint8Array) =>
  openPdf(await getResolvedPDFJS(), data, { useWasm: false, maxImageSize: 1 });

/** Throws `SourceFailure` for a PDF that is encrypted or can't be opened. */
export async function countPages(data: Uint8Array): Promise<number> {
  const document = await openText(data);
  try {
    return document.numPages;
  } finally {
    await document.loadingTask.destroy();
  }
}

async function readLines(document: PDFDocumentProxy, report: ReportProgress): Promise<PdfLine[]> {
  const lines: PdfLine[] = [];
  let characters = 0;
  let broken = 0;
  for (let number = 1; number <= document.numPages; number += 1) {
    try {
      const page = await document.getPage(number);
      // Damaged annotations leave the text readable.
      const own = [...(await linesOfPage(page)), ...(await fieldsOfPage(page).catch(() => []))];
      page.cleanup();
      characters += own.reduce((sum, { text }) => sum + text.length, 0);
      lines.push(...own);
    } catch {
      // The other pages are still worth reading.
      broken += 1;
    }
    if (characters > maxTextCharacters) throw tooMuchText();
    report(number / document.numPages);
  }
  if (broken === document.numPages) throw new SourceFailure('The PDF is damaged. None of its pages can be read.');
  return lines;
}

/** Rejects a document without readable text, with the reason. */
function checkText(lines: readonly PdfLine[]): void {
  let letters = 0;
  let unknown = 0;
  for (const { text } of lines) {
    letters += text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    unknown += text.match(/[\p{Co}\p{Cn}\p{Cc}\ufffd]/gu)?.length ?? 0;
  }
  if (unknown > (letters + unknown) * maxUnknown) {
    throw new SourceFailure(
      'The fonts of the PDF contain no character codes. Run text recognition (OCR) on it and add it again.',
    );
  }
  if (letters === 0) {
    throw new SourceFailure(
      'The PDF contains no text. It may be scanned or damaged. Run text recognition (OCR) on it and add it again.',
    );
  }
}

function writeTable(writer: DocumentWriter, { lines }: PdfBlock): void {
  const table = createTableWriter(writer);
  for (const [index, { cells }] of lines.entries()) {
    table.row(cells, { isHeader: index === 0 && cells.length >= minNamedColumns && areColumnNames(cells) });
  }
  table.finish();
}

function writeBlock(writer: DocumentWriter, block: PdfBlock, joiner: LineJoiner): void {
  const parts = joiner.join(block.lines);
  const text = parts.map((part) => part.joint + part.text).join('');
  writer.page(block.lines[0]!.page);
  if (block.kind === 'table') writeTable(writer, block);
  else if (block.kind === 'fields') writer.lines(block.lines.map((line) => line.text).join('\n'));
  else if (block.kind === 'heading') writer.heading(block.level, text);
  else if (block.kind === 'item' && parts.length === 1) writer.item(text);
  else writer.pagedParagraph(parts);
}

/** The text of a PDF, page by page, with the headings and paragraphs that the layout shows, and filled form fields. */
export async function readPdf(data: Uint8Array, report: ReportProgress): Promise<ReadDocument> {
  const document = await openText(new Uint8Array(data));
  try {
    const lines = await readLines(document, report);
    checkText(lines);
    const writer = createDocumentWriter();
    const joiner = createLineJoiner(lines);
    for (const block of blocksOf(withoutRunningLines(lines, document.numPages))) writeBlock(writer, block, joiner);
    writer.page(document.numPages);
    return writer.finish();
  } finally {
    await document.loadingTask.destroy();
  }
}
