import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { createPrivateFile } from './database.ts';

/**
 * Makes this process the only host of a data folder: credits are counted and runs are queued in its memory, and a second
 * host would take its runs under way for interrupted ones. The lock is SQLite's, hence the operating system's: it ends with
 * the process, however that ends. Throws `conflict` when another host has the folder.
 */
export function lockHost(directory: string): { release(): void } {
  const file = join(directory, 'touchstone.lock');
  createPrivateFile(file);
  const lock = new Database(file, { timeout: 0 });
  try {
    // Nothing is ever written; without this an empty journal would lie beside the lock.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new AppError(
      'conflict',
      'Another Touchstone is using this data folder. Close it, or give this one a folder of its own with --data-dir.',
      { cause: error },
    );
  }
  return { release: () => void lock.close() };
}
