import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { databaseFile } from '../../../electron/storage/database.ts';
import { createLogWriter } from '../../../electron/storage/write-ahead-log.ts';
import { sampleOutcome, sampleRun } from './sample-run.ts';
import { openTestStorage } from './test-storage.ts';
import { patience } from '../../support/patience.ts';

/** Pages in the log, and how many of them are in the database too. */
function logOf(database: Database.Database): { log: number; checkpointed: number } {
  return (database.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[])[0]!;
}

test('writes back a log of thousands of pages without delaying a commit', async () => {
  const storage = openTestStorage();
  const database = new Database(databaseFile(storage.directory));
  // About 16,000 pages make a commit write them back itself.
  for (let batch = 0; batch < 14; batch += 1) {
    const runs = Array.from({ length: 60 }, () => sampleRun({ renderedPrompt: 'x'.repeat(20_000) }));
    for (const run of runs) storage.runs.begin(run);
    await Promise.all(runs.map((run) => storage.runs.finish(run.runId, sampleOutcome())));
  }
  storage.flush();
  expect(logOf(database).log).toBeGreaterThan(4000);
  expect(logOf(database).log).toBeLessThan(16_000);
  await vi.waitFor(() => expect(logOf(database).checkpointed).toBeGreaterThan(1000), patience);
  database.close();
});

test('leaves a short log alone', () => {
  const storage = openTestStorage();
  const database = new Database(databaseFile(storage.directory));
  const writer = createLogWriter(storage.directory);
  database.exec('CREATE TABLE words (word TEXT)');
  writer.writeBack();
  expect(logOf(database)).toMatchObject({ checkpointed: 0 });
  const insert = database.prepare('INSERT INTO words VALUES (?)');
  database.transaction(() => {
    for (let row = 0; row < 5000; row += 1) insert.run('x'.repeat(4000));
  })();
  writer.writeBack();
  const { log, checkpointed } = logOf(database);
  expect({ isLong: log > 4000, isWrittenBack: checkpointed === log }).toEqual({ isLong: true, isWrittenBack: true });
  writer.close();
  database.close();
});
