import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { describeDiskFailure, describeStartFailure } from '../../../electron/storage/disk-failure.ts';
import { temporaryDirectory } from './test-storage.ts';

function failureOf(act: () => unknown): unknown {
  try {
    act();
  } catch (failure) {
    return failure;
  }
  throw new Error('It did not fail.');
}

function reopen(): Database.Database {
  const database = new Database(join(temporaryDirectory(), 'any.sqlite'));
  database.exec('CREATE TABLE words (word TEXT)');
  return database;
}

/** A database that may not grow, which SQLite reports as it does a full disk. */
function fillDatabase(): void {
  const database = reopen();
  database.pragma('max_page_count = 3');
  database.prepare('INSERT INTO words VALUES (?)').run('x'.repeat(100_000));
}

function readDamaged(): void {
  const file = join(temporaryDirectory(), 'damaged.sqlite');
  writeFileSync(file, 'no database at all, '.repeat(100));
  new Database(file).prepare('SELECT * FROM sqlite_schema').all();
}

test.each([
  ['a full database', fillDatabase, 'The disk is full.'],
  ['a full disk', () => writeFileSync('/dev/full', 'x'), 'The disk is full.'],
  ['a file that is no database', readDamaged, 'The database is damaged.'],
  [
    'a database that is not to be written',
    () => {
      const database = reopen();
      database.pragma('query_only = ON');
      database.exec('DELETE FROM words');
    },
    'The data folder is read-only.',
  ],
  [
    'a folder where the database should be',
    () => new Database(temporaryDirectory()),
    "Couldn't open a file of the data folder.",
  ],
])('explains how to fix %s', (_what, act, sentence) => {
  const failure = failureOf(act);
  const reported = describeDiskFailure(failure);
  expect(reported).toMatchObject({ code: 'internal', message: expect.stringContaining(sentence), cause: failure });
  expect(reported?.message).not.toMatch(/SQLITE|E[A-Z]{4}|\//);
});

test('explains at the start that a folder of the path is a file, and not later', () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  const failure = failureOf(() => readFileSync(join(file, 'touchstone.sqlite')));
  expect(describeStartFailure(failure)?.message).toContain("isn't a folder");
  expect(describeDiskFailure(failure)).toBeNull();
});

test.each([new Error('any'), new Database.SqliteError('constraint', 'SQLITE_CONSTRAINT'), 'text', null])(
  'ignores other failures (%s)',
  (failure) => expect([describeDiskFailure(failure), describeStartFailure(failure)]).toEqual([null, null]),
);
