import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { prepareDirectory } from '../../storage/data-directory.ts';
import { openIndexFile } from '../../storage/index-file.ts';

/** A file of another format is thrown away: everything in it is made from the sources. */
const format = 2;

/**
 * Words as they are compared: without case, accents and English endings. In the index itself no text is kept (`content=''`): it
 * stands in `passages`.
 */
const tokenizer = `tokenize='porter unicode61 remove_diacritics 2'`;

/**
 * `passages.id` is the rowid in `words` and the slot of the vector in memory. Numbers of sources are never given twice, so that
 * passages of a removed source, which are deleted little by little, cannot become those of another one.
 * What was deleted is cleared by `createWordErasure`.
 * Words of up to 16 MB are gathered before they are written, which makes bulk writes a third quicker.
 */
const tables = `
  CREATE TABLE sources (
    number INTEGER PRIMARY KEY AUTOINCREMENT, source_id TEXT NOT NULL, dataspace_id TEXT NOT NULL, revision TEXT NOT NULL,
    embedding_model TEXT, is_finished INTEGER NOT NULL, is_removed INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sources_by_id ON sources (source_id);
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, position INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    page INTEGER, heading TEXT, text TEXT NOT NULL, UNIQUE (source, position)
  ) STRICT;
  CREATE TABLE vectors (passage INTEGER PRIMARY KEY, scale REAL NOT NULL, bytes BLOB NOT NULL) STRICT;
  CREATE VIRTUAL TABLE words USING fts5(text, heading, content='', contentless_delete=1, ${tokenizer});
  CREATE VIRTUAL TABLE word_counts USING fts5vocab(words, 'row');
  INSERT INTO words (words, rank) VALUES ('hashsize', 16777216);
`;

/** Tells how a text is cut into words, which SQLite does not say otherwise. It is in memory and always emptied. */
const probeTables = `
  CREATE VIRTUAL TABLE temp.probe USING fts5(text, content='', detail=none, ${tokenizer});
  CREATE VIRTUAL TABLE temp.probe_words USING fts5vocab(temp, probe, 'instance');
`;

export function indexFile(directory: string): string {
  return join(directory, 'knowledge.sqlite');
}

/** Opens the index of a data folder; one that cannot be read, or has another format, is made anew. */
export function openIndexDatabase(directory: string): Database.Database {
  prepareDirectory(directory);
  return openIndexFile({
    file: indexFile(directory),
    format,
    tables,
    cacheKilobytes: 32_768,
    prepare: (index) => {
      index.pragma('temp_store = MEMORY');
      index.exec(probeTables);
    },
  });
}
