import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../shared/app-error.ts';
import type { StoredFile } from '../../shared/contract/files.ts';
import { createMutex } from '../common/mutex.ts';
import type { FileStore } from '../storage/file-store.ts';

const dayMilliseconds = 24 * 3_600_000;
/** A file that no run uses is stored this long after it was last sent or used. */
const unusedMilliseconds = dayMilliseconds;
/** A draft of the window may hold a file for weeks before its first run. */
const unusedInWindowMilliseconds = 30 * dayMilliseconds;
/** Max files that one step removes. */
const removedAtOnce = 100;

function missingContent({ name }: Pick<StoredFile, 'name'>, cause: unknown): AppError {
  return new AppError(
    'internal',
    `The content of the file "${name}" is missing from the data folder. Send the file again.`,
    { cause },
  );
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function syncFolder(path: string): Promise<void> {
  // Windows can't open folders; its file system logs the rename.
  if (process.platform === 'win32') return;
  await using folder = await open(path);
  await folder.sync();
}

/** The contents of files on the disk, at `ab/abcd…`, and their table. */
export class FileFolder {
  readonly #directory: string;
  readonly #store: FileStore;
  /** Storing a file and removing it must not overlap. */
  readonly #mutex = createMutex(() => undefined);
  readonly #closing = new AbortController();

  constructor(directory: string, store: FileStore) {
    this.#directory = directory;
    this.#store = store;
  }

  /** Creates the folders, and removes incomplete files of an earlier process. */
  async prepare(): Promise<void> {
    await makeFolder(this.#directory);
    await rm(this.#incoming, { recursive: true, force: true });
    await makeFolder(this.#incoming);
  }

  /** A new path for arriving content. */
  incomingPath(): string {
    return join(this.#incoming, randomUUID());
  }

  /**
   * Moves content that is safely on the disk to its path. The content comes first and then its row: a crash in between leaves
   * content without a row, which `removeOrphans` finds. Returns whether the content is new for the caller.
   */
  async store(path: string, file: StoredFile, callerId: string): Promise<boolean> {
    return this.#exclusively(async () => {
      const folder = join(this.#directory, file.id.slice(0, 2));
      await makeFolder(folder);
      await rename(path, this.pathOf(file.id));
      await syncFolder(folder);
      return this.#store.add(file, callerId);
    });
  }

  /** Throws `internal` if the content is missing. */
  async open(file: Pick<StoredFile, 'id' | 'name'>): Promise<FileHandle> {
    try {
      return await open(this.pathOf(file.id));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw missingContent(file, error);
      throw error;
    }
  }

  async removeUnused(now: number, windowCallerId: string): Promise<void> {
    const age = { before: now - unusedMilliseconds, windowCallerId, windowBefore: now - unusedInWindowMilliseconds };
    const removeStep = async () => {
      const ids = this.#store.removeUnused(age, removedAtOnce);
      for (const id of ids) await rm(this.pathOf(id), { force: true });
      return ids.length;
    };
    while ((await this.#exclusively(removeStep)) === removedAtOnce);
  }

  /** Removes old content without a row that arrived after `since`. */
  async removeOrphans(now: number, since: number): Promise<void> {
    const folders = (await readdir(this.#directory)).filter((name) => /^[\da-f]{2}$/.test(name));
    for (const folder of folders) {
      for (const id of await readdir(join(this.#directory, folder))) {
        this.#closing.signal.throwIfAborted();
        if (!this.#store.has(id)) await this.#exclusively(() => this.#removeOrphan(join(folder, id), now, since));
      }
    }
  }

  close(): void {
    this.#closing.abort();
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #removeOrphan(name: string, now: number, since: number): Promise<void> {
    const path = join(this.#directory, name);
    const changedAt = (await stat(path).catch(() => null))?.mtimeMs ?? now;
    if (now - changedAt > unusedMilliseconds && changedAt > since) await rm(path, { force: true });
  }

  get #incoming(): string {
    return join(this.#directory, 'incoming');
  }

  /** Where the content of a file is. */
  pathOf(id: string): string {
    return join(this.#directory, id.slice(0, 2), id);
  }

  async #exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const release = await this.#mutex.take({ signal: this.#closing.signal });
    try {
      return await work();
    } finally {
      release();
    }
  }
}
