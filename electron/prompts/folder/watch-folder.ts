import { basename, relative, sep } from 'node:path';
import { watch } from 'chokidar';
import { isIgnoredName, isPromptFile } from './folder-tree.ts';

/** A program that writes many files, as git does when it changes branches, is let come to an end. */
const quietMilliseconds = 150;
const mostMilliseconds = 5_000;

export interface FolderWatch {
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
  const watcher = watch(root, {
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
    const wait = Math.max(0, Math.min(quietMilliseconds, firstAt + mostMilliseconds - now));
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
