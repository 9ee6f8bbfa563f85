import { open } from 'node:fs/promises';
import { mainDocument, openDocx, type DocxArchive } from './docx-archive.ts';
import { readNumbering, readStyles } from './docx-styles.ts';
import { createDocxText } from './docx-text.ts';
import { createDocumentWriter, type ReadDocument } from './document-writer.ts';
import type { ReportProgress } from './read-document.ts';
import { isCompoundFile } from './compound-file.ts';
import { SourceFailure } from './source-failure.ts';
import { readXml } from './xml-events.ts';

async function refuseEncrypted(path: string): Promise<void> {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
  if (isCompoundFile(buffer)) {
    throw new SourceFailure('The Word document is encrypted. Save it without a password and add it again.');
  }
}

async function readParts(archive: DocxArchive, report: ReportProgress): Promise<ReadDocument> {
  const main = archive.find(mainDocument);
  if (main === null) throw new SourceFailure('The Word document is damaged: it contains no text.');
  const definitions = { styleOf: await readStyles(archive), isNumbered: await readNumbering(archive) };
  const writer = createDocumentWriter();
  await readXml(archive.read(main), createDocxText(writer, definitions));
  report(0.9);
  for (const notes of ['word/footnotes.xml', 'word/endnotes.xml']) {
    await readXml(archive.read(notes), createDocxText(writer, definitions));
  }
  return writer.finish();
}

/** The text of a Word document with its headings, lists, tables and notes; without what is deleted, hidden or a comment. */
export async function readDocx(path: string, report: ReportProgress): Promise<ReadDocument> {
  await refuseEncrypted(path);
  const archive = await openDocx(path);
  try {
    return await readParts(archive, report);
  } finally {
    await archive.close();
  }
}
