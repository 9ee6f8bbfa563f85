import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AuditIndex } from '../../../electron/audit/index/audit-index.ts';
import { databaseFile } from '../../../electron/storage/database.ts';
import { createRunRemoval } from '../../../electron/storage/retention-store.ts';
import { fillDatabase, generateRuns } from '../../../benchmarks/support/audit-generator.ts';
import { temporaryDirectory } from '../storage/test-storage.ts';
import { openEngine } from './test-engine.ts';

test('conversations that are removed during a query are complete in its result, and absent from later ones', () => {
  const directory = join(temporaryDirectory(), 'data');
  mkdirSync(directory);
  fillDatabase(directory, generateRuns(200));
  const engine = openEngine(directory);
  const writer = new Database(databaseFile(directory));
  onTestFinished(() => void writer.close());
  const newest = writer
    .prepare<[], number>('SELECT sequence FROM conversations ORDER BY last_run DESC LIMIT 1')
    .pluck();
  const runsOf = writer.prepare<[number], { sequence: number; conversation: number }>(
    'SELECT sequence, conversation FROM runs WHERE conversation = ?',
  );
  const removal = createRunRemoval(writer);
  const removeNewest = writer.transaction(() => removal.remove(runsOf.all(newest.get()!)));
  // As a retention does in the thread of the host, whenever the index has just been brought up to date.
  const { follow } = AuditIndex.prototype;
  const following = vi.spyOn(AuditIndex.prototype, 'follow').mockImplementation(function (this: AuditIndex) {
    follow.call(this);
    removeNewest.immediate();
  });
  const page = () => engine.report({ filter: {}, pageSize: 5, position: null, hasFeedback: true }).conversations;
  const list = () => engine.search({ filter: {}, sort: 'newest', last: null, limit: 5 }).rows;
  const first = page();
  expect(first.every(({ name, runs }) => name !== '' && runs.length > 0)).toBe(true);
  expect(list()).toHaveLength(5);
  following.mockRestore();
  // Two questions took up what was recorded twice each, so four are gone, the first of them before the first page.
  expect(
    page()
      .map(({ id }) => id)
      .slice(0, 2),
  ).toEqual(first.map(({ id }) => id).slice(3));
});
