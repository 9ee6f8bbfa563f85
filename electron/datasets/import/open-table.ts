import { open } from 'node:fs/promises';
import { type OpenTable, type TableFile, unreadable } from './table.ts';
import { openText } from './text-tables.ts';
import { openWorkbook } from './workbook-table.ts';

async function signatureOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
  return buffer.subarray(0, bytesRead);
}

/** Opens a file in its format. Throws `invalid_request` for one that no format reads. */
export async function openTable(file: TableFile): Promise<OpenTable> {
  const signature = (await signatureOf(file.path)).toString('hex');
  // The container of Excel files from before 2007 and of encrypted ones.
  if (signature === 'd0cf11e0a1b11ae1')
    throw unreadable('is an old or a protected Excel file; save it as .xlsx without a password');
  if (signature.startsWith('504b0304')) return openWorkbook(file);
  return openText(file);
}
