import { join } from 'node:path';
import { prepareDirectory } from '../../storage/data-directory.ts';
import { openIndexFile } from '../../storage/index-file.ts';
import type { IndexedPassage, SourceRevision } from './knowledge-index.ts';
import type { QuantizedVector } from './vector-store.ts';
import type Database from 'better-sqlite3';

/** A file of another format is deleted, because everything in it can be rebuilt from the sources. */
const format = 3;

/**
 * Words in the form in which they are compared: without case, accents and English endings. The index stores no text (`content=''`);
 * the text is in `passages`.
 */
const tokenizer = `tokenize='porter unicode61 remove_diacritics 2'`;

/**
 * `passages.id` is the rowid in `words` and the vector's slot in memory. Numbers of sources are never reused, so that passages of a
 * removed source, which are deleted gradually, can't become those of another one. `createWordErasure` clears deleted rows. Words of
 * up to 16 MB are buffered before a write, which makes bulk writes a third faster.
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

/** Shows how SQLite splits a text into words. In memory, and emptied after each use. */
const probeTables = `
  CREATE VIRTUAL TABLE temp.probe USING fts5(text, content='', detail=none, ${tokenizer});
  CREATE VIRTUAL TABLE temp.probe_words USING fts5vocab(temp, probe, 'instance');
`;

export function indexFile(directory: string): string {
  return join(directory, 'knowledge.sqlite');
}

/** Opens the index of a data folder. One that can't be read, or has another format, is replaced. */
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

/** A revision of a source in the index. */
export interface SourceEntry extends SourceRevision {
  /** Never reused. */
  readonly number: number;
  readonly isFinished: boolean;
}

/** A passage with its position, but without its text. */
export interface PassageKey {
  readonly id: number;
  readonly source: number;
}

export interface StoredPassage extends IndexedPassage, PassageKey {
  readonly position: number;
}

interface SourceRow {
  readonly number: number;
  readonly source_id: string;
  readonly dataspace_id: string;
  readonly revision: string;
  readonly embedding_model: string | null;
  readonly is_finished: number;
}

function toEntry(row: SourceRow): SourceEntry {
  return {
    number: row.number,
    sourceId: row.source_id,
    dataspaceId: row.dataspace_id,
    revision: row.revision,
    embeddingModel: row.embedding_model,
    isFinished: row.is_finished === 1,
  };
}

/** A passage without the index's own fields. */
export function plainPassage({ text, start, end, page, heading }: IndexedPassage): IndexedPassage {
  return { text, start, end, page, heading };
}

/** The tables of the index. This object has no state. */
export function createPassageStore(database: Database.Database) {
  const statements = passageStatements(database);
  return {
    transaction: <Result>(work: () => Result): Result => database.transaction(work)(),
    entries: (): SourceEntry[] => statements.sources.all().map(toEntry),
    removedNumbers: (): number[] => statements.removedSources.all(),
    /** In the order of their IDs. */
    places: (): IterableIterator<PassageKey> => statements.places.iterate(),
    *vectors(): Generator<QuantizedVector & PassageKey> {
      for (const { bytes, ...row } of statements.vectors.iterate()) {
        yield { ...row, bytes: new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) };
      }
    },
    addSource({ sourceId, dataspaceId, revision, embeddingModel }: SourceRevision): SourceEntry {
      const { lastInsertRowid } = statements.insertSource.run(sourceId, dataspaceId, revision, embeddingModel);
      return {
        number: Number(lastInsertRowid),
        sourceId,
        dataspaceId,
        revision,
        embeddingModel,
        isFinished: false,
      };
    },
    finishSource: (number: number) => void statements.finishSource.run(number),
    markRemoved: (number: number) => void statements.markRemoved.run(number),
    forgetSource: (number: number) => void statements.forgetSource.run(number),
    count: (source: number): number => statements.count.get(source)!,
    has: (source: number, position: number): boolean => statements.has.get(source, position) !== undefined,
    insert({ id, source, position, start, end, page, heading, text }: StoredPassage, vector: QuantizedVector | null) {
      statements.insert.run(id, source, position, start, end, page, heading, text);
      if (vector === null) return;
      const { buffer, byteOffset, length } = vector.bytes;
      statements.insertVector.run(id, vector.scale, new Uint8Array(buffer, byteOffset, length));
    },
    remove(id: number) {
      statements.removePassage.run(id);
      statements.removeVector.run(id);
    },
    someOf: (source: number, limit: number): number[] => statements.someOf.all(source, limit),
    read: (id: number): StoredPassage => statements.read.get(id)!,
    /** The shortest passage that contains an offset. */
    at: (source: number, start: number, end: number): StoredPassage | undefined =>
      statements.at.get(source, start, end),
    page: (source: number, first: number, limit: number): StoredPassage[] => statements.page.all(source, first, limit),
  };
}

export type PassageStore = ReturnType<typeof createPassageStore>;

const columns = 'id, source, position, start, "end", page, heading, text';

function passageStatements(database: Database.Database) {
  return {
    sources: database.prepare<[], SourceRow>(
      'SELECT number, source_id, dataspace_id, revision, embedding_model, is_finished FROM sources WHERE is_removed = 0',
    ),
    removedSources: database.prepare<[], number>('SELECT number FROM sources WHERE is_removed = 1').pluck(),
    places: database.prepare<[], PassageKey>('SELECT id, source FROM passages ORDER BY id'),
    vectors: database.prepare<[], PassageKey & { scale: number; bytes: Buffer }>(
      'SELECT id, source, scale, bytes FROM vectors JOIN passages ON id = passage ORDER BY passage',
    ),
    insertSource: database.prepare<[string, string, string, string | null]>(
      'INSERT INTO sources (source_id, dataspace_id, revision, embedding_model, is_finished, is_removed) VALUES (?, ?, ?, ?, 0, 0)',
    ),
    finishSource: database.prepare<[number]>('UPDATE sources SET is_finished = 1 WHERE number = ?'),
    markRemoved: database.prepare<[number]>('UPDATE sources SET is_removed = 1 WHERE number = ?'),
    forgetSource: database.prepare<[number]>('DELETE FROM sources WHERE number = ?'),
    count: database.prepare<[number], number>('SELECT count(*) FROM passages WHERE source = ?').pluck(),
    has: database.prepare<[number, number], number>('SELECT 1 FROM passages WHERE source = ? AND position = ?').pluck(),
    insert: database.prepare<[number, number, number, number, number, number | null, string | null, string]>(
      `INSERT INTO passages (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertVector: database.prepare<[number, number, Uint8Array]>(
      'INSERT INTO vectors (passage, scale, bytes) VALUES (?, ?, ?)',
    ),
    removePassage: database.prepare<[number]>('DELETE FROM passages WHERE id = ?'),
    removeVector: database.prepare<[number]>('DELETE FROM vectors WHERE passage = ?'),
    someOf: database.prepare<[number, number], number>('SELECT id FROM passages WHERE source = ? LIMIT ?').pluck(),
    read: database.prepare<[number], StoredPassage>(`SELECT ${columns} FROM passages WHERE id = ?`),
    at: database.prepare<[number, number, number], StoredPassage>(
      `SELECT ${columns} FROM passages WHERE source = ? AND start <= ? AND "end" >= ? ORDER BY "end" - start LIMIT 1`,
    ),
    page: database.prepare<[number, number, number], StoredPassage>(
      `SELECT ${columns} FROM passages WHERE source = ? AND position >= ? ORDER BY position LIMIT ?`,
    ),
  };
}
