import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const syncFile = promisify(fdatasync);
const closeFile = promisify(close);

const syncDelayMilliseconds = 20;

/** Pushes what SQLite has written to its log out of the operating system's memory and onto the disk, without blocking. */
export interface LogSync {
  /** Resolves when everything written before the call would survive a loss of power. */
  sync(): Promise<void>;
  /** Does so within 20 ms, however often it is asked: what a loss of power can take is a blink, at a cost that does not grow. */
  syncSoon(): void;
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
  let timer: NodeJS.Timeout | null = null;

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

  function syncSoon(): void {
    timer ??= setTimeout(() => {
      timer = null;
      // A disk that fails shows itself in the next write; nobody waits for this one.
      sync().catch(() => undefined);
    }, syncDelayMilliseconds).unref();
  }

  return {
    sync,
    syncSoon,
    async close() {
      if (timer) clearTimeout(timer);
      await Promise.allSettled([running, next]);
      if (handle !== null) await closeFile(handle);
      handle = null;
    },
  };
}
