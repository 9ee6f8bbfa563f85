import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { AppError } from '../../shared/app-error.ts';

/** A size in the decimal units of registries and disks: `322.6 MB`. */
export function byteText(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`;
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  if (bytes >= 1e3) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${bytes} bytes`;
}

/** Progress of a download. */
export interface FetchProgress {
  readonly phase?: 'downloading' | 'checking';
  /** Received bytes, as bytes of the model's file. */
  readonly receivedBytes?: number;
  /** Size of the file, if only the download reveals it. */
  readonly bytes?: number;
  /** A message for the user. */
  readonly step?: string;
}

/** Options of every download. */
export interface FetchContext {
  /** The models folder; it exists. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** After this many milliseconds without a byte the server counts as unreachable. */
  readonly silenceMs: number;
  readonly report: (progress: FetchProgress) => void;
}

/** Small enough that hashing one chunk blocks the host for well under a millisecond. */
const readBytes = 256 * 1024;

/** Whether the file can be read and starts like every GGUF file. */
export async function isGgufFile(path: string): Promise<boolean> {
  try {
    await using file = await open(path, 'r');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.toString('latin1') === 'GGUF';
  } catch {
    return false;
  }
}

/** SHA-256 of a whole file, in hexadecimal. */
export async function sha256OfFile(path: string, { signal }: { readonly signal: AbortSignal }): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal, highWaterMark: readBytes })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** The error for a full disk. */
export function noSpaceError(neededBytes: number | null, freeBytes: number | null): AppError {
  const numbers =
    neededBytes === null || freeBytes === null
      ? ''
      : ` (needed: ${byteText(neededBytes)}, free: ${byteText(freeBytes)})`;
  return new AppError(
    'conflict',
    `Not enough disk space for the data folder${numbers}. Free some space, then resume the download.`,
  );
}

/** Throws `conflict` if the disk of `directory` has less than `neededBytes` free. */
export async function requireFreeSpace(directory: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < neededBytes) throw noSpaceError(neededBytes, bavail * bsize);
}
