import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { prepareDirectory } from './data-directory.ts';
import { migrate } from './migrate.ts';

/** How long a statement waits for another process (the command line for keys) to end its transaction. */
const busyMilliseconds = 5000;

/**
 * A commit writes the log back into the database itself when it has this many pages (64 MB). The log's writer does so much
 * earlier beside it, so that this is what is left for processes without one, and for writing that outruns it.
 */
const checkpointPages = 16_000;

export function databaseFile(directory: string): string {
  return join(directory, 'touchstone.sqlite');
}

/**
 * Makes a file that only its owner may read, before SQLite does; SQLite's log takes over the mode. One that is there is
 * never opened: closing it again would drop the locks that this process may already hold on it through SQLite.
 */
export function createPrivateFile(file: string): void {
  if (existsSync(file)) chmodSync(file, 0o600);
  else closeSync(openSync(file, 'a', 0o600));
}

function fileBytes(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * A database that was lost, by a damaged disk or an unfinished copy of the folder, is not taken for a folder that is used for the first
 * time: SQLite would silently discard its log, which may contain everything.
 */
function rejectLostDatabase(directory: string): void {
  const file = databaseFile(directory);
  if (fileBytes(file) > 0) return;
  const hasLog = fileBytes(`${file}-wal`) > 0;
  // The first start leaves an empty file if it is ended at once, and none of the others.
  const wasUsed = existsSync(file) && ['audit-index.sqlite', 'knowledge.sqlite', 'backups'].some(isIn(directory));
  if (!hasLog && !wasUsed) return;
  throw new AppError(
    'conflict',
    'The database touchstone.sqlite is empty or gone, but other files of this data folder are there. Put it back, or a copy from the ' +
      'folder `backups`; to begin anew, use another data folder.',
  );
}

const isIn = (directory: string) => (name: string) => existsSync(join(directory, name));

/**
 * Opens the database of a data folder and brings its tables up to date. Several processes may have it open.
 * Throws `conflict` when a newer version made it, and when it was lost from a folder that is in use.
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
    // Always, not only while runs are removed: an older copy of a text that was moved would stay in the file without it.
    database.pragma('secure_delete = ON');
    database.pragma(`wal_autocheckpoint = ${checkpointPages}`);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
