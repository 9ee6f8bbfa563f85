import { join } from 'node:path';
import { openIndexFile } from '../../storage/index-file.ts';
import type { AuditSource } from './audit-source.ts';
import type Database from 'better-sqlite3';

/** The progress of the index. */
export interface IndexCheckpoints {
  /** `texts`: the last run with indexed words. `revision`: the last applied change. `run`: the run that identifies the database. 0 for none. */
  read(name: 'texts' | 'revision' | 'run'): number;
  write(name: 'texts' | 'revision', value: number): void;
  writeRun(sequence: number, id: string): void;
  /** Call it when all runs are removed. */
  forgetRun(): void;
  /** Whether the index was built from this database and isn't newer than it, as after restoring a backup. */
  fit(source: AuditSource): boolean;
  /** Active runs. Their words are indexed when they end. */
  unendedTexts(): number[];
  awaitText(run: number): void;
  gotText(run: number): void;
}

export function createIndexCheckpoints(index: Database.Database): IndexCheckpoints {
  const select = index.prepare<[string], string>('SELECT value FROM marks WHERE name = ?').pluck();
  const upsert = index.prepare(
    'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const remove = index.prepare('DELETE FROM marks WHERE name = ?');
  const unended = index.prepare<[], number>('SELECT run FROM unended_texts').pluck();
  const insertUnended = index.prepare('INSERT OR IGNORE INTO unended_texts (run) VALUES (?)');
  const deleteUnended = index.prepare('DELETE FROM unended_texts WHERE run = ?');
  const read = (name: string) => Number(select.get(name) ?? 0);
  return {
    read,
    write: (name, value) => void upsert.run(name, String(value)),
    writeRun: (sequence, id) => {
      upsert.run('run', String(sequence));
      upsert.run('run-id', id);
    },
    forgetRun() {
      remove.run('run');
      remove.run('run-id');
    },
    fit(source) {
      const id = select.get('run-id');
      const lastRun = Math.max(source.lastRun(), source.lastRemovedRun());
      if (read('revision') > source.lastRevision() || read('texts') > lastRun) return false;
      if (id === undefined) return true;
      const found = source.runId(read('run'));
      // If the run was removed before the index could follow, the removal is among the changes that it has yet to apply.
      return found === null ? source.hasChanged(read('run'), read('revision')) : found === id;
    },
    unendedTexts: () => unended.all(),
    awaitText: (run) => void insertUnended.run(run),
    gotText: (run) => void deleteUnended.run(run),
  };
}

/** A file with another format is deleted, because everything in it can be rebuilt from the runs. */
const format = 3;

/** How words are told apart and compared. */
export const textTokenizer = 'unicode61 remove_diacritics 2';

/**
 * `blocks` are sealed: all their runs have ended. `texts` stores no text (`content=''`), only the positions of words. It buffers up to 16 MB
 * of words before a write, which saves a third of the time.
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
    prompt, answer, content='', contentless_delete=1, tokenize='${textTokenizer}'
  );
  INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216);
`;

export function indexFile(directory: string): string {
  return join(directory, 'audit-index.sqlite');
}

/** Reads are memory mapped, so this is for pages that a write changes. Eight times as much is soon full, and indexes no faster. */
const cacheKilobytes = 8_192;

/** Opens the audit's index. Creates a new one if it can't be read or `isOurs` rejects it. */
export function openIndexDatabase(directory: string, isOurs: (index: Database.Database) => boolean): Database.Database {
  return openIndexFile({ file: indexFile(directory), format, tables, cacheKilobytes, isOurs });
}
