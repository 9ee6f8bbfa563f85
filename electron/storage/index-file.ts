import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createPrivateFile } from './database.ts';

/** A database that holds nothing but what can be made again from somewhere else. */
export interface IndexFile {
  readonly file: string;
  /** A file of another format is thrown away. */
  readonly format: number;
  /** SQL that makes its tables. */
  readonly tables: string;
  readonly cacheKilobytes: number;
  /** What every connection needs, such as temporary tables. */
  readonly prepare?: (index: Database.Database) => void;
  /** Whether it fits what it was made from; one that does not is thrown away. */
  readonly isOurs?: (index: Database.Database) => boolean;
}

/** Removes an index, or the folder that has its name, so that a new one can be created. */
export function removeIndexFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true, recursive: true });
}

/** Whether a failure says that a file is damaged. Only the pages that are read are looked at, so it may come long after the opening. */
export function isDamage(failure: unknown): boolean {
  return failure instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(failure.code);
}

/** A file that cannot be opened, or belongs to somebody else, is in the way as a damaged one is. */
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
    // What is taken away is overwritten too: otherwise words of removed texts would stay readable in the file's free pages.
    database.pragma('secure_delete = ON');
    database.pragma(`cache_size = -${cacheKilobytes}`);
    // A word that was not looked for before is spread over a dozen pages; this way they are read without a copy.
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
