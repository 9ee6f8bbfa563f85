import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { ExportedFile } from '../../../../shared/contract/prompt-transfer.ts';

/** The files as one zip archive. The time of its entries is always the same, so that equal prompts make equal archives. */
export async function zipped(files: readonly ExportedFile[]): Promise<Buffer> {
  const zip = new ZipFile();
  const mtime = new Date(1980, 0, 1);
  for (const { name, content } of files) zip.addBuffer(Buffer.from(content), name, { mtime });
  zip.end();
  return buffer(zip.outputStream);
}
