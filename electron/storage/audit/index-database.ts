import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createPrivateFile } from '../database.ts';

/** A file of another format is thrown away: everything in it is made from the runs. */
const format = 1;

/**
 * `blocks` are the sealed ones, whose runs have all ended. `texts` keeps no text of its own (`content=''`), only which words
 * stand where; words of up to 16 MB are gathered before they are written, which a third of the work depends on.
 */
const tables = `
  CREATE TABLE marks (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE terms (code INTEGER PRIMARY KEY, field TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (field, value)) STRICT;
  CREATE TABLE blocks (block INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE postings (
    block INTEGER NOT NULL, term INTEGER NOT NULL, places BLOB NOT NULL, PRIMARY KEY (block, term)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE columns (
    field TEXT NOT NULL, block INTEGER NOT NULL, least REAL, most REAL, numbers BLOB NOT NULL, PRIMARY KEY (field, block)
  ) STRICT;
  CREATE TABLE unended_texts (run INTEGER PRIMARY KEY) STRICT;
  CREATE VIRTUAL TABLE texts USING fts5(
    prompt, answer, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
  );
  INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216);
`;

export function indexFile(directory: string): string {
  return join(directory, 'audit-index.sqlite');
}

function removeFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

function openFile(file: string): Database.Database {
  createPrivateFile(file);
  const database = new Database(file);
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('cache_size = -65536');
    // A word that was not looked for before is spread over a dozen pages; this way they are read without a copy.
    database.pragma('mmap_size = 2147418112');
    if (database.pragma('user_version', { simple: true }) === 0) {
      database.transaction(() => {
        database.exec(tables);
        database.pragma(`user_version = ${format}`);
      })();
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens the audit's index; one that cannot be read, or that `isOurs` does not know, is made anew. */
export function openIndexDatabase(directory: string, isOurs: (index: Database.Database) => boolean): Database.Database {
  const file = indexFile(directory);
  try {
    const database = openFile(file);
    if (database.pragma('user_version', { simple: true }) === format && isOurs(database)) return database;
    database.close();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
  }
  removeFile(file);
  return openFile(file);
}
