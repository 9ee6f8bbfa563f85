import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../shared/app-error.ts';
import { promptContent, type PromptContent } from '../../../shared/prompt-content.ts';
import type { PromptReader } from '../transfer/create-prompt-reader.ts';
import { type SystemOf, withModel } from '../transfer/model-names.ts';
import { decodeText, plainLines, TransferError } from '../transfer/source-text.ts';
import { diskReason, hashOf, readBytes } from './disk-file.ts';
import { maxLinkedFiles } from '../../../shared/contract/prompt-folders.ts';

/** A folder with more entries is no prompt library, and scanning it repeatedly would keep the disk busy. */
const maxEntries = 50_000;
const maxDepth = 16;

/** Files of git, operating systems and packages, and our temporary files. */
export function isIgnoredName(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}

export const isPromptFile = (name: string): boolean => name.toLowerCase().endsWith('.prompt');

const tooLarge = (what: string) =>
  new AppError('payload_too_large', `The folder is too large to link: it has more than ${what}.`);

/**
 * The `.prompt` files of a folder by their relative path, each with a stamp that changes with the file. Doesn't follow links. Throws
 * `payload_too_large`, and the file system's error for a missing folder.
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
      if (entry.isDirectory()) await visitIfPresent(path, depth + 1);
      else if (entry.isFile() && isPromptFile(entry.name)) await note(path);
    }
  }

  /** Ignores a folder that disappears during the scan. The watcher reports that. */
  async function visitIfPresent(path: string, depth: number): Promise<void> {
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

/** The hash of an unreadable file. It differs from all others. */
export const unreadable = 'unreadable';

/** The current file on disk. */
export interface ScannedFile {
  readonly path: string;
  readonly hash: string;
  /** Null if the file isn't text. */
  readonly text: string | null;
  /** Null if it can't be read as a prompt. */
  readonly content: PromptContent | null;
  /** Why it can't be read as a prompt. */
  readonly reason: { readonly message: string; readonly line: number | null } | null;
}

export interface FileReading {
  readonly root: string;
  /** The library's folder that the root is linked with. */
  readonly folder: string;
  readonly reader: Pick<PromptReader, 'read'>;
  readonly systemOf: SystemOf;
}

/** `replies/short.prompt` of the folder `support` is in the library's folder `support/replies`. */
export function libraryFolder(folder: string, path: string): string {
  return [folder, ...path.split('/').slice(0, -1)].join('/');
}

const byteOrderMark = Buffer.from('\uFEFF');

/** The exact text, which is written back unchanged. */
function textOf(bytes: Buffer): { text: string | null; reason: ScannedFile['reason'] } {
  try {
    const mark = bytes.subarray(0, 3).equals(byteOrderMark) ? '\uFEFF' : '';
    return { text: `${mark}${decodeText(bytes)}`, reason: null };
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    return { text: null, reason: { message: error.message, line: error.line } };
  }
}

/** Null for a missing file. An unreadable file has a reason. */
export async function readScannedFile(
  { root, folder, reader, systemOf }: FileReading,
  path: string,
  signal: AbortSignal,
): Promise<ScannedFile | null> {
  let bytes: Buffer | null;
  try {
    bytes = await readBytes(root, path);
  } catch (error) {
    const message = diskReason(error);
    if (message === null) throw error;
    return { path, hash: unreadable, text: null, content: null, reason: { message, line: null } };
  }
  if (bytes === null) return null;
  const hash = hashOf(bytes);
  const { text, reason } = textOf(bytes);
  if (text === null) return { path, hash, text, content: null, reason };
  const task = {
    name: path,
    content: plainLines(text),
    format: 'dotprompt',
    variableStyle: null,
    folder: null,
  } as const;
  const { prompts, entries } = await reader.read(task, { signal });
  const [found] = prompts;
  if (found === undefined) {
    const rejected = entries.find(({ outcome }) => outcome === 'refused');
    const message = rejected?.message ?? 'The file contains no prompt';
    return { path, hash, text, content: null, reason: { message, line: rejected?.line ?? null } };
  }
  const content = promptContent(withModel(found, systemOf).prompt);
  return { path, hash, text, content: { ...content, folder: libraryFolder(folder, path) }, reason: null };
}

/** Throws `invalid_request` for a file that can't be read as a prompt. */
export function requireContent(file: ScannedFile): PromptContent {
  if (file.content !== null) return file.content;
  throw new AppError('invalid_request', `Couldn't read the file: ${file.reason?.message ?? 'it contains no prompt'}.`);
}
