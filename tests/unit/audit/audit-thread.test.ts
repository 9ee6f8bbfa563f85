// @module-tag slow
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage, temporaryDirectory } from '../storage/test-storage.ts';

const signal = new AbortController().signal;
const query = { filter: {}, pageSize: 20, continuationToken: null, hasFeedback: false };

test('disposing during indexing ends cleanly, and the rest is found after the next start', async () => {
  const directory = temporaryDirectory();
  const storage = openStorage({ directory });
  const runs = Array.from({ length: 1500 }, () => sampleRun());
  await storage.audit.report(query, { signal });
  await Promise.all(
    runs.map((run) => {
      storage.runs.begin(run);
      return storage.runs.finish(run.runId, sampleOutcome());
    }),
  );
  // Takes up the runs but not yet all of their words.
  await storage.audit.facets({ signal });
  await storage.close();
  const page = await openTestStorage({ directory }).audit.search(
    { filter: { text: 'bonjour' }, sort: 'newest', limit: 1 },
    { signal },
  );
  expect(page).toMatchObject({ total: 1500, isTotalExact: true });
});

test('stops an aborted query and continues with others', async () => {
  const storage = openTestStorage();
  const leaving = new AbortController();
  const withdrawn = storage.audit.summarize({ filter: {} }, { signal: leaving.signal });
  const other = storage.audit.report(query, { signal });
  leaving.abort();
  await expect(withdrawn).rejects.toThrow('aborted');
  expect(await other).toEqual({ conversations: [], continuationToken: null });
  await expect(storage.audit.facets({ signal: leaving.signal })).rejects.toThrow('aborted');
  await turn();
  expect((await storage.audit.facets({ signal })).runs).toBe(0);
});

/** Overwrites the second half of the file: opening it looks at its first pages alone. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, bytes.length / 2));
}

test.each([
  ['damaged in its middle', damage],
  ['a folder', (file: string) => (rmSync(file), mkdirSync(join(file, 'folder'), { recursive: true }))],
])('rebuilds an index that is %s from the runs', async (_how, spoil) => {
  const directory = temporaryDirectory();
  const storage = openStorage({ directory });
  const runs = Array.from({ length: 50 }, (_, position) => sampleRun({ renderedPrompt: `word${position} of many` }));
  await Promise.all(
    runs.map((run) => {
      storage.runs.begin(run);
      return storage.runs.finish(run.runId, sampleOutcome());
    }),
  );
  const search = (from: Storage) =>
    from.audit.search({ filter: { text: 'word7' }, sort: 'newest', limit: 5 }, { signal });
  expect(await search(storage)).toMatchObject({ total: 1 });
  await storage.close();
  spoil(join(directory, 'audit-index.sqlite'));
  expect(await search(openTestStorage({ directory }))).toMatchObject({ total: 1 });
});
