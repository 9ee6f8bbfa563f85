import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, parse, sep } from 'node:path';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import type { FolderFile, PromptFolder } from '../../../shared/contract/prompt-folders.ts';
import type { Log } from '../../log.ts';
import { createChangeNotifier } from '../../common/change-notifier.ts';
import type { FolderStore, StoredFolder } from '../../storage/prompts/folder-store.ts';
import { readTree } from './scanned-file.ts';
import type { FolderOperations } from './folder-operations.ts';
import { createLinkedFolder, type LinkedFolder } from './linked-folder.ts';
import type { Resolution } from './resolve-conflict.ts';

/** Folders of `.prompt` files that are linked with the library. Methods with an `id` throw `not_found` for an unknown folder. */
export interface PromptFolders {
  list(): PromptFolder[];
  subscribe(listener: (folders: PromptFolder[]) => void): () => void;
  /** Throws `invalid_request` if the path isn't a folder, `conflict` if it is already linked, and `payload_too_large`. */
  link(path: string, folder: string | null, options: { signal: AbortSignal }): Promise<PromptFolder>;
  unlink(id: string): Promise<void>;
  scan(id: string): Promise<PromptFolder>;
  readFile(id: string, path: string, options: { signal: AbortSignal }): Promise<FolderFile>;
  resolve(id: string, resolution: Resolution, options: { signal: AbortSignal }): Promise<PromptFolder>;
  /** Updates the files after prompts were created, changed or deleted. */
  promptsChanged(): void;
  close(): Promise<void>;
}

export interface PromptFoldersOptions extends Omit<FolderOperations, 'stored' | 'store'> {
  readonly store: FolderStore;
  readonly log: Log;
}

const maxFolders = 20;
const tellMilliseconds = 100;

const isWithin = (inner: string, outer: string, separator: string) =>
  inner === outer || inner.startsWith(outer.endsWith(separator) ? outer : `${outer}${separator}`);

/** The folder's path with links resolved. */
async function requireFolder(path: string): Promise<string> {
  const problem = (issue: string, message: string) => invalidField('path', issue, message);
  if (!isAbsolute(path)) throw problem('must be an absolute path', 'Enter the full path of the folder.');
  const real = await realpath(path).catch(() => null);
  if (real === null || !(await stat(real)).isDirectory())
    throw problem('is not a folder', 'Folder not found on this device, or Touchstone may not read it.');
  if (parse(real).root === real) throw problem('is a whole disk', "A whole disk can't be linked. Choose a folder.");
  return real;
}

function requireApart(path: string, linked: readonly StoredFolder[]): void {
  if (linked.length >= maxFolders) throw new AppError('conflict', `You can link up to ${maxFolders} folders.`);
  for (const stored of linked) {
    if (!isWithin(path, stored.path, sep) && !isWithin(stored.path, path, sep)) continue;
    const issue = path === stored.path ? 'is already linked' : 'overlaps a linked folder';
    throw new AppError('conflict', `This folder ${issue}.`, { details: [{ field: 'path', issue }] });
  }
}

/** A folder of the library that isn't linked yet. */
function libraryFolderFor(path: string, requested: string | null, linked: readonly StoredFolder[]): string {
  const isTaken = (folder: string) =>
    linked.some((stored) => isWithin(folder, stored.folder, '/') || isWithin(stored.folder, folder, '/'));
  if (requested !== null) {
    const folder = requested.split('/').filter(Boolean).join('/');
    if (folder !== '' && !isTaken(folder)) return folder;
    const message = 'This library folder is used by another linked folder.';
    throw new AppError('conflict', message, { details: [{ field: 'folder', issue: 'is taken' }] });
  }
  const name = basename(path).slice(0, 200);
  for (let count = 1; ; count += 1) {
    const folder = count === 1 ? name : `${name} ${count}`;
    if (!isTaken(folder)) return folder;
  }
}

/** A folder that can be linked, and its folder of the library. Throws as `link` does. */
async function newLink(
  { path, folder, signal }: { readonly path: string; readonly folder: string | null; readonly signal: AbortSignal },
  store: FolderStore,
): Promise<StoredFolder> {
  const real = await requireFolder(path);
  requireApart(real, store.list());
  await readTree(real, { signal });
  // Another folder may have been linked while this one was read.
  requireApart(real, store.list());
  return store.add(real, libraryFolderFor(real, folder, store.list()));
}

export function createPromptFolders(options: PromptFoldersOptions): PromptFolders {
  const { store, log } = options;
  const folders = new Map<string, LinkedFolder>();
  const list = () => [...folders.values()].map((folder) => folder.state());
  const changes = createChangeNotifier(list, tellMilliseconds);

  function open(stored: StoredFolder): LinkedFolder {
    const folder = createLinkedFolder({ ...options, stored, log, onChange: changes.changed });
    folders.set(stored.id, folder);
    return folder;
  }

  function required(id: string): LinkedFolder {
    const folder = folders.get(id.toLowerCase());
    if (folder) return folder;
    throw new AppError('not_found', "This folder isn't linked.");
  }

  for (const stored of store.list()) void open(stored).scan();

  return {
    list,
    subscribe: changes.subscribe,
    async link(path, folder, { signal }) {
      const linked = open(await newLink({ path, folder, signal }, store));
      await linked.scan();
      return linked.state();
    },
    async unlink(id) {
      const folder = required(id);
      folders.delete(id.toLowerCase());
      await folder.close();
      store.remove(id);
      changes.changed();
    },
    async scan(id) {
      const folder = required(id);
      await folder.scan();
      return folder.state();
    },
    readFile: (id, path, waits) => required(id).readFile(path, waits),
    async resolve(id, resolution, waits) {
      const folder = required(id);
      await folder.resolve(resolution, waits);
      return folder.state();
    },
    promptsChanged() {
      for (const folder of folders.values()) void folder.scan();
    },
    async close() {
      changes.close();
      await Promise.all([...folders.values()].map((folder) => folder.close()));
      folders.clear();
    },
  };
}
