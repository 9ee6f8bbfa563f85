import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { migrate } from '../../../electron/storage/migrate.ts';
import { firstTables } from '../../../electron/storage/migrations/from-0001.ts';

const file = '../../../electron/storage/migrations/current-tables.ts';

/** An empty database of the first version after all migrations. */
function migrated(): Database.Database {
  const database = new Database(':memory:');
  database.exec(firstTables);
  database.pragma('user_version = 1');
  migrate(database);
  return database;
}

function created(): Database.Database {
  const database = new Database(':memory:');
  migrate(database);
  return database;
}

/** Tables with rows of their own: not those of an index, nor SQLite's. */
function ownTables(database: Database.Database): string[] {
  const tables = database.pragma('table_list') as { name: string; schema: string; type: string }[];
  return tables
    .filter(({ name, schema, type }) => schema === 'main' && type === 'table' && !name.startsWith('sqlite_'))
    .map(({ name }) => name)
    .toSorted();
}

function rowsOf(database: Database.Database, table: string): Record<string, unknown>[] {
  return database.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table}`).all();
}

/** What the head of the file has. */
const settings = ['application_id', 'auto_vacuum', 'encoding', 'page_size', 'user_version'];

function settingsOf(database: Database.Database): unknown[] {
  return settings.map((name) => database.pragma(name, { simple: true }));
}

/** The statements that create an empty database. */
function statementsOf(database: Database.Database): string[] {
  const tables = database.pragma('table_list') as { name: string; type: string }[];
  const shadows = new Set(tables.filter(({ type }) => type === 'shadow').map(({ name }) => name));
  const objects = database
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
    )
    .all()
    .filter(({ name }) => !shadows.has(name))
    .map(({ sql }) => sql);
  const rows = ownTables(database).flatMap((table) =>
    rowsOf(database, table).map((row) => `INSERT INTO ${table} VALUES (${Object.values(row).join(', ')})`),
  );
  return [
    `PRAGMA application_id = ${String(database.pragma('application_id', { simple: true }))}`,
    ...objects,
    ...rows,
  ];
}

/** Everything that SQLite stores of the tables. */
function schemaOf(database: Database.Database): unknown[] {
  return database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all();
}

test('a new database is what all migrations make', async () => {
  const [old, fresh] = [migrated(), new Database(':memory:')];
  const text = statementsOf(old).join(';\n\n');
  fresh.exec(text);
  expect(text).not.toMatch(/[`\\]|\$\{/);
  await expect(`/* oxlint-disable max-lines -- A test writes this file. */
/**
 * The tables of a new database: what all migrations make, in a quarter of their time. After a new migration, this writes it:
 * \`npx vitest run tests/unit/storage/migrate.test.ts --update\`
 */
export const currentTables = \`
${text};
\`;
`).toMatchFileSnapshot(file);
  expect(schemaOf(fresh)).toEqual(schemaOf(old));
  expect(settingsOf(created())).toEqual(settingsOf(old));
  const contents = (database: Database.Database) =>
    ownTables(database).map((table) => [table, rowsOf(database, table)] as const);
  expect(contents(fresh)).toEqual(contents(old));
});

test('a database that is already in use is not created again', () => {
  const database = migrated();
  database.exec(`INSERT INTO facts VALUES ('a', 'b')`);
  migrate(database);
  expect(rowsOf(database, 'facts')).toEqual([{ name: 'a', value: 'b' }]);
});
