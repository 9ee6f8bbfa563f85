import { randomUUID } from 'node:crypto';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import { stoppedReason } from '../../../shared/contract/knowledge-window.ts';
import type { Source, SourceMediaType, SourceStatus } from '../../../shared/contract/dataspaces.ts';
import { type ListPage, type ListQuery, newestList } from '../list-page.ts';
import type { SourceRow } from '../schema.ts';
import type Database from 'better-sqlite3';

/** A source with the id of its dataspace. */
export type JoinedSource = SourceRow & { dataspace_id: string };

const joined = `
  SELECT sources.*, dataspaces.id AS dataspace_id
  FROM sources JOIN dataspaces ON dataspaces.sequence = sources.dataspace
`;

const inRange = `
  dataspaces.id = :dataspaceId
  AND (:status IS NULL OR sources.status = :status)
  AND (:text = '' OR instr(lower_case(sources.name), :text) OR instr(lower_case(sources.file_name), :text))
`;

/** Statements on sources. Joins and conditional columns are simpler in SQL than in the query builder. */
function sourceQueries(database: Database.Database) {
  // SQLite's own `lower` changes ASCII letters only.
  database.function('lower_case', { deterministic: true }, (text) => lowerCase(String(text)));
  return {
    page: database.prepare<{ before: number; limit: number }, JoinedSource>(
      `${joined} WHERE sources.sequence < :before ORDER BY sources.sequence DESC LIMIT :limit`,
    ),
    range: database.prepare<SourceRange, JoinedSource>(
      `${joined} WHERE ${inRange} ORDER BY sources.sequence DESC LIMIT :limit OFFSET :offset`,
    ),
    rangeTotal: database
      .prepare<SourceRange, number>(
        `SELECT count(*) FROM sources JOIN dataspaces ON dataspaces.sequence = sources.dataspace WHERE ${inRange}`,
      )
      .pluck(),
    find: database.prepare<[string], JoinedSource>(`${joined} WHERE sources.id = ?`),
    nextProcessing: database.prepare<{ maximumBytes: number; except: string }, JoinedSource>(
      `${joined} WHERE sources.status = 'Processing' AND sources.bytes <= :maximumBytes
        AND sources.id NOT IN (SELECT value FROM json_each(:except))
      ORDER BY sources.attempts, sources.queued_at, sources.sequence LIMIT 1`,
    ),
    listAll: database.prepare<[], JoinedSource>(joined),
    idsOf: database
      .prepare<{ dataspaceId: string; which: string; embeddingModel: string }, string>(
        `SELECT sources.id FROM sources JOIN dataspaces ON dataspaces.sequence = sources.dataspace
        WHERE dataspaces.id = :dataspaceId AND CASE :which
          WHEN 'processing' THEN sources.status = 'Processing'
          WHEN 'failed' THEN sources.status = 'Failed'
          WHEN 'outdated' THEN sources.status <> 'Processing' AND sources.embedding_model <> :embeddingModel
          ELSE sources.status <> 'Processing' END
        ORDER BY sources.sequence`,
      )
      .pluck(),
    insert: database.prepare<NewSource & { revision: string; now: number }>(
      `INSERT INTO sources
        (id, dataspace, name, file_name, media_type, bytes, status, revision, queued_at, attempts, created_at)
      SELECT :id, sequence, :name, :fileName, :mediaType, :bytes, 'Processing', :revision, :now, 0, :now
      FROM dataspaces WHERE id = :dataspaceId`,
    ),
    requeue: database.prepare<{ id: string; revision: string; now: number }>(
      `UPDATE sources SET status = 'Processing', failure_reason = NULL, revision = :revision, queued_at = :now, attempts = 0
      WHERE id = :id`,
    ),
    setAttempts: database.prepare<{ id: string; attempts: number }>(
      'UPDATE sources SET attempts = :attempts WHERE id = :id',
    ),
    complete: database.prepare<SourceMetadata & { id: string; revision: string }>(
      `UPDATE sources SET status = 'Ready', failure_reason = NULL, passages = :passages, pages = :pages,
        characters = :characters, embedding_model = :embeddingModel
      WHERE id = :id AND revision = :revision AND status = 'Processing'`,
    ),
    fail: database.prepare<{ id: string; revision: string; reason: string }>(
      `UPDATE sources SET status = 'Failed', failure_reason = :reason
      WHERE id = :id AND revision = :revision AND status = 'Processing'`,
    ),
    markRemoved: database.prepare<[string]>('INSERT INTO removed_sources (id) VALUES (?)'),
    remove: database.prepare<[string]>('DELETE FROM sources WHERE id = ?'),
    removed: database.prepare<[], string>('SELECT id FROM removed_sources').pluck(),
    cleared: database.prepare<[string]>('DELETE FROM removed_sources WHERE id = ?'),
  };
}

/** A source with the service's internal fields. */
export interface StoredSource extends Source {
  /** Identifies the current indexing. The same value resumes an interrupted one. */
  readonly revision: string;
  /** How often the process ended while this revision made no progress, plus one while it is being indexed. */
  readonly attempts: number;
  readonly passages: number | null;
  readonly pages: number | null;
  readonly characters: number | null;
  readonly embeddingModel: string | null;
}

export interface NewSource {
  readonly id: string;
  readonly dataspaceId: string;
  readonly name: string;
  readonly fileName: string;
  readonly mediaType: SourceMediaType;
  readonly bytes: number;
}

/** The result of parsing a source. */
export interface SourceMetadata {
  readonly passages: number;
  readonly pages: number | null;
  readonly characters: number;
  readonly embeddingModel: string;
}

export interface SourceRange {
  readonly dataspaceId: string;
  readonly offset: number;
  readonly limit: number;
  /** Part of the name or of the file name, ignoring case; empty for all. */
  readonly text: string;
  readonly status: SourceStatus | null;
}

/** `read` and `remove` throw `not_found`. */
export interface SourceStore {
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<StoredSource>;
  range(range: SourceRange): { data: StoredSource[]; total: number };
  /** Stores a source as `Processing`. Throws `invalid_request` for an unknown dataspace. */
  create(source: NewSource): StoredSource;
  read(id: string): StoredSource;
  find(id: string): StoredSource | null;
  /** IDs of a dataspace's matching sources, oldest first. */
  idsOf(dataspaceId: string, which: 'processing' | 'failed' | 'outdated' | 'all', embeddingModel: string): string[];
  /** The next source to index: first the fewest crashes of the process, then the longest wait. */
  nextProcessing(limits: { maximumBytes: number; except: readonly string[] }): StoredSource | null;
  /** All queued and searchable sources, for a comparison with the index. */
  listAll(): StoredSource[];
  /** Queues a source at the end. A stopped one keeps its revision. */
  requeue(id: string): StoredSource;
  setAttempts(id: string, attempts: number): void;
  /** Returns false, and does nothing, if the source was deleted or got another revision meanwhile. */
  complete(id: string, revision: string, metadata: SourceMetadata): boolean;
  fail(id: string, revision: string, reason: string): boolean;
  /** Its file and index entries still have to be removed afterwards. */
  remove(id: string): void;
  /** Deleted sources whose files and index entries haven't been removed yet. */
  removed(): string[];
  cleared(ids: readonly string[]): void;
}

function sourceOf(row: JoinedSource): StoredSource {
  return {
    id: row.id,
    name: row.name,
    fileName: row.file_name,
    mediaType: row.media_type as SourceMediaType,
    bytes: row.bytes,
    status: row.status,
    failureReason: row.failure_reason,
    dataspaceId: row.dataspace_id,
    createdAt: new Date(row.created_at).toISOString(),
    revision: row.revision,
    attempts: row.attempts,
    passages: row.passages,
    pages: row.pages,
    characters: row.characters,
    embeddingModel: row.embedding_model,
  };
}

/** In one Unicode form: the names of files on a Mac have accents as characters of their own. */
const lowerCase = (text: string) => text.normalize('NFC').toLowerCase();

export const unknownDataspace = () => invalidField('dataspaceId', 'is not a dataspace', 'No dataspace has this ID.');

export function createSourceStore(database: Database.Database, tokenSecret: string): SourceStore {
  const queries = sourceQueries(database);

  const find = (id: string): StoredSource | null => {
    const row = queries.find.get(id.toLowerCase());
    return row ? sourceOf(row) : null;
  };
  function read(id: string): StoredSource {
    const source = find(id);
    if (!source) throw new AppError('not_found', 'No source has this ID.');
    return source;
  }

  const remove = database.transaction((id: string) => {
    const source = read(id);
    queries.markRemoved.run(source.id);
    queries.remove.run(source.id);
  });
  const cleared = database.transaction((ids: readonly string[]) => {
    for (const id of ids) queries.cleared.run(id);
  });

  return {
    list: newestList({ tokenSecret, name: 'sources', rows: (input) => queries.page.all(input), toItem: sourceOf }),
    range({ text, ...range }) {
      const input = { ...range, dataspaceId: range.dataspaceId.toLowerCase(), text: lowerCase(text) };
      return { data: queries.range.all(input).map(sourceOf), total: queries.rangeTotal.get(input) ?? 0 };
    },
    create(source) {
      const row = { ...source, revision: randomUUID(), now: Date.now() };
      if (queries.insert.run(row).changes === 0) throw unknownDataspace();
      return read(source.id);
    },
    read,
    find,
    idsOf: (dataspaceId, which, embeddingModel) =>
      queries.idsOf.all({ dataspaceId: dataspaceId.toLowerCase(), which, embeddingModel }),
    nextProcessing({ maximumBytes, except }) {
      const row = queries.nextProcessing.get({ maximumBytes, except: JSON.stringify(except) });
      return row ? sourceOf(row) : null;
    },
    listAll: () => queries.listAll.all().map(sourceOf),
    requeue(id) {
      const source = read(id);
      const revision = source.failureReason === stoppedReason ? source.revision : randomUUID();
      queries.requeue.run({ id: source.id, revision, now: Date.now() });
      return read(id);
    },
    setAttempts: (id, attempts) => void queries.setAttempts.run({ id, attempts }),
    complete: (id, revision, metadata) => queries.complete.run({ ...metadata, id, revision }).changes === 1,
    fail: (id, revision, reason) => queries.fail.run({ id, revision, reason }).changes === 1,
    remove,
    removed: () => queries.removed.all(),
    cleared,
  };
}
