import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { createSamples } from '../../../../electron/audit/samples/create-samples.ts';
import { findEntry } from '../../../../electron/providers/catalogue.ts';
import { createSampleSet } from '../../../../electron/audit/samples/sample-set.ts';
import type { Storage } from '../../../../electron/storage/storage.ts';
import { listAll, openTestStorage } from '../../storage/test-storage.ts';
import { sampleOutcome, sampleRun } from '../../storage/sample-run.ts';

const signal = new AbortController().signal;
const noon = Date.UTC(2026, 10, 20, 12);

async function openSamples(storage = openTestStorage()) {
  const samples = await createSamples({ store: storage.samples, runs: storage.runs, now: () => noon });
  return { storage, samples };
}

async function recordOwn(storage: Storage) {
  const run = sampleRun();
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  storage.audit.giveFeedback(run, { score: 4 }, { reviewerId: 'reviewer' });
  storage.audit.views.create({ name: 'Mine', filter: { text: 'refund' }, sort: 'newest' });
  return storage.runs.read(run.runId);
}

/** Every table and row of the database, but for the counters that say that something was removed. */
function contents(file: string): Record<string, unknown[]> {
  const database = new Database(file, { readonly: true });
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .pluck()
    .all() as string[];
  const rows = tables
    .filter((name) => !['removed_runs', 'run_changes', 'facts'].includes(name))
    .map((name) => [name, database.prepare(`SELECT * FROM ${name}`).all()] as const);
  database.close();
  return Object.fromEntries(rows);
}

describe('the sample set', () => {
  const set = [...createSampleSet(noon)];
  const all = set.flatMap(({ runs }) => runs);

  test('is the same at every loading, except for ids', () => {
    const texts = (samples: typeof set) =>
      samples.map(({ name, runs }) => [
        name,
        runs.map(({ run, outcome }) => [run.renderedPrompt, run.createdAt, outcome]),
      ]);
    expect(texts([...createSampleSet(noon)])).toEqual(texts(set));
  });

  test('has a few hundred conversations of one to six runs over the last 60 days', () => {
    expect(set).toHaveLength(300);
    expect(new Set(set.map(({ runs }) => runs.length))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    const times = all.flatMap(({ run, outcome }) => [run.createdAt, outcome.completedAt]);
    expect(Math.min(...times)).toBeGreaterThan(noon - 60 * 86_400_000);
    expect(Math.min(...times)).toBeLessThan(noon - 58 * 86_400_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(noon);
  });

  test('has the range of a real audit: providers, callers, languages, failures, feedback', () => {
    const values = (read: (sample: (typeof all)[number]) => unknown) => new Set(all.map(read)).size;
    expect({
      providers: values(({ run }) => run.aiSystem),
      callers: values(({ run }) => run.callerId),
      languages: values(({ run }) => run.appHeaders['language']),
      statuses: values(({ outcome }) => outcome.status),
      errors: values(({ outcome }) => outcome.error?.code ?? null),
    }).toEqual({ providers: 6, callers: 6, languages: 6, statuses: 3, errors: 5 });
    const scores = all.flatMap(({ feedback }) => feedback?.score ?? []);
    expect(scores.length).toBeGreaterThan(80);
    expect(Math.min(...scores)).toBeLessThan(-5);
    expect(Math.max(...scores)).toBe(10);
  });

  test('uses models that providers still offer, with supported parameters', () => {
    for (const { run, outcome } of all) {
      if (run.aiSystem === 'ServiceAi' || run.aiSystem === 'OpenAiCompatible') continue;
      const entry = findEntry(run.aiSystem, run.model);
      expect(entry, run.model).toMatchObject({ hasEnded: false, shutdownDate: null });
      expect(run.configuration?.['temperature'] === undefined).toBe(entry?.sampling !== 'always');
      if (outcome.usage !== null) expect(outcome.cost === null, run.model).toBe(entry?.inputPrice === null);
    }
  });

  test('has no unfilled slot and no reference to a real person', () => {
    const text = JSON.stringify(set);
    expect(text.match(/\[(?:person|order|email|phone|iban|card|city|product|company|module|amount|day)\]/g)).toBe(null);
    expect(new Set(text.match(/@[\w.-]+\w/g))).toEqual(new Set(['@example.com']));
    expect(all.every(({ run }) => run.metadata?.['sample'] === true)).toBe(true);
  });
});

test('appears in the audit with its feedback; loading again changes nothing', async () => {
  const { storage, samples } = await openSamples();
  expect(samples.state()).toEqual({ isLoaded: false, conversations: 0, runs: 0, loadedAt: null });
  const loaded = await samples.load();
  const set = [...createSampleSet(noon)];
  const runs = set.flatMap((conversation) => conversation.runs);
  expect(loaded).toEqual({
    isLoaded: true,
    conversations: set.length,
    runs: runs.length,
    loadedAt: new Date(noon).toISOString(),
  });
  const before = contents(storage.databaseFile);
  expect(await samples.load()).toEqual(loaded);
  expect(contents(storage.databaseFile)).toEqual(before);
  const found = await storage.audit.search({ filter: { hasFeedback: true }, sort: 'newest', limit: 200 }, { signal });
  const judged = set.filter((conversation) => conversation.runs.some(({ feedback }) => feedback !== null));
  expect(found.rows.map(({ name }) => name)).toEqual(
    judged
      .toSorted((one, other) => other.runs.at(-1)!.run.createdAt - one.runs.at(-1)!.run.createdAt)
      .map(({ name }) => name),
  );
  expect(found.rows.every(({ isSample }) => isSample)).toBe(true);
});

test('removing deletes the samples and nothing else', async () => {
  const { storage, samples } = await openSamples();
  const own = await recordOwn(storage);
  storage.flush();
  const before = contents(storage.databaseFile);
  await samples.load();
  const later = sampleRun({ createdAt: Date.parse(own!.createdAt) + 1 });
  storage.runs.begin(later);
  await storage.runs.finish(later.runId, sampleOutcome());
  expect(await samples.remove()).toEqual({ isLoaded: false, conversations: 0, runs: 0, loadedAt: null });
  expect(storage.runs.count()).toBe(2);
  expect(listAll(storage, 100).map(({ runId }) => runId)).toEqual([later.runId, own!.runId]);
  const after = contents(storage.databaseFile);
  for (const rows of Object.values(after)) {
    for (const row of rows as { sequence?: number; run?: number }[]) {
      if ((row.sequence ?? row.run ?? 0) > 1) rows.splice(rows.indexOf(row), 1);
    }
  }
  expect(after).toEqual(before);
  const found = await storage.audit.search({ filter: {}, sort: 'newest', limit: 200 }, { signal });
  expect(found.rows.map(({ run, isSample }) => [run.runId, isSample])).toEqual([
    [later.runId, false],
    [own!.runId, false],
  ]);
  expect(await samples.remove()).toEqual(samples.state());
});

test('a removal never causes a sequence to be reused, also by the next host', async () => {
  const first = await openSamples();
  await first.samples.load();
  await first.samples.remove();
  await first.storage.close();
  const { storage } = await openSamples(openTestStorage({ directory: first.storage.directory }));
  const run = sampleRun();
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  storage.flush();
  const database = new Database(storage.databaseFile, { readonly: true });
  const runs = [...createSampleSet(noon)].flatMap((conversation) => conversation.runs).length;
  expect(database.prepare('SELECT sequence FROM runs').pluck().all()).toEqual([runs + 1]);
  expect(storage.runs.count()).toBe(1);
  database.close();
});

test('loads the samples again after a removal, also beside runs', async () => {
  const { storage, samples } = await openSamples();
  await recordOwn(storage);
  const first = await samples.load();
  await samples.remove();
  expect(await samples.load()).toEqual(first);
  expect(await samples.load()).toEqual(first);
  expect(storage.runs.count()).toBe(first.runs + 1);
});

test('simultaneous loading and removing happen one after the other', async () => {
  const { samples } = await openSamples();
  const states = await Promise.all([samples.load(), samples.remove(), samples.load(), samples.load()]);
  expect(states.map(({ isLoaded }) => isLoaded)).toEqual([true, false, true, true]);
});
