import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const syncFile = promisify(fdatasync);
const closeFile = promisify(close);

/** Pushes what SQLite has written to its log out of the operating system's memory and onto the disk, without blocking. */
export interface LogSync {
  /** Resolves when everything written before the call would survive a loss of power. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * SQLite's own `synchronous = FULL` does the same sync inside the commit, where it holds up every other request of the
 * process. The log file stays the same one while the database is open, and SQLite keeps no locks on it that our own handle
 * could drop when it is closed.
 */
export function createLogSync(logFile: string): LogSync {
  let handle: number | null = null;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  async function syncNow(): Promise<void> {
    handle ??= openSync(logFile, 'r+');
    await syncFile(handle);
  }

  function start(): Promise<void> {
    running = syncNow().finally(() => {
      running = null;
    });
    return running;
  }

  /** Writes that come during a sync are covered only by the one after it, which they share. */
  function sync(): Promise<void> {
    if (running === null) return start();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return start();
      });
    return next;
  }

  return {
    sync,
    async close() {
      await Promise.allSettled([running, next]);
      if (handle !== null) await closeFile(handle);
      handle = null;
    },
  };
}
