import Database from 'better-sqlite3';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../../electron/storage/database.ts';
import { createRunRemoval } from '../../../electron/storage/retention-store.ts';
import type { NewRun } from '../../../electron/storage/run-rows.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import type { AuditSort } from '../../../shared/contract/audit.ts';
import { patience } from '../../support/patience.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage } from '../storage/test-storage.ts';
import { openEngine } from './test-engine.ts';

const signal = new AbortController().signal;

async function record(storage: Storage, renderedPrompt: string): Promise<NewRun> {
  const run = sampleRun({ renderedPrompt });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  storage.flush();
  return run;
}

function openIndex(directory: string): Database.Database {
  const index = new Database(join(directory, 'audit-index.sqlite'), { readonly: true });
  onTestFinished(() => void index.close());
  return index;
}

test('the words of a run that was still active are found when it has ended', async () => {
  const storage = openTestStorage();
  const run = sampleRun({ renderedPrompt: 'quagmire' });
  storage.runs.begin(run);
  storage.flush();
  const engine = openEngine(storage.directory);
  const search = (text: string) => engine.search({ filter: { text }, sort: 'newest', limit: 1, last: null }).total;
  expect(search('quagmire')).toBe(0);
  await storage.runs.finish(run.runId, sampleOutcome({ content: 'xylophone' }));
  storage.flush();
  expect([search('quagmire'), search('xylophone')]).toEqual([1, 1]);
});

test('a search that starts sees the feedback that came since an equal one, and later pages keep the list of the first', async () => {
  const storage = openTestStorage();
  const runs = [await record(storage, 'one'), await record(storage, 'two')];
  const filter = { hasFeedback: true };
  const find = async (sort: AuditSort, snapshot?: string) => {
    const { total, snapshot: next } = await storage.audit.search({ filter, sort, limit: 5, snapshot }, { signal });
    return { total, next };
  };
  const report = () =>
    storage.audit.report({ filter, pageSize: 5, continuationToken: null, hasFeedback: false }, { signal });
  for (const [index, run] of runs.entries()) {
    const before = [await find('newest'), await find('slowest')];
    expect(before.map(({ total }) => total)).toEqual([index, index]);
    expect((await report()).conversations).toHaveLength(index);
    storage.audit.giveFeedback(run, { score: 1 }, { reviewerId: run.callerId });
    expect(await find('newest', before[0]!.next)).toEqual(before[0]);
    expect(await find('newest')).toMatchObject({ total: index + 1 });
    expect(await find('slowest')).toMatchObject({ total: index + 1 });
    expect((await report()).conversations).toHaveLength(index + 1);
  }
});

test('no word stays of a run that was removed before the index knew the run', async () => {
  const storage = openTestStorage();
  await record(storage, 'jackdaw');
  const engine = openEngine(storage.directory);
  const { runId } = await record(storage, 'zeppelin');
  // Words alone, as between two slices.
  while (engine.followTexts());
  const database = openDatabase(storage.directory);
  onTestFinished(() => void database.close());
  const sequences = database
    .prepare<[string], { sequence: number; conversation: number }>(
      'SELECT sequence, conversation FROM runs WHERE id = ?',
    )
    .all(runId);
  database.transaction(() => createRunRemoval(database).remove(sequences))();
  while (engine.follow());
  const found = openIndex(storage.directory).prepare<[string], number>('SELECT rowid FROM texts WHERE texts MATCH ?');
  expect([found.all('zeppelin'), found.all('jackdaw')]).toMatchObject([[], [{ rowid: 1 }]]);
});

test('runs are indexed without a query, also those that come later', async () => {
  const storage = openTestStorage();
  await storage.audit.facets({ signal });
  const mark = openIndex(storage.directory).prepare("SELECT value FROM marks WHERE name = 'texts'").pluck();
  for (const count of [1, 2]) {
    await record(storage, 'umbrella');
    await vi.waitFor(() => expect(mark.get()).toBe(String(count)), patience);
  }
});
