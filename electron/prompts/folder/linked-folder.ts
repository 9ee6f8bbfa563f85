import { stat } from 'node:fs/promises';
import { basename, relative, sep } from 'node:path';
import { AppError } from '../../../shared/app-error.ts';
import type { FolderFile, FolderIssue, PromptFolder } from '../../../shared/contract/prompt-folders.ts';
import type { Log } from '../../log.ts';
import { createMutex } from '../../common/mutex.ts';
import { isIgnoredName, isPromptFile, readTree } from './scanned-file.ts';
import type { FolderOperations } from './folder-operations.ts';
import { type HashCache, reconcile } from './reconcile.ts';
import { readSides, type Resolution, resolveConflict } from './resolve-conflict.ts';

/** A scan waits until a program that writes many files has finished, such as git when it switches branches. */
const debounceMs = 150;
const maxMilliseconds = 5_000;

interface FolderWatch {
  close(): Promise<void>;
}

/**
 * Calls `onChange` after something in a folder has changed and no further change follows. A scan then finds the changes. Calls `onFailure`
 * with errors of the watcher.
 */
export async function watchFolder(
  root: string,
  { onChange, onFailure }: { onChange: () => void; onFailure: (error: unknown) => void },
): Promise<FolderWatch> {
  const { watch: watchFiles } = await import('chokidar');
  let timer: NodeJS.Timeout | null = null;
  let firstAt = 0;
  const watcher = watchFiles(root, {
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true,
    atomic: false,
    ignored: (path, stats) => {
      const names = relative(root, path).split(sep);
      return names.some(isIgnoredName)
        ? path !== root && names[0] !== '..'
        : stats?.isFile() === true && !isPromptFile(basename(path));
    },
  });
  const changed = (): void => {
    const now = Date.now();
    if (timer === null) firstAt = now;
    else clearTimeout(timer);
    const wait = Math.max(0, Math.min(debounceMs, firstAt + maxMilliseconds - now));
    timer = setTimeout(() => {
      timer = null;
      onChange();
    }, wait);
  };
  watcher.on('all', changed);
  // The watcher doesn't report changes that happen before it has read the whole folder.
  watcher.on('ready', changed);
  watcher.on('error', onFailure);
  return {
    async close() {
      if (timer !== null) clearTimeout(timer);
      await watcher.close();
    },
  };
}

/** A linked folder. It is scanned after each change of its files or prompts. */
export interface LinkedFolder {
  state(): PromptFolder;
  /** Scans the folder, after the running scan if there is one. Resolves when the scan is done. */
  scan(): Promise<void>;
  /** Throws `not_found` for a file without an issue. */
  readFile(path: string, options: { signal: AbortSignal }): Promise<FolderFile>;
  /** Throws `not_found` as well, and `conflict` if the file or the prompt has changed since they were read. */
  resolve(resolution: Resolution, options: { signal: AbortSignal }): Promise<void>;
  close(): Promise<void>;
}

export interface LinkedFolderOptions extends FolderOperations {
  /** Called after each scan. */
  readonly onChange: () => void;
  readonly log: Log;
}

/** The delay of the next scan if a program was still writing a file. */
const staleMilliseconds = 200;

const unavailableCodes = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EIO', 'ESTALE', 'ENODEV', 'ENXIO']);

function failureOf(error: unknown): string | null {
  if (error instanceof AppError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !unavailableCodes.has(code)) return null;
  return code === 'ENOENT' || code === 'ENOTDIR'
    ? 'Folder not found. Its prompts stay unchanged until it is back.'
    : `Couldn't read the folder (${code}). Its prompts stay unchanged until it is readable.`;
}

/** Runs one task at a time that scans the folder or writes to it. */
function createFolderMutex(closing: AbortSignal) {
  const mutex = createMutex(() => undefined);
  return {
    async inTurn<Result>(outer: AbortSignal | null, task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
      const signal = outer === null ? closing : AbortSignal.any([outer, closing]);
      const release = await mutex.take({ signal });
      try {
        return await task(signal);
      } finally {
        release();
      }
    },
    /** Resolves when no task runs. */
    async ended(): Promise<void> {
      const release = await mutex.take({ signal: new AbortController().signal });
      release();
    },
  };
}

export function createLinkedFolder(options: LinkedFolderOptions): LinkedFolder {
  const { store, onChange, log } = options;
  const closing = new AbortController();
  const { inTurn, ended } = createFolderMutex(closing.signal);
  const hashes: HashCache = new Map();
  let stored = options.stored;
  let state: PromptFolder['state'] = 'reading';
  let failure: string | null = null;
  let watchFailure: string | null = null;
  let scannedAt: string | null = null;
  let issues: readonly FolderIssue[] = [];
  let nextScan: Promise<void> | null = null;
  let staleTimer: NodeJS.Timeout | null = null;
  let watch: FolderWatch | null = null;

  const operations = (): FolderOperations => ({ ...options, stored });

  async function scanNow(signal: AbortSignal): Promise<void> {
    if (!(await stat(stored.path)).isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
    const tree = await readTree(stored.path, { signal });
    await startWatching();
    const result = await reconcile(operations(), { tree, hashes, signal });
    if (!stored.wasRead) {
      store.markRead(stored.id);
      stored = { ...stored, wasRead: true };
    }
    issues = result.issues;
    state = 'watching';
    failure = watchFailure;
    if (result.isStale) staleTimer ??= setTimeout(rescan, staleMilliseconds).unref();
  }

  function rescan(): void {
    staleTimer = null;
    void scan();
  }

  async function startWatching(): Promise<void> {
    watch ??= await watchFolder(stored.path, {
      onChange: () => void scan(),
      onFailure: (error) => {
        log('A linked folder cannot be watched', error);
        watchFailure = "Touchstone can't detect changes in this folder. Select Rescan after a change.";
      },
    });
  }

  async function scanInTurn(): Promise<void> {
    await inTurn(null, async (signal) => {
      // A request from now on needs another scan, because this one may have passed the changed file already.
      nextScan = null;
      try {
        await scanNow(signal);
      } catch (error) {
        if (closing.signal.aborted) return;
        const reason = failureOf(error);
        if (reason === null) log('A linked folder could not be read', error);
        state = 'unavailable';
        failure = reason ?? "Couldn't read the folder. Select Rescan.";
      }
      scannedAt = new Date().toISOString();
      onChange();
    }).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
  }

  function scan(): Promise<void> {
    return (nextScan ??= scanInTurn());
  }

  function requiredIssue(path: string): FolderIssue {
    const issue = issues.find((one) => one.path === path);
    if (issue) return issue;
    throw new AppError('not_found', 'This file and its prompt are already in sync.');
  }

  return {
    state: () => ({
      id: stored.id,
      path: stored.path,
      folder: stored.folder,
      linkedAt: new Date(stored.linkedAt).toISOString(),
      lookedAt: scannedAt,
      state,
      failure,
      files: store.files(stored.id).length,
      issues: [...issues],
    }),
    scan,
    readFile: (path, { signal }) => inTurn(signal, (inner) => readSides(operations(), requiredIssue(path), inner)),
    async resolve(resolution, { signal }) {
      await inTurn(signal, (inner) => resolveConflict(operations(), requiredIssue(resolution.path), resolution, inner));
      await scan();
    },
    async close() {
      closing.abort(new DOMException('The folder was closed.', 'AbortError'));
      if (staleTimer !== null) clearTimeout(staleTimer);
      // A running scan stops at its next step. Wait for it, because it may start the watcher, and the database closes afterwards.
      await ended();
      await watch?.close();
    },
  };
}
