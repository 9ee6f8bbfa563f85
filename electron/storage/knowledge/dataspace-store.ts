import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import type { Dataspace } from '../../../shared/contract/dataspaces.ts';
import type { DataspaceSummary } from '../../../shared/contract/knowledge-window.ts';
import { type ListPage, type ListQuery, newestList, rowsOf } from '../list-page.ts';
import { prepareQuery } from '../queries.ts';
import type { DataspaceRow } from '../schema.ts';

/** The dataspace of sources for which no other one is given. */
export const defaultDataspaceName = 'Default';

/** `read`, `rename` and `remove` throw `not_found`. */
export interface DataspaceStore {
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<Dataspace>;
  create(name: string): Dataspace;
  read(id: string): Dataspace;
  find(id: string): Dataspace | null;
  /** The oldest dataspace named `Default`. Created if there is none. */
  readDefault(): Dataspace;
  rename(id: string, name: string): Dataspace;
  /** Removes a dataspace and its sources. Returns the ids of the sources, whose files and index entries still have to be removed. */
  remove(id: string): string[];
  /** All dataspaces with counts, newest first, or the one with the id. `embeddingModel` is the current one. */
  summaries(embeddingModel: string, id?: string): DataspaceSummary[];
}

function dataspaceOf({ id, name, created_at }: DataspaceRow): Dataspace {
  return { id, name, createdAt: new Date(created_at).toISOString() };
}

export function createDataspaceStore(database: Database.Database, tokenSecret: string): DataspaceStore {
  const queries = dataspaceQueries(database);
  const summaries = summaryStatement(database);

  function required(id: string): DataspaceRow {
    const row = queries.find.first({ id: id.toLowerCase() });
    if (!row) throw new AppError('not_found', 'No dataspace has this ID.');
    return row;
  }

  function create(name: string): Dataspace {
    const id = randomUUID();
    queries.insert.run({ id, name, created_at: Date.now() });
    return dataspaceOf(required(id));
  }

  const remove = database.transaction((id: string) => {
    const { sequence } = required(id);
    queries.markSources.run({ dataspace: sequence });
    const removed = queries.removeSources.all({ dataspace: sequence });
    queries.remove.run({ sequence });
    return removed.map((row) => row.id);
  });

  return {
    list: newestList({
      tokenSecret,
      name: 'dataspaces',
      rows: rowsOf<DataspaceRow>(database, 'dataspaces'),
      toItem: dataspaceOf,
    }),
    create,
    read: (id) => dataspaceOf(required(id)),
    find(id) {
      const row = queries.find.first({ id: id.toLowerCase() });
      return row ? dataspaceOf(row) : null;
    },
    readDefault() {
      const row = queries.named.first({ name: defaultDataspaceName });
      return row ? dataspaceOf(row) : create(defaultDataspaceName);
    },
    rename(id, name) {
      queries.rename.run({ sequence: required(id).sequence, name });
      return dataspaceOf(required(id));
    },
    remove,
    summaries: (embeddingModel, id) =>
      summaries
        .all({ embeddingModel, id: id?.toLowerCase() ?? null })
        .map(({ created_at, ...row }) => ({ ...row, createdAt: new Date(created_at).toISOString() })),
  };
}

function summaryStatement(database: Database.Database) {
  return database.prepare<
    { embeddingModel: string; id: string | null },
    Omit<DataspaceSummary, 'createdAt'> & { created_at: number }
  >(`
    SELECT dataspaces.id, dataspaces.name, dataspaces.created_at,
      count(sources.id) AS sources,
      count(*) FILTER (WHERE sources.status = 'Processing') AS processing,
      count(*) FILTER (WHERE sources.status = 'Failed') AS failed,
      count(*) FILTER (WHERE sources.embedding_model <> :embeddingModel) AS outdated,
      coalesce(sum(sources.bytes), 0) AS bytes,
      coalesce(sum(sources.passages), 0) AS passages
    FROM dataspaces LEFT JOIN sources ON sources.dataspace = dataspaces.sequence
    WHERE :id IS NULL OR dataspaces.id = :id
    GROUP BY dataspaces.sequence ORDER BY dataspaces.sequence DESC
  `);
}

function dataspaceQueries(database: Database.Database) {
  return {
    find: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('dataspaces').selectAll().where('id', '=', input.id),
    ),
    named: prepareQuery(database, (tables, input: { name: string }) =>
      tables.selectFrom('dataspaces').selectAll().where('name', '=', input.name).orderBy('sequence').limit(1),
    ),
    insert: prepareQuery(database, (tables, input: Omit<DataspaceRow, 'sequence'>) =>
      tables.insertInto('dataspaces').values({ id: input.id, name: input.name, created_at: input.created_at }),
    ),
    rename: prepareQuery(database, (tables, input: { sequence: number; name: string }) =>
      tables.updateTable('dataspaces').set({ name: input.name }).where('sequence', '=', input.sequence),
    ),
    remove: prepareQuery(database, (tables, input: { sequence: number }) =>
      tables.deleteFrom('dataspaces').where('sequence', '=', input.sequence),
    ),
    markSources: prepareQuery(database, (tables, input: { dataspace: number }) =>
      tables
        .insertInto('removed_sources')
        .columns(['id'])
        .expression(tables.selectFrom('sources').select('id').where('dataspace', '=', input.dataspace)),
    ),
    removeSources: prepareQuery(database, (tables, input: { dataspace: number }) =>
      tables.deleteFrom('sources').where('dataspace', '=', input.dataspace).returning('id'),
    ),
  };
}
