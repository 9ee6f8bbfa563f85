import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { openIndexFile } from '../../storage/index-file.ts';

/** A file of another format is thrown away: everything in it is made from the runs. */
const format = 2;

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

/** Opens the audit's index; one that cannot be read, or that `isOurs` does not know, is made anew. */
export function openIndexDatabase(directory: string, isOurs: (index: Database.Database) => boolean): Database.Database {
  return openIndexFile({ file: indexFile(directory), format, tables, cacheKilobytes: 65_536, isOurs });
}
