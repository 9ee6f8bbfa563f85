import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { databaseFile } from '../../../electron/storage/database.ts';
import { readAhead } from '../../../electron/audit/index/read-ahead.ts';
import { fillDatabase, generateRuns } from '../../../benchmarks/support/audit-generator.ts';
import { temporaryDirectory } from '../storage/test-storage.ts';
import { openEngine } from './test-engine.ts';

function filled(runs: number): string {
  const directory = join(temporaryDirectory(), 'data');
  mkdirSync(directory);
  fillDatabase(directory, generateRuns(runs));
  openEngine(directory);
  return directory;
}

test('reads ahead in small steps, and leaves nothing open', () => {
  const directory = filled(1000);
  const close = vi.spyOn(Database.prototype, 'close');
  onTestFinished(() => close.mockRestore());
  const steps = [...readAhead(directory)].length;
  // Ten steps for each of the three tables and indexes with a thousand entries, and more for the words.
  expect(steps).toBeGreaterThan(40);
  expect(close).toHaveBeenCalledTimes(2);
});

test('closes its files when it is stopped early, and the log can be emptied meanwhile', () => {
  const directory = filled(1000);
  const close = vi.spyOn(Database.prototype, 'close');
  onTestFinished(() => close.mockRestore());
  const reading = readAhead(directory);
  const isWithRuns = () => close.mock.calls.length === 1;
  while (!isWithRuns()) reading.next();
  const database = new Database(databaseFile(directory));
  database.exec("UPDATE runs SET title = 'changed' WHERE sequence = 1");
  expect(database.pragma('wal_checkpoint(TRUNCATE)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
  database.close();
  reading.return();
  expect(close).toHaveBeenCalledTimes(3);
});

test('takes no time for a folder without runs, or without a file', () => {
  expect([...readAhead(filled(0))].length).toBeLessThan(10);
  expect([...readAhead(join(temporaryDirectory(), 'nothing'))]).toEqual([]);
});
