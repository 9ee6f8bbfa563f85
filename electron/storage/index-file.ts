import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createPrivateFile } from './database.ts';

/** A database that can be rebuilt from other data. */
export interface IndexFile {
  readonly file: string;
  /** A file with another format is deleted. */
  readonly format: number;
  /** SQL that creates the tables. */
  readonly tables: string;
  readonly cacheKilobytes: number;
  /** Sets up each connection, for example with temporary tables. */
  readonly prepare?: (index: Database.Database) => void;
  /** Whether the index matches its source. If not, it is deleted. */
  readonly isOurs?: (index: Database.Database) => boolean;
}

/** Removes an index, or the folder that has its name, so that a new one can be created. */
export function removeIndexFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true, recursive: true });
}

/** Whether a failure means that the file is damaged. SQLite checks only the pages that it reads, so it can occur long after opening. */
export function isDamage(failure: unknown): boolean {
  return failure instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(failure.code);
}

/** Whether an index can't be opened because it is damaged, unreadable or another user's file. */
function isInTheWay(failure: unknown): boolean {
  return (
    failure instanceof Database.SqliteError ||
    ['EPERM', 'EACCES'].includes(String((failure as Error & { code?: unknown }).code))
  );
}

function openFile({ file, format, tables, cacheKilobytes, prepare }: IndexFile): Database.Database {
  createPrivateFile(file);
  const database = new Database(file);
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    // Deleted data is overwritten. Otherwise words of removed texts would stay readable in free pages of the file.
    database.pragma('secure_delete = ON');
    database.pragma(`cache_size = -${cacheKilobytes}`);
    // A word that wasn't searched before is on a dozen pages. Memory mapping reads them without a copy.
    database.pragma('mmap_size = 2147418112');
    if (database.pragma('user_version', { simple: true }) === 0) {
      database.transaction(() => {
        database.exec(tables);
        database.pragma(`user_version = ${format}`);
      })();
    }
    prepare?.(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens an index. Creates a new one if it can't be read, has another format or isn't ours. */
export function openIndexFile(index: IndexFile): Database.Database {
  try {
    const database = openFile(index);
    const isFitting = database.pragma('user_version', { simple: true }) === index.format;
    if (isFitting && index.isOurs?.(database) !== false) return database;
    database.close();
  } catch (error) {
    if (!isInTheWay(error)) throw error;
  }
  removeIndexFile(index.file);
  return openFile(index);
}
