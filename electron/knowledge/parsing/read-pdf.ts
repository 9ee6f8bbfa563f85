import { getResolvedPDFJS } from 'unpdf';
import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import { createDocumentWriter, type DocumentWriter, type ReadDocument } from './document-writer.ts';
import { createLineJoiner, type LineJoiner } from './line-joiner.ts';
import { blocksOf, type PdfBlock } from './pdf-blocks.ts';
import { fieldsOfPage } from './pdf-fields.ts';
import { linesOfPage, type PdfLine } from './pdf-lines.ts';
import { withoutRunningLines } from './pdf-running-lines.ts';
import type { ReportProgress } from './read-document.ts';
import { maxTextCharacters, SourceFailure, tooMuchText } from './source-failure.ts';
import { areColumnNames, createTableWriter, leastNamedColumns } from './table-writer.ts';

/** Above this share of letters without a meaning the fonts do not say what they show. */
const mostUnknown = 0.3;

async function openPdf(data: Uint8Array): Promise<PDFDocumentProxy> {
  const pdfjs = await getResolvedPDFJS();
  const { InvalidPDFException, PasswordException } = pdfjs;
  try {
    // Without addresses nothing can be fetched; pictures and fonts are not decoded beyond what the text needs.
    return await pdfjs.getDocument({
      data,
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      useWasm: false,
      maxImageSize: 1,
    }).promise;
  } catch (error) {
    if (error instanceof PasswordException) {
      throw new SourceFailure('The PDF is encrypted. Save it without a password and add it again.');
    }
    if (error instanceof InvalidPDFException) throw new SourceFailure('The PDF is damaged or incomplete.');
    throw error;
  }
}

async function readLines(document: PDFDocumentProxy, report: ReportProgress): Promise<PdfLine[]> {
  const lines: PdfLine[] = [];
  let characters = 0;
  let broken = 0;
  for (let number = 1; number <= document.numPages; number += 1) {
    try {
      const page = await document.getPage(number);
      // Broken annotations leave the text readable.
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

/** Refuses what has no text to find, with the reason. */
function checkText(lines: readonly PdfLine[]): void {
  let letters = 0;
  let unknown = 0;
  for (const { text } of lines) {
    letters += text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    unknown += text.match(/[\p{Co}\p{Cn}\p{Cc}\ufffd]/gu)?.length ?? 0;
  }
  if (unknown > (letters + unknown) * mostUnknown) {
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
    table.row(cells, { isHeader: index === 0 && cells.length >= leastNamedColumns && areColumnNames(cells) });
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

/** The text of a PDF, page by page, with headings and paragraphs as far as the layout shows them, and filled form fields. */
export async function readPdf(data: Uint8Array, report: ReportProgress): Promise<ReadDocument> {
  const document = await openPdf(new Uint8Array(data));
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
