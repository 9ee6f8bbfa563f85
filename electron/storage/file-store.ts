import type Database from 'better-sqlite3';
import type { FileMediaType, StoredFile } from '../../shared/contract/files.ts';

/** The details of a file from its content. */
export type FileContent = Omit<StoredFile, 'name'>;

/** The reader of a file. `canReadAll` is for readers who may read every run. */
export interface FileReader {
  readonly callerId: string;
  readonly canReadAll: boolean;
}

/** Files are removed that were last sent or used before a time, an earlier one for those of the window. */
export interface UnusedAge {
  readonly before: number;
  readonly windowCallerId: string;
  readonly windowBefore: number;
}

/** The table of files. Their content is in the folder `files`. */
export interface FileStore {
  /** Records a file and its sender. Returns whether the content is new for this caller. */
  add(file: StoredFile, callerId: string): boolean;
  /** Null for an unknown file, and for one that this reader may not read. Every reader may read the files of datasets. The name is the one that the reader gave, if any. */
  find(id: string, reader: FileReader): StoredFile | null;
  /** Extends the time for which a file is stored by a day. */
  noteUse(id: string): void;
  has(id: string): boolean;
  /** Removes files that no run and no dataset uses and that are old enough; at most `limit`. Returns their ids. */
  removeUnused(age: UnusedAge, limit: number): string[];
}

interface FileRow {
  readonly id: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly pages: number | null;
  readonly name: string | null;
}

function fileOf({ media_type, name, ...content }: FileRow): StoredFile {
  return { ...content, mediaType: media_type as FileMediaType, name: name ?? content.id };
}

function fileStatements(database: Database.Database) {
  const insert = database.prepare<[FileContent & { now: number }]>(`
    INSERT INTO files (id, media_type, bytes, width, height, pages, used_at)
    VALUES (@id, @mediaType, @bytes, @width, @height, @pages, @now) ON CONFLICT DO NOTHING
  `);
  const hasCaller = database.prepare<[string, string], 1>(
    'SELECT 1 FROM file_callers WHERE file = ? AND caller_id = ?',
  );
  const insertCaller = database.prepare<[string, string, string]>(`
    INSERT INTO file_callers (file, caller_id, name) VALUES (?, ?, ?)
    ON CONFLICT (file, caller_id) DO UPDATE SET name = excluded.name
  `);
  const touch = database.prepare<[number, string]>('UPDATE files SET used_at = ? WHERE id = ?');
  // Another caller's name of the same content is only for readers of all runs.
  const find = database.prepare<[{ id: string; callerId: string; all: 0 | 1 }], FileRow>(`
    SELECT files.id, media_type, bytes, width, height, pages,
      coalesce(file_callers.name, CASE WHEN @all THEN (SELECT name FROM file_callers WHERE file = files.id LIMIT 1) END) AS name
    FROM files LEFT JOIN file_callers ON file_callers.file = files.id AND file_callers.caller_id = @callerId
    WHERE files.id = @id AND (
      @all OR file_callers.name IS NOT NULL OR EXISTS (
        SELECT 1 FROM run_files JOIN runs ON runs.sequence = run_files.run
        WHERE run_files.file = files.id AND runs.caller_id = @callerId
      ) OR EXISTS (SELECT 1 FROM dataset_files WHERE dataset_files.file = files.id)
    )
  `);
  const has = database.prepare<[string], 1>('SELECT 1 FROM files WHERE id = ?').pluck();
  const unused = database
    .prepare<[UnusedAge & { limit: number }], string>(
      `SELECT id FROM files
       WHERE used_at < @before AND NOT EXISTS (SELECT 1 FROM run_files WHERE run_files.file = files.id)
         AND NOT EXISTS (SELECT 1 FROM dataset_files WHERE dataset_files.file = files.id)
         AND (used_at < @windowBefore OR NOT EXISTS (
           SELECT 1 FROM file_callers WHERE file_callers.file = files.id AND caller_id = @windowCallerId
         ))
       LIMIT @limit`,
    )
    .pluck();
  const removeCallers = database.prepare<[string]>('DELETE FROM file_callers WHERE file = ?');
  const remove = database.prepare<[string]>('DELETE FROM files WHERE id = ?');
  return { insert, hasCaller, insertCaller, touch, find, has, unused, removeCallers, remove };
}

/** `flush` writes the queued runs, whose files count as used. */
export function createFileStore(database: Database.Database, flush: () => void): FileStore {
  const { insert, hasCaller, insertCaller, touch, find, has, unused, removeCallers, remove } = fileStatements(database);

  const add = database.transaction(({ name, ...content }: StoredFile, callerId: string) => {
    const now = Date.now();
    if (insert.run({ ...content, now }).changes === 0) touch.run(now, content.id);
    const isNew = hasCaller.get(content.id, callerId) === undefined;
    insertCaller.run(content.id, callerId, name);
    return isNew;
  });
  const removeUnused = database.transaction((age: UnusedAge, limit: number) => {
    const ids = unused.all({ ...age, limit });
    for (const id of ids) {
      removeCallers.run(id);
      remove.run(id);
    }
    return ids;
  });

  return {
    add: (file, callerId) => add.immediate(file, callerId),
    find(id, { callerId, canReadAll }) {
      flush();
      const row = find.get({ id: id.toLowerCase(), callerId, all: canReadAll ? 1 : 0 });
      return row ? fileOf(row) : null;
    },
    noteUse: (id) => void touch.run(Date.now(), id),
    has: (id) => has.get(id) === 1,
    removeUnused(age, limit) {
      flush();
      return removeUnused.immediate(age, limit);
    },
  };
}
