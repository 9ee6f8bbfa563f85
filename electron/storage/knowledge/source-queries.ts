import type Database from 'better-sqlite3';
import type { SourceRow } from '../schema.ts';
import type { NewSource, SourceFacts, SourceRange } from './source-store.ts';

/** A source with the id of its dataspace. */
export type JoinedSource = SourceRow & { dataspace_id: string };

const joined = `
  SELECT sources.*, dataspaces.id AS dataspace_id
  FROM sources JOIN dataspaces ON dataspaces.sequence = sources.dataspace
`;

const inRange = `
  dataspaces.id = :dataspaceId
  AND (:status IS NULL OR sources.status = :status)
  AND (:text = '' OR instr(lower(sources.name), :text) OR instr(lower(sources.file_name), :text))
`;

/** Statements on sources; joins and conditional columns are plainer in SQL than built. */
export function sourceQueries(database: Database.Database) {
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
    kept: database.prepare<[], JoinedSource>(joined),
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
    complete: database.prepare<SourceFacts & { id: string; revision: string }>(
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
