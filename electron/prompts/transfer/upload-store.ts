import { randomUUID } from 'node:crypto';
import { AppError } from '../../../shared/app-error.ts';
import { maxImportedBytes, maxImportedFiles, type ImportSource } from '../../../shared/contract/prompt-transfer.ts';
import type { ImportRequest } from './import-prompts.ts';

type Content = ImportRequest['sources'][number];

/** Files that arrived in parts, in memory until their import. */
export interface UploadStore {
  /**
   * Adds files to an upload, or starts one. Throws `payload_too_large` beyond the limits of an import, which ends the upload, and
   * `not_found` for an ended one.
   */
  add(uploadId: string | null, sources: readonly ImportSource[]): { uploadId: string; files: number; bytes: number };
  /** Throws `not_found`. */
  read(uploadId: string): readonly Content[];
  remove(uploadId: string): void;
  close(): void;
}

interface Upload {
  readonly files: { name: string; parts: Uint8Array[] }[];
  bytes: number;
  timer: NodeJS.Timeout | null;
}

/** Max uploads at the same time: the oldest one is dropped for a new one. */
const maxUploads = 2;
/** After this time without a request an upload is dropped. */
const cacheLifetimeMs = 15 * 60_000;

const megabytes = (bytes: number) => `${(bytes / 1_000_000).toLocaleString('en')} MB`;

export function contentOf({ base64, text }: ImportSource): Uint8Array {
  return text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text.replace(/^\uFEFF/, ''));
}

/** Throws `payload_too_large`. */
export function requireImportable(files: number, bytes: number): void {
  if (bytes > maxImportedBytes) {
    const message = `The files exceed ${megabytes(maxImportedBytes)} in total. Import fewer at a time.`;
    throw new AppError('payload_too_large', message);
  }
  if (files <= maxImportedFiles) return;
  throw new AppError('payload_too_large', `Too many files. Import up to ${maxImportedFiles} at a time.`);
}

/** Throws `payload_too_large`. */
function addFile(upload: Upload, source: ImportSource): void {
  const content = contentOf(source);
  const last = upload.files.at(-1);
  if (source.isContinued === true && last !== undefined) last.parts.push(content);
  else upload.files.push({ name: source.name, parts: [content] });
  upload.bytes += content.length;
  requireImportable(upload.files.length, upload.bytes);
}

export function createUploadStore(): UploadStore {
  const uploads = new Map<string, Upload>();

  function remove(uploadId: string): void {
    clearTimeout(uploads.get(uploadId)?.timer ?? undefined);
    uploads.delete(uploadId);
  }

  function required(uploadId: string): Upload {
    const upload = uploads.get(uploadId);
    if (upload) return upload;
    throw new AppError('not_found', 'The uploaded files have expired. Choose them again.');
  }

  function begin(): string {
    const uploadId = randomUUID();
    uploads.set(uploadId, { files: [], bytes: 0, timer: null });
    for (const oldest of uploads.keys()) {
      if (uploads.size <= maxUploads) break;
      remove(oldest);
    }
    return uploadId;
  }

  function keep(uploadId: string, upload: Upload): void {
    clearTimeout(upload.timer ?? undefined);
    upload.timer = setTimeout(() => remove(uploadId), cacheLifetimeMs).unref();
  }

  return {
    add(known, sources) {
      const uploadId = known?.toLowerCase() ?? begin();
      const upload = required(uploadId);
      try {
        for (const source of sources) addFile(upload, source);
      } catch (error) {
        remove(uploadId);
        throw error;
      }
      keep(uploadId, upload);
      return { uploadId, files: upload.files.length, bytes: upload.bytes };
    },
    read(uploadId) {
      const upload = required(uploadId.toLowerCase());
      keep(uploadId.toLowerCase(), upload);
      return upload.files.map(({ name, parts }) => ({ name, content: Buffer.concat(parts) }));
    },
    remove: (uploadId) => remove(uploadId.toLowerCase()),
    close() {
      for (const uploadId of [...uploads.keys()]) remove(uploadId);
    },
  };
}
