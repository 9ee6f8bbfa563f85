import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

/** Name of the piece inside each package. */
const pieceName = 'package/model.part';

/** Bytes that are not what they should be. */
export class DamagedPartError extends Error {
  /** The part at fault; null when only the whole is known to be wrong. */
  readonly partIndex: number | null;

  constructor(partIndex: number | null, cause?: unknown) {
    super(partIndex === null ? 'The checksum of the whole is wrong' : `Part ${partIndex + 1} is damaged`, { cause });
    this.name = 'DamagedPartError';
    this.partIndex = partIndex;
  }
}

/**
 * Unpacks the pieces one after the other into one file and resolves with its SHA-256. Throws `DamagedPartError` when a tarball
 * cannot be unpacked or the whole has another checksum.
 */
export async function assembleModel(
  model: { readonly sha256: string | null },
  paths: { readonly parts: readonly { readonly received: string }[]; readonly assembled: string },
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  await using file = await open(paths.assembled, 'w');
  for (const [index, { received }] of paths.parts.entries()) {
    await unpackPart(received, index, signal, async (piece) => {
      hash.update(piece);
      await file.writeFile(piece);
    });
  }
  const sha256 = hash.digest('hex');
  if (model.sha256 !== null && sha256 !== model.sha256) throw new DamagedPartError(null);
  // On the disk before it gets its name: a power cut must not leave a file that looks checked and is not.
  await file.sync();
  return sha256;
}

async function unpackPart(
  path: string,
  index: number,
  signal: AbortSignal,
  write: (piece: Buffer) => Promise<void>,
): Promise<void> {
  const entries = extract();
  const readEntries = async () => {
    for await (const entry of entries) {
      if (entry.header.name !== pieceName) entry.resume();
      else {
        for await (const piece of entry) {
          await write(piece as Buffer);
        }
      }
    }
  };
  try {
    await Promise.all([pipeline(createReadStream(path), createGunzip(), entries, { signal }), readEntries()]);
  } catch (error) {
    signal.throwIfAborted();
    // A full disk is not the part's fault.
    if (error instanceof Error && 'syscall' in error) throw error;
    throw new DamagedPartError(index, error);
  }
}
