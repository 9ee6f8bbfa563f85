import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../shared/app-error.ts';
import { maxLinkedFiles } from '../../../shared/contract/prompt-folders.ts';

/** More files and folders than this are no library of prompts; looking at them each time would keep the disk busy. */
const maxEntries = 50_000;
const maxDepth = 16;

/** Files of git, of systems and of packages, and our own while they are written. */
export function isIgnoredName(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}

export const isPromptFile = (name: string): boolean => name.toLowerCase().endsWith('.prompt');

const tooLarge = (what: string) =>
  new AppError('payload_too_large', `The folder is too large to link: it has more than ${what}.`);

/**
 * The `.prompt` files of a folder, by their path below it, each with a stamp that changes whenever the file does. Links are not followed. Throws
 * `payload_too_large`, and what the file system throws for a folder that is not there.
 */
export async function readTree(root: string, { signal }: { signal: AbortSignal }): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  let entries = 0;

  async function visit(folder: string, depth: number): Promise<void> {
    if (depth > maxDepth) throw tooLarge(`${maxDepth} levels of folders`);
    const found = await readdir(join(root, folder), { withFileTypes: true });
    entries += found.length;
    if (entries > maxEntries) throw tooLarge(`${maxEntries.toLocaleString('en')} files and folders`);
    for (const entry of found.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      signal.throwIfAborted();
      if (isIgnoredName(entry.name)) continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) await visitKept(path, depth + 1);
      else if (entry.isFile() && isPromptFile(entry.name)) await note(path);
    }
  }

  /** What goes away while it is looked at is told by the watcher. */
  async function visitKept(path: string, depth: number): Promise<void> {
    await visit(path, depth).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR' && error.code !== 'EACCES') throw error;
    });
  }

  async function note(path: string): Promise<void> {
    const stat = await lstat(join(root, path), { bigint: true }).catch(() => null);
    if (stat === null || !stat.isFile()) return;
    files.set(path, `${stat.ino}/${stat.size}/${stat.mtimeNs}/${stat.ctimeNs}`);
    if (files.size > maxLinkedFiles) throw tooLarge(`${maxLinkedFiles.toLocaleString('en')} prompt files`);
  }

  await visit('', 0);
  return files;
}
