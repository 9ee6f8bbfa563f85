import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { databaseFile } from './database.ts';
import { emptyLog } from './word-erasure.ts';
import Database from 'better-sqlite3';

/** The log is written back after this many new pages. That is rare enough to write frequently changed pages only once. */
const maxPages = 4000;

interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/** Writes the log back into the database, on a separate connection in a worker thread, because it takes 5 to 20 ms. */
export interface LogWriter {
  /** Writes the log back if it is long enough. Writers continue meanwhile. */
  writeBack(): void;
  /** Writes all of the log back and truncates it. Returns false, without waiting, while another connection reads or writes. */
  empty(): boolean;
  close(): void;
}

export function createLogWriter(directory: string): LogWriter {
  const database = new Database(databaseFile(directory), { fileMustExist: true });
  database.pragma('synchronous = NORMAL');
  return {
    writeBack() {
      const [state] = database.pragma('wal_checkpoint(NOOP)') as LogState[];
      if (state !== undefined && state.log - state.checkpointed > maxPages) database.pragma('wal_checkpoint(PASSIVE)');
    },
    empty: () => emptyLog(database),
    close: () => void database.close(),
  };
}

const syncFile = promisify(fdatasync);
const closeFile = promisify(close);

const syncDelayMilliseconds = 20;

/** Syncs SQLite's log to the disk without blocking. */
export interface LogSync {
  /** Resolves when everything written before the call would survive a loss of power. */
  sync(): Promise<void>;
  /** Flushes within 20 ms. Calls in between share one flush, so the cost doesn't grow, and a power cut loses at most 20 ms. */
  syncSoon(): void;
  close(): Promise<void>;
}

/**
 * SQLite's own `synchronous = FULL` does the same sync inside the commit, where it blocks every other request of the process. The
 * log file stays the same one while the database is open, and SQLite keeps no locks on it that closing our own handle could drop.
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

  /** Writes during a sync are covered by the next one, which they share. */
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
      // The next write reports a failing disk. No caller waits for this flush.
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
