import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { databaseFile } from '../../storage/database.ts';
import { indexFile } from './index-database.ts';

/** A table or an index that queries read. `touch` makes SQLite read whole rows. */
interface Walk {
  readonly table: string;
  readonly key: string;
  readonly touch: string;
}

/** Rows of one step, which takes a millisecond from a disk. */
const stepRows = 100;

const databaseWalks: readonly Walk[] = [
  { table: 'conversations', key: 'id', touch: '1' },
  { table: 'runs', key: 'id', touch: '1' },
  { table: 'runs', key: 'conversation', touch: '1' },
  { table: 'conversations', key: 'sequence', touch: 'length(name)' },
  { table: 'runs', key: 'sequence', touch: 'length(title)' },
  { table: 'stored_texts', key: 'run', touch: 'length(rendered_prompt) + length(content)' },
  { table: 'late_answers', key: 'run', touch: 'length(content)' },
];

const indexWalks: readonly Walk[] = [
  { table: 'texts_data', key: 'id', touch: 'length(block)' },
  { table: 'columns', key: 'rowid', touch: 'length(hex(substr(numbers, -1)))' },
];

/** Counting them visits every page, in a few milliseconds for a million runs. */
const smallTables = ['texts_idx', 'postings'];

/** Reads a table sequentially. Each step is a separate read transaction, so that none keeps the log from being emptied. */
function* walkThrough(database: Database.Database, { table, key, touch }: Walk): Generator<void, void, void> {
  const first = database.prepare<[], unknown>(`SELECT min(${key}) FROM ${table}`).pluck().get();
  const step = database
    .prepare<[unknown], unknown>(
      `SELECT max(key) FROM (SELECT ${key} AS key, ${touch} AS touched FROM ${table}
       WHERE ${key} > ? ORDER BY ${key} LIMIT ${stepRows}) WHERE touched IS NOT NULL`,
    )
    .pluck();
  for (let last = first; last !== null; last = step.get(last)) yield;
}

/** Larger files aren't read ahead, because they would displace other data in memory. */
function fits(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? Infinity) < process.availableMemory() / 3;
}

function* readFile(file: string, read: (database: Database.Database) => Generator<void, void, void>) {
  if (!fits(file)) return;
  // Without memory mapping, so that the pages are in the operating system's cache and don't count as memory of this process.
  const database = new Database(file, { readonly: true });
  try {
    yield* read(database);
  } finally {
    database.close();
  }
}

/**
 * Reads the index and the runs once in their physical order, so that the operating system has them in memory when a query reads a hundred
 * pages across them. That takes a tenth of a second from a disk and two milliseconds from memory. Each step takes a millisecond. Returning
 * early closes the files.
 */
export function* readAhead(directory: string): Generator<void, void, void> {
  yield* readFile(indexFile(directory), function* (index) {
    for (const table of smallTables) yield void index.prepare(`SELECT count(*) FROM ${table}`).get();
    for (const walk of indexWalks) yield* walkThrough(index, walk);
  });
  yield* readFile(databaseFile(directory), function* (database) {
    for (const walk of databaseWalks) yield* walkThrough(database, walk);
  });
}
