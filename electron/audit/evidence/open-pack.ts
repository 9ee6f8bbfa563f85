import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { AppError } from '../../../shared/app-error.ts';
import { zipOf } from './finish-pack.ts';
import { packFiles, type PackRecord, type PackResult } from './pack-state.ts';

/** A file of a pack to be sent; `bytes` is null where it is known only at the end. */
export interface ExportDownload {
  readonly fileName: string;
  readonly bytes: number | null;
  readonly stream: Readable;
}

function resultOf({ state, result }: PackRecord): PackResult {
  if (state === 'completed') return result!;
  throw new AppError('conflict', 'This evidence pack is not complete yet. Wait until it is, or resume it.');
}

/** A completed pack as one zip. Throws `conflict` for one that is not. */
export async function openPack(record: PackRecord, folder: string): Promise<ExportDownload> {
  const result = resultOf(record);
  const { id, createdAt, input } = record.plan;
  const files = packFiles(folder);
  const fileName = `evidence-${new Date(createdAt).toISOString().slice(0, 10)}-${id.slice(0, 8)}.zip`;
  if (input.form === 'zip') return { fileName, bytes: result.files[0]!.bytes, stream: createReadStream(files.zip) };
  const names = (await readdir(files.pack)).toSorted();
  return { fileName, bytes: null, stream: zipOf(files.pack, names, createdAt) };
}
