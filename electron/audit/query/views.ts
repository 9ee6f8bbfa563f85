import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import type { AuditFilter, AuditSort } from '../../../shared/contract/audit.ts';
import type { AuditSpan, AuditView, AuditViewInput } from '../../../shared/contract/audit-views.ts';
import { prepareQuery, valuesOf } from '../../storage/queries.ts';
import type { AuditViewRow } from '../../storage/schema.ts';

export type AuditViewStore = ReturnType<typeof createAuditViews>;

function viewOf(row: AuditViewRow): AuditView {
  return {
    id: row.id,
    name: row.name,
    filter: JSON.parse(row.filter_json) as AuditFilter,
    sort: row.sort as AuditSort,
    span: row.span as AuditSpan | null,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

/** Named filters and sort orders. `update` and `remove` throw `not_found`. */
export function createAuditViews(database: Database.Database) {
  const queries = viewQueries(database);

  function required(id: string): AuditViewRow {
    const row = queries.find.first({ id: id.toLowerCase() });
    if (!row) throw new AppError('not_found', 'No saved view has this ID.');
    return row;
  }

  return {
    list: (): AuditView[] => queries.list.all({}).map(viewOf),
    create(input: AuditViewInput): AuditView {
      const now = Date.now();
      const row: AuditViewRow = {
        id: randomUUID(),
        name: input.name,
        filter_json: JSON.stringify(input.filter),
        sort: input.sort,
        span: input.span ?? null,
        created_at: now,
        updated_at: now,
      };
      queries.insert.run(row);
      return viewOf(row);
    },
    update(id: string, change: { [Name in keyof AuditViewInput]?: AuditViewInput[Name] | undefined }): AuditView {
      const row = required(id);
      const changed: AuditViewRow = {
        ...row,
        name: change.name ?? row.name,
        filter_json: change.filter === undefined ? row.filter_json : JSON.stringify(change.filter),
        sort: change.sort ?? row.sort,
        span: change.span === undefined ? row.span : change.span,
        updated_at: Date.now(),
      };
      queries.change.run(changed);
      return viewOf(changed);
    },
    remove(id: string): void {
      queries.remove.run({ id: required(id).id });
    },
  };
}

function viewQueries(database: Database.Database) {
  return {
    list: prepareQuery(database, (tables) =>
      tables.selectFrom('audit_views').selectAll().orderBy('name').orderBy('id'),
    ),
    find: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('audit_views').selectAll().where('id', '=', input.id),
    ),
    insert: prepareQuery(database, (tables, input: AuditViewRow) =>
      tables
        .insertInto('audit_views')
        .values(valuesOf(input, ['id', 'name', 'filter_json', 'sort', 'span', 'created_at', 'updated_at'])),
    ),
    change: prepareQuery(database, (tables, input: AuditViewRow) =>
      tables
        .updateTable('audit_views')
        .set(valuesOf(input, ['name', 'filter_json', 'sort', 'span', 'updated_at']))
        .where('id', '=', input.id),
    ),
    remove: prepareQuery(database, (tables, input: { id: string }) =>
      tables.deleteFrom('audit_views').where('id', '=', input.id),
    ),
  };
}
