import { readFile } from 'node:fs/promises';
import papaparse from 'papaparse';
import { createDocumentWriter, type ReadDocument, type ReportProgress } from './document-writer.ts';
import { areColumnNames, createTableWriter } from './table-writer.ts';
import { SourceFailure, type SourceMediaType } from './parsed-source.ts';
import { readMarkdown } from './read-markdown.ts';
import { decodeText } from './text-encoding.ts';
import { createChunker } from '../chunking/chunker.ts';

/** An editor may have wrapped a paragraph into lines up to this length; each longer line is a paragraph. */
const longestBrokenLine = 120;

/** Whether the lines of a paragraph were wrapped at a width, unlike the lines of a log or a poem. */
function isBroken(lines: readonly string[]): boolean {
  const widths = lines.slice(0, -1).map((line) => line.length);
  const widest = widths.reduce((first, second) => Math.max(first, second), 0);
  if (widest > longestBrokenLine || widest < 40) return false;
  const isEven = widths.filter((width) => width >= widest * 0.75).length >= widths.length * 0.75;
  const followers = lines.slice(1);
  return isEven && followers.filter((line) => /^\s*\p{Ll}/u.test(line)).length >= followers.length * 0.25;
}

/** Lines of a paragraph that are checked to detect its style. */
const linesToJudge = 40;

/** Plain text, unchanged; blank lines separate its paragraphs. */
function readPlainText(text: string): ReadDocument {
  const chunker = createChunker();
  const blankLine = /\n[^\S\n]*\n\s*/g;
  for (let start = 0; start < text.length;) {
    blankLine.lastIndex = start;
    const next = blankLine.exec(text);
    const end = next ? next.index : text.length;
    const lines = text.slice(start, Math.min(end, start + linesToJudge * longestBrokenLine)).split('\n', linesToJudge);
    const isProse = lines.length === 1 || isBroken(lines);
    chunker.block(isProse ? 'prose' : 'lines', start, text.slice(start, end));
    start = next ? next.index + next[0].length : text.length;
  }
  return { text, pages: null, passages: chunker.finish() };
}

type Parser = (path: string, report: ReportProgress) => Promise<ReadDocument>;

/** A table row by row, each with the names of its columns. The delimiter is detected. */
function readCsv(text: string, report: ReportProgress): ReadDocument {
  const writer = createDocumentWriter();
  const table = createTableWriter(writer, { isLenient: true });
  let isFirst = true;
  papaparse.parse<string[]>(text, {
    skipEmptyLines: 'greedy',
    step({ data, meta }) {
      table.row(data, { isHeader: isFirst && areColumnNames(data) });
      isFirst = false;
      report(meta.cursor / text.length);
    },
  });
  table.finish();
  return writer.finish();
}

async function textOf(path: string): Promise<string> {
  return decodeText(await readFile(path));
}

/** The parsers of larger libraries are loaded with the first file that needs them. */
const parsers: Readonly<Record<SourceMediaType, Parser>> = {
  'text/plain': async (path) => readPlainText(await textOf(path)),
  'text/markdown': async (path) => readMarkdown(await textOf(path)),
  'text/html': async (path, report) => (await import('./read-html.ts')).readHtml(await readFile(path), report),
  'text/csv': async (path, report) => readCsv(await textOf(path), report),
  'application/json': async (path, report) => (await import('./read-json.ts')).readJson(await textOf(path), report),
  'application/pdf': async (path, report) => (await import('./read-pdf.ts')).readPdf(await readFile(path), report),
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': async (path, report) =>
    (await import('./read-docx.ts')).readDocx(path, report),
};

/** Reads and chunks a file in this process, without a time limit. `source-reader.ts` adds limits. */
export async function readDocument(
  path: string,
  mediaType: SourceMediaType,
  report: ReportProgress,
): Promise<ReadDocument> {
  const document = await parsers[mediaType](path, report);
  if (document.passages.length === 0) throw new SourceFailure('The file contains no text.');
  return document;
}
