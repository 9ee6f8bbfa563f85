import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { databaseFile } from '../../storage/database.ts';
import { indexFile } from './index-database.ts';

/** What a question reads somewhere in a table or an index; `touch` makes SQLite read the rows whole. */
interface Walk {
  readonly table: string;
  readonly key: string;
  readonly touch: string;
}

/** Rows of one step: a millisecond from a disk. */
const stepRows = 100;

const databaseWalks: readonly Walk[] = [
  { table: 'conversations', key: 'id', touch: '1' },
  { table: 'runs', key: 'id', touch: '1' },
  { table: 'runs', key: 'conversation', touch: '1' },
  { table: 'conversations', key: 'sequence', touch: 'length(name)' },
  { table: 'runs', key: 'sequence', touch: 'length(title)' },
  { table: 'run_texts', key: 'run', touch: 'length(rendered_prompt) + length(content)' },
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

/** Files that would fill the memory push out what others need. */
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
 * Reads the index and the runs once in the order in which they lie, so that the operating system has them in memory when a
 * question wants a hundred places all over them: from a disk that takes a tenth of a second, from memory two milliseconds.
 * Each step takes a millisecond; returning it early closes what is open.
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
