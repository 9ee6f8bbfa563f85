import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import yazl from 'yazl';
import type { ChunkedPassage } from '../../../../electron/knowledge/chunking/passage-builder.ts';
import { detectMediaType } from '../../../../electron/knowledge/parsing/detect-media-type.ts';
import type { ReadDocument } from '../../../../electron/knowledge/parsing/document-writer.ts';
import { readDocument } from '../../../../electron/knowledge/parsing/read-document.ts';

const { ZipFile } = yazl;

export const fixture = (name: string) => join(import.meta.dirname, '../../../fixtures/knowledge', name);

/** A file in a folder of its own, which is gone after the test. */
export function writeSource(fileName: string, content: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-source-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  const path = join(folder, fileName);
  writeFileSync(path, content);
  return path;
}

/** A ZIP archive of these entries. */
export async function zip(entries: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(entries)) {
    archive.addBuffer(Buffer.from(content as string), name, { compress: content.length > 100 });
  }
  archive.end();
  const chunks: Buffer[] = [];
  for await (const chunk of archive.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A Word document with this body. */
export function docx(body: string, more: Readonly<Record<string, string>> = {}): Promise<Buffer> {
  const document = `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`;
  return zip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': document, ...more });
}

/** A PDF of these objects, the first of which is its catalogue; its table of places is right. */
export function pdf(objects: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const positions: number[] = [];
  const length = () => parts.reduce((sum, part) => sum + part.length, 0);
  for (const [index, object] of objects.entries()) {
    positions.push(length());
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object as string), Buffer.from('\nendobj\n'));
  }
  const start = length();
  const rows = positions.map((position) => `${String(position).padStart(10, '0')} 00000 n \n`).join('');
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  parts.push(Buffer.from(`${table}trailer<</Root 1 0 R/Size ${objects.length + 1}>>\nstartxref\n${start}\n%%EOF`));
  return Buffer.concat(parts);
}

export function pdfStream(data: Buffer, entries = ''): Buffer {
  const head = Buffer.from(`<</Length ${data.length}${entries}>>stream\n`);
  return Buffer.concat([head, data, Buffer.from('\nendstream')]);
}

export interface ReadFile extends ReadDocument {
  /** The passages' texts. */
  readonly texts: readonly string[];
}

const { signal } = new AbortController();

/** Reads a file of that kind in this thread. */
export async function readFileAt(path: string): Promise<ReadFile> {
  const mediaType = await detectMediaType({ path, fileName: path }, { signal });
  const document = await readDocument(path, mediaType, () => {});
  return { ...document, texts: document.passages.map(({ start, end }) => document.text.slice(start, end)) };
}

export const readSourceText = (fileName: string, content: string | Uint8Array) =>
  readFileAt(writeSource(fileName, content));

/** Passages by their headings. */
export const headingsOf = (passages: readonly ChunkedPassage[]) => passages.map(({ heading }) => heading);
