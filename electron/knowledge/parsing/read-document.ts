import { readFile } from 'node:fs/promises';
import type { ReadDocument } from './document-writer.ts';
import type { SourceMediaType } from './parsed-source.ts';
import { readMarkdown } from './read-markdown.ts';
import { readPlainText } from './read-plain-text.ts';
import { SourceFailure } from './source-failure.ts';
import { decodeText } from './text-encoding.ts';

/** Told which part of the work is done, from 0 to 1. */
export type ReportProgress = (fraction: number) => void;

type Parser = (path: string, report: ReportProgress) => Promise<ReadDocument>;

async function textOf(path: string): Promise<string> {
  return decodeText(await readFile(path));
}

/** The parsers of larger libraries are loaded with the first file that needs them. */
const parsers: Readonly<Record<SourceMediaType, Parser>> = {
  'text/plain': async (path) => readPlainText(await textOf(path)),
  'text/markdown': async (path) => readMarkdown(await textOf(path)),
  'text/html': async (path, report) => (await import('./read-html.ts')).readHtml(await readFile(path), report),
  'text/csv': async (path, report) => (await import('./read-csv.ts')).readCsv(await textOf(path), report),
  'application/json': async (path, report) => (await import('./read-json.ts')).readJson(await textOf(path), report),
  'application/pdf': async (path, report) => (await import('./read-pdf.ts')).readPdf(await readFile(path), report),
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': async (path, report) =>
    (await import('./read-docx.ts')).readDocx(path, report),
};

/** Reads a file and cuts it, all in this process and without any limit on its time: see `source-reader.ts` for those. */
export async function readDocument(
  path: string,
  mediaType: SourceMediaType,
  report: ReportProgress,
): Promise<ReadDocument> {
  const document = await parsers[mediaType](path, report);
  if (document.passages.length === 0) throw new SourceFailure('The file contains no text.');
  return document;
}
