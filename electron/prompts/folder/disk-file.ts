import { createHash, randomBytes } from 'node:crypto';
import { constants, readFileSync, renameSync } from 'node:fs';
import { link, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { AppError } from '../../../shared/app-error.ts';
import { maxLinkedFileBytes } from '../../../shared/contract/prompt-folders.ts';

export function hashOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Another program changed the file meanwhile, so nothing was written. */
export class FileChangedError extends Error {
  constructor() {
    super('The file changed in the meantime.');
    this.name = 'FileChangedError';
  }
}

const unsafe = () => new AppError('forbidden', 'The file is a link that leads out of the linked folder.');

/** Throws if a link in the path leads out of the folder. `root` has no links in it. Missing folders are allowed. */
async function requireInside(root: string, path: string): Promise<void> {
  let folder = dirname(join(root, path));
  while (folder.startsWith(`${root}${sep}`)) {
    const real = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (real !== null && real !== folder) throw unsafe();
    folder = dirname(folder);
  }
  if (folder !== root) throw unsafe();
}

/** Flags that don't follow links and don't wait for the other end of a pipe. Windows has neither. */
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Null for a missing file. Throws `payload_too_large`, `forbidden`, and errors of the file system. */
export async function readBytes(root: string, path: string): Promise<Buffer | null> {
  await requireInside(root, path);
  const handle = await open(join(root, path), readFlags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    if (error.code === 'ELOOP') throw unsafe();
    throw error;
  });
  if (handle === null) return null;
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new AppError('forbidden', "This isn't a regular file.");
    if (stat.size > maxLinkedFileBytes)
      throw new AppError('payload_too_large', `The file is larger than ${maxLinkedFileBytes / 1_048_576} MB`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function hashNow(root: string, path: string): Promise<string | null> {
  const bytes = await readBytes(root, path);
  return bytes === null ? null : hashOf(bytes);
}

/** Writes and syncs a temporary file beside the target, which it then replaces. */
async function writeBeside(target: string, text: string, mode: number | undefined): Promise<string> {
  const temporary = join(dirname(target), `.${randomBytes(9).toString('hex')}.tmp`);
  const handle = await open(temporary, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return temporary;
}

/** Moves the temporary file to the target. Doesn't overwrite a file that was created meanwhile. */
async function createFile(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new FileChangedError();
    // The disk has no hard links, for example a USB stick.
    const handle = await open(target, 'wx').catch((failure: NodeJS.ErrnoException) => {
      throw failure.code === 'EEXIST' ? new FileChangedError() : failure;
    });
    await handle.close();
    return rename(temporary, target);
  }
  await rm(temporary, { force: true });
}

async function modeOf(file: string): Promise<number> {
  const handle = await open(file, readFlags);
  try {
    return (await handle.stat()).mode;
  } finally {
    await handle.close();
  }
}

/** Synchronous, so that only a change by another program between these two lines could be lost. */
function replaceUnchanged(temporary: string, target: string, expectedHash: string): void {
  if (hashOf(readNow(target)) !== expectedHash) throw new FileChangedError();
  renameSync(temporary, target);
}

function readNow(target: string): Buffer {
  try {
    return readFileSync(target, { flag: readFlags });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new FileChangedError();
    throw error;
  }
}

/**
 * Writes a complete file or none. Replaces the file with `expectedHash`, or creates one if it is null. Throws `FileChangedError` if the
 * existing file is another one, and errors of the file system.
 */
export async function replaceFile(
  root: string,
  path: string,
  text: string,
  expectedHash: string | null,
): Promise<void> {
  await requireInside(root, path);
  const target = join(root, path);
  if (expectedHash === null) await mkdir(dirname(target), { recursive: true });
  const mode = expectedHash === null ? undefined : await modeOf(target).catch(() => undefined);
  const temporary = await writeBeside(target, text, mode);
  try {
    if (expectedHash === null) return await createFile(temporary, target);
    replaceUnchanged(temporary, target, expectedHash);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Throws `FileChangedError` if the file has changed. */
export async function removeFile(root: string, path: string, expectedHash: string): Promise<void> {
  if ((await hashNow(root, path)) !== expectedHash) throw new FileChangedError();
  await rm(join(root, path));
}

export interface FileMove {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** Of the file at `from`. */
  readonly expectedHash: string;
}

/**
 * Writes a file under another name and removes the old one, or does neither. Returns false if the old one has changed. Throws
 * `FileChangedError` if there is a file of the new name, and errors of the file system.
 */
export async function moveFile(root: string, { from, to, text, expectedHash }: FileMove): Promise<boolean> {
  await replaceFile(root, to, text, null);
  try {
    await removeFile(root, from, expectedHash);
    return true;
  } catch (error) {
    // Otherwise the next scan would find a second prompt.
    await removeFile(root, to, hashOf(text));
    if (error instanceof FileChangedError) return false;
    throw error;
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "Touchstone isn't allowed to write here",
  EPERM: "Touchstone isn't allowed to write here",
  EROFS: 'The disk is read-only',
  ENOSPC: 'The disk is full',
  EDQUOT: 'The disk is full',
  ENAMETOOLONG: 'The name is too long for the disk',
  EISDIR: 'A folder has this name',
  ENOTDIR: 'A file has the name of its folder',
  EEXIST: 'A file has the name of its folder',
};

/** A message for an error of the file system; null for other errors. */
export function diskReason(error: unknown): string | null {
  if (error instanceof AppError) return error.message.replace(/\.$/, '');
  const code = (error as NodeJS.ErrnoException).code;
  if (code === undefined || (error as NodeJS.ErrnoException).syscall === undefined) return null;
  return reasons[code] ?? `The disk reported an error (${code})`;
}
