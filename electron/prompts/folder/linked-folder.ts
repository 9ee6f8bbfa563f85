import { stat } from 'node:fs/promises';
import { basename, relative, sep } from 'node:path';
import { watch as watchFiles } from 'chokidar';
import { AppError } from '../../../shared/app-error.ts';
import type { FolderFile, FolderIssue, PromptFolder } from '../../../shared/contract/prompt-folders.ts';
import type { Log } from '../../log.ts';
import { createMutex } from '../../common/mutex.ts';
import { isIgnoredName, isPromptFile, readTree } from './found-file.ts';
import type { FolderWork } from './folder-work.ts';
import { type HashMemory, reconcile } from './reconcile.ts';
import { readSides, settle, type Settlement } from './settle.ts';

/** A program that writes many files, as git does when it changes branches, is let come to an end. */
const quietMilliseconds = 150;
const maxMilliseconds = 5_000;

interface FolderWatch {
  close(): Promise<void>;
}

/**
 * Tells when something in a folder has changed and is quiet again; what it was is found by looking. `onFailure` is told what keeps changes
 * from being noticed.
 */
export function watchFolder(
  root: string,
  { onChange, onFailure }: { onChange: () => void; onFailure: (error: unknown) => void },
): FolderWatch {
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
    const wait = Math.max(0, Math.min(quietMilliseconds, firstAt + maxMilliseconds - now));
    timer = setTimeout(() => {
      timer = null;
      onChange();
    }, wait);
  };
  watcher.on('all', changed);
  // What changed before the watcher had gone through the whole folder counts as always there and is not told by itself.
  watcher.on('ready', changed);
  watcher.on('error', onFailure);
  return {
    async close() {
      if (timer !== null) clearTimeout(timer);
      await watcher.close();
    },
  };
}

/** One linked folder, looked at again whenever it or its prompts change. */
export interface LinkedFolder {
  state(): PromptFolder;
  /** Looks at the folder now, or once more after the look that goes on; resolves when that is done. */
  look(): Promise<void>;
  /** Throws `not_found` for a file that is in step. */
  readFile(path: string, options: { signal: AbortSignal }): Promise<FolderFile>;
  /** Throws `not_found` as well, and `conflict` when something changed since. */
  settle(settlement: Settlement, options: { signal: AbortSignal }): Promise<void>;
  close(): Promise<void>;
}

export interface LinkedFolderOptions extends FolderWork {
  /** After each look: its state, its prompts or both may be other ones. */
  readonly onChange: () => void;
  readonly log: Log;
}

/** Another program that goes on writing is given time before the next look. */
const staleMilliseconds = 200;

const goneCodes = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EIO', 'ESTALE', 'ENODEV', 'ENXIO']);

function failureOf(error: unknown): string | null {
  if (error instanceof AppError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !goneCodes.has(code)) return null;
  return code === 'ENOENT' || code === 'ENOTDIR'
    ? 'Folder not found. Its prompts stay unchanged until it is back.'
    : `Couldn't read the folder (${code}). Its prompts stay unchanged until it is readable.`;
}

/** One at a time looks at the folder or writes into it. */
function createTurns(closing: AbortSignal) {
  const turns = createMutex(() => undefined);
  return {
    async inTurn<Result>(outer: AbortSignal | null, task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
      const signal = outer === null ? closing : AbortSignal.any([outer, closing]);
      const release = await turns.take({ signal });
      try {
        return await task(signal);
      } finally {
        release();
      }
    },
    /** Resolves when whoever has the turn has ended. */
    async ended(): Promise<void> {
      const release = await turns.take({ signal: new AbortController().signal });
      release();
    },
  };
}

export function createLinkedFolder(options: LinkedFolderOptions): LinkedFolder {
  const { store, onChange, log } = options;
  const closing = new AbortController();
  const { inTurn, ended } = createTurns(closing.signal);
  const hashes: HashMemory = new Map();
  let kept = options.kept;
  let state: PromptFolder['state'] = 'reading';
  let failure: string | null = null;
  let watchFailure: string | null = null;
  let lookedAt: string | null = null;
  let issues: readonly FolderIssue[] = [];
  let nextLook: Promise<void> | null = null;
  let staleTimer: NodeJS.Timeout | null = null;
  let watch: FolderWatch | null = null;

  const work = (): FolderWork => ({ ...options, kept });

  async function lookNow(signal: AbortSignal): Promise<void> {
    if (!(await stat(kept.path)).isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
    const tree = await readTree(kept.path, { signal });
    startWatching();
    const found = await reconcile(work(), { tree, hashes, signal });
    if (!kept.wasRead) {
      store.markRead(kept.id);
      kept = { ...kept, wasRead: true };
    }
    issues = found.issues;
    state = 'watching';
    failure = watchFailure;
    if (found.isStale) staleTimer ??= setTimeout(lookAgain, staleMilliseconds).unref();
  }

  function lookAgain(): void {
    staleTimer = null;
    void look();
  }

  function startWatching(): void {
    watch ??= watchFolder(kept.path, {
      onChange: () => void look(),
      onFailure: (error) => {
        log('A linked folder cannot be watched', error);
        watchFailure = "Touchstone can't detect changes in this folder. Select Rescan after a change.";
      },
    });
  }

  async function lookInTurn(): Promise<void> {
    await inTurn(null, async (signal) => {
      // Whoever asks from here on may have changed something that this look has already passed.
      nextLook = null;
      try {
        await lookNow(signal);
      } catch (error) {
        if (closing.signal.aborted) return;
        const reason = failureOf(error);
        if (reason === null) log('A linked folder could not be read', error);
        state = 'unavailable';
        failure = reason ?? "Couldn't read the folder. Select Rescan.";
      }
      lookedAt = new Date().toISOString();
      onChange();
    }).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
  }

  function look(): Promise<void> {
    return (nextLook ??= lookInTurn());
  }

  function requiredIssue(path: string): FolderIssue {
    const issue = issues.find((one) => one.path === path);
    if (issue) return issue;
    throw new AppError('not_found', 'This file and its prompt are already in sync.');
  }

  return {
    state: () => ({
      id: kept.id,
      path: kept.path,
      folder: kept.folder,
      linkedAt: new Date(kept.linkedAt).toISOString(),
      lookedAt,
      state,
      failure,
      files: store.files(kept.id).length,
      issues: [...issues],
    }),
    look,
    readFile: (path, { signal }) => inTurn(signal, (inner) => readSides(work(), requiredIssue(path), inner)),
    async settle(settlement, { signal }) {
      await inTurn(signal, (inner) => settle(work(), requiredIssue(settlement.path), settlement, inner));
      await look();
    },
    async close() {
      closing.abort(new DOMException('The folder was closed.', 'AbortError'));
      if (staleTimer !== null) clearTimeout(staleTimer);
      await watch?.close();
      // A look that goes on ends at its next step; nothing may use the database after this.
      await ended();
    },
  };
}
