import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { prepareDirectory } from './data-directory.ts';
import { migrate } from './migrate.ts';

/** How long a statement waits for the transaction of another process, such as the command line for keys. */
const busyMilliseconds = 5000;

/**
 * A commit writes the log back into the database itself when it has this many pages (256 MB). The worker of `write-ahead-log.ts` does so
 * much earlier. This limit is for processes without that worker, and for writes that are faster than it. With 64 MB, a few requests of
 * 4 MB reached it, and one of their commits blocked all others for 290 to 560 ms on a busy disk.
 */
const checkpointPages = 64_000;

export function databaseFile(directory: string): string {
  return join(directory, 'touchstone.sqlite');
}

/**
 * Creates the file before SQLite does, readable only by its owner. SQLite's log gets the same mode. An existing file is not opened,
 * because closing it would release the locks that this process may have on it through SQLite.
 */
export function createPrivateFile(file: string): void {
  if (existsSync(file)) chmodSync(file, 0o600);
  else closeSync(openSync(file, 'a', 0o600));
}

function fileBytes(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Throws if the database was lost, because of a damaged disk or an incomplete copy of the folder. SQLite would create a new one and
 * silently discard the log, which may contain everything.
 */
function rejectLostDatabase(directory: string): void {
  const file = databaseFile(directory);
  if (fileBytes(file) > 0) return;
  const hasLog = fileBytes(`${file}-wal`) > 0;
  // A first start that is interrupted early leaves only an empty file.
  const wasUsed = existsSync(file) && ['audit-index.sqlite', 'knowledge.sqlite', 'backups'].some(isIn(directory));
  if (!hasLog && !wasUsed) return;
  throw new AppError(
    'conflict',
    'The database touchstone.sqlite is empty or missing, but other files of this data folder exist. Restore it, or a copy from the ' +
      'folder `backups`. To start with an empty database, use another data folder.',
  );
}

const isIn = (directory: string) => (name: string) => existsSync(join(directory, name));

/**
 * Opens the database of a data folder and brings its tables up to date. Several processes may have it open.
 * Throws `conflict` if a newer version created it, or if it was lost from a folder that is in use.
 */
export function openDatabase(directory: string): Database.Database {
  prepareDirectory(directory);
  const file = databaseFile(directory);
  rejectLostDatabase(directory);
  createPrivateFile(file);
  const database = new Database(file, { timeout: busyMilliseconds });
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    // Always on, not only while runs are removed: otherwise old copies of moved texts would stay in the file.
    database.pragma('secure_delete = ON');
    database.pragma(`wal_autocheckpoint = ${checkpointPages}`);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
