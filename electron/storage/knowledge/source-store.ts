import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import { stoppedReason } from '../../../shared/contract/knowledge-window.ts';
import type { Source, SourceMediaType, SourceStatus } from '../../../shared/contract/sources.ts';
import type { ListPage, ListQuery } from '../list-page.ts';
import { newestList } from '../newest-list.ts';
import { sourceQueries, type JoinedSource } from './source-queries.ts';

/** A source with what only the service itself needs of it. */
export interface StoredSource extends Source {
  /** Names the present reading. The same one again goes on where it was interrupted. */
  readonly revision: string;
  /** How often the process ended while this revision was read without getting on; one more while it is being read. */
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

/** What reading a source gave. */
export interface SourceFacts {
  readonly passages: number;
  readonly pages: number | null;
  readonly characters: number;
  readonly embeddingModel: string;
}

export interface SourceRange {
  readonly dataspaceId: string;
  readonly offset: number;
  readonly limit: number;
  /** Part of the name or of the file name, without case; empty for all. */
  readonly text: string;
  readonly status: SourceStatus | null;
}

/** `read` and `remove` throw `not_found`. */
export interface SourceStore {
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<StoredSource>;
  range(range: SourceRange): { data: StoredSource[]; total: number };
  /** Keeps a source as `Processing`. Throws `invalid_request` when there is no such dataspace. */
  create(source: NewSource): StoredSource;
  read(id: string): StoredSource;
  find(id: string): StoredSource | null;
  /** Ids of a dataspace's sources that fit, oldest first. */
  idsOf(dataspaceId: string, which: 'processing' | 'failed' | 'outdated' | 'all', embeddingModel: string): string[];
  /** The source that is to be read next: the one that has waited longest of those that ended the process least often. */
  nextProcessing(wanted: { maximumBytes: number; except: readonly string[] }): StoredSource | null;
  /** All that are to be read or can be found, for a comparison with the index. */
  kept(): StoredSource[];
  /** Puts it at the end of those that are to be read; one that was stopped keeps its revision. */
  requeue(id: string): StoredSource;
  setAttempts(id: string, attempts: number): void;
  /** Nothing happens when the source is gone or was given another revision meanwhile; then `false`. */
  complete(id: string, revision: string, facts: SourceFacts): boolean;
  fail(id: string, revision: string, reason: string): boolean;
  /** Its file and what the index holds of it are then still to be cleared. */
  remove(id: string): void;
  /** Sources that are gone and not yet cleared. */
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
      const input = { ...range, dataspaceId: range.dataspaceId.toLowerCase(), text: text.toLowerCase() };
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
    kept: () => queries.kept.all().map(sourceOf),
    requeue(id) {
      const source = read(id);
      const revision = source.failureReason === stoppedReason ? source.revision : randomUUID();
      queries.requeue.run({ id: source.id, revision, now: Date.now() });
      return read(id);
    },
    setAttempts: (id, attempts) => void queries.setAttempts.run({ id, attempts }),
    complete: (id, revision, facts) => queries.complete.run({ ...facts, id, revision }).changes === 1,
    fail: (id, revision, reason) => queries.fail.run({ id, revision, reason }).changes === 1,
    remove,
    removed: () => queries.removed.all(),
    cleared,
  };
}
