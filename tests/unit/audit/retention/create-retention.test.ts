// @module-tag slow
import { textMessage } from '../../../../shared/contract/messages.ts';
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSamples } from '../../../../electron/audit/samples/create-samples.ts';
import { newCell, type StoredCell } from '../../../../electron/storage/comparison-cells.ts';
import { listAll, openTestStorage } from '../../storage/test-storage.ts';
import { sampleOutcome, sampleRun } from '../../storage/sample-run.ts';
import { day, now } from './retention-time.ts';
import { openRetention, recordAged } from './test-retention.ts';

const signal = new AbortController().signal;
const ids = (runs: { runId: string }[]) => runs.map(({ runId }) => runId);

test('is off by default', async () => {
  const { storage, retention } = openRetention();
  const run = await recordAged(storage, 9000);
  await retention.apply();
  expect(ids(listAll(storage, 10))).toEqual([run.runId]);
  expect(retention.state()).toEqual({ mode: 'off', days: 365, isRunning: false, last: null });
});

test('previews its changes, then makes exactly these', async () => {
  const { storage, retention } = openRetention();
  const old = [await recordAged(storage, 31), await recordAged(storage, 30.5)];
  const both = await recordAged(storage, 40, { conversationId: old[0]!.conversationId });
  const young = [
    await recordAged(storage, 29, { conversationId: old[1]!.conversationId }),
    await recordAged(storage, 1),
  ];
  const preview = await retention.preview({ mode: 'delete', days: 30 }, { signal });
  expect(preview).toEqual({
    before: new Date(now - 30 * day).toISOString(),
    runs: 3,
    conversations: 2,
    oldest: new Date(both.createdAt).toISOString(),
    bytes: expect.any(Number),
  });
  expect(preview.bytes).toBeGreaterThan(3 * 100);
  storage.settings.update({ retention: { mode: 'delete', days: 30 } });
  await retention.apply();
  expect(ids(listAll(storage, 10)).toSorted()).toEqual(ids(young).toSorted());
  expect(storage.runs.count()).toBe(2);
  expect(storage.audit.readConversation(old[0]!.conversationId, { hasFeedback: true })).toBe(null);
  expect([...storage.audit.readConversation(old[1]!.conversationId, { hasFeedback: true })!.runs]).toHaveLength(1);
  expect(retention.state()).toEqual({
    mode: 'delete',
    days: 30,
    isRunning: false,
    last: { mode: 'delete', startedAt: new Date(now).toISOString(), endedAt: new Date(now).toISOString(), runs: 3 },
  });
  expect((await retention.preview({ mode: 'delete', days: 30 }, { signal })).runs).toBe(0);
});

test('a preview of many runs measures a sample and counts all', async () => {
  const { storage, retention } = openRetention();
  await Promise.all(Array.from({ length: 2500 }, (_, index) => recordAged(storage, 31 + index / 1000)));
  const one = openRetention();
  await recordAged(one.storage, 31);
  const { bytes } = await one.retention.preview({ mode: 'anonymise', days: 30 }, { signal });
  const preview = await retention.preview({ mode: 'anonymise', days: 30 }, { signal });
  expect(preview).toMatchObject({ runs: 2500, conversations: 2500, bytes: 2500 * bytes });
});

test('deleting keeps credits, keys, views and samples, and the audit follows', async () => {
  const storage = openTestStorage();
  const key = storage.apiKeys.issue({ name: 'Key', creditLimit: 10 });
  storage.audit.views.create({ name: 'Mine', filter: {}, sort: 'newest' });
  const samples = await createSamples({ store: storage.samples, runs: storage.runs, now: () => now });
  const loaded = await samples.load();
  const { retention } = openRetention(storage);
  const old = await recordAged(storage, 50, { apiKeyId: key.id, callerId: key.callerId, promptText: 'Needle' });
  storage.audit.giveFeedback(old, { score: 3, scoreText: 'Good' }, { reviewerId: 'reviewer' });
  const found = () =>
    storage.audit.search({ filter: { callerId: key.callerId }, sort: 'newest', limit: 10 }, { signal });
  expect((await found()).total).toBe(1);

  storage.settings.update({ retention: { mode: 'delete', days: 1 } });
  await retention.apply();
  expect((await found()).total).toBe(0);
  expect(samples.state()).toEqual(loaded);
  expect(storage.runs.count()).toBe(loaded.runs);
  expect(storage.audit.views.list().map(({ name }) => name)).toEqual(['Mine']);
  expect(storage.apiKeys.list()).toMatchObject([{ id: key.id, creditsUsed: 1, creditLimit: 10 }]);
  const database = new Database(storage.databaseFile, { readonly: true });
  expect(database.prepare('SELECT api_key_id, credits FROM credit_entries').all()).toEqual([
    { api_key_id: key.id, credits: 1 },
  ]);
  expect(database.pragma('foreign_key_check')).toEqual([]);
  database.close();
});

test('anonymising blanks every text and keeps every number', async () => {
  const { storage, retention } = openRetention();
  const secret = 'a very secret word';
  const young = await recordAged(storage, 2, { renderedPrompt: secret });
  const run = await recordAged(storage, 50, {
    promptText: secret,
    systemMessage: secret,
    renderedPrompt: secret,
    messages: [textMessage('system', secret), textMessage('user', secret)],
    replacements: { secret },
    appHeaders: { secret },
    metadata: { secret },
    configuration: { temperature: 0.5, user: secret, stop: [secret], logprobs: true },
  });
  storage.audit.giveFeedback(run, { score: -3, scoreText: secret, scoreTags: 'wrong' }, { reviewerId: 'reviewer' });
  const before = storage.runs.read(run.runId)!;
  storage.settings.update({ retention: { mode: 'anonymise', days: 30 } });
  await retention.apply();

  const after = storage.runs.read(run.runId)!;
  expect(after).toEqual({
    ...before,
    title: 'Anonymised',
    isAnonymised: true,
    input: {
      promptText: '',
      systemMessage: null,
      replacements: null,
      renderedPrompt: '',
      messages: [],
      configuration: { temperature: 0.5, logprobs: true },
      dataspaceIds: before.input.dataspaceIds,
    },
    output: { content: '', reasoning: null, finishReason: before.output.finishReason, error: null },
    appHeaders: {},
    metadata: { anonymised: true },
    citations: [],
    warnings: [],
  });
  const conversation = storage.audit.readConversation(run.conversationId, { hasFeedback: true })!;
  expect(conversation.name).toBe('Anonymised');
  expect([...conversation.runs][0]!.feedback).toMatchObject({ score: -3, scoreText: null, scoreTags: 'wrong' });
  const [entry] = storage.audit.listFeedback(run);
  expect(entry).toMatchObject({ reviewer: 'Touchstone window', value: { score: -3, scoreTags: 'wrong' }, note: null });
  const words = await storage.audit.search({ filter: { text: 'secret' }, sort: 'newest', limit: 10 }, { signal });
  expect(words.rows.map(({ run: found }) => found.runId)).toEqual([young.runId]);
  expect((await retention.preview({ mode: 'anonymise', days: 30 }, { signal })).runs).toBe(0);

  // What was made anonymous may still be deleted later.
  expect((await retention.preview({ mode: 'delete', days: 30 }, { signal })).runs).toBe(1);
  storage.settings.update({ retention: { mode: 'delete', days: 30 } });
  await retention.apply();
  expect(storage.runs.read(run.runId)).toBe(null);
});

const marker = 'Xylophone-Quagmire';

test.each(['delete', 'anonymise'] as const)('after %s nothing of a text is left in the file', async (mode) => {
  const { storage, retention } = openRetention();
  await recordAged(storage, 50, { renderedPrompt: marker.repeat(300), promptText: marker });
  // An answer to a long prompt that is on disk already has a row of its own.
  const long = sampleRun({ createdAt: now - 50 * day, renderedPrompt: 'x'.repeat(300_000) });
  storage.runs.begin(long);
  storage.runs.read(long.runId);
  await storage.runs.finish(long.runId, sampleOutcome({ content: marker.repeat(300) }));
  storage.settings.update({ retention: { mode, days: 30 } });
  await retention.apply();
  await retention.close();
  await storage.close();
  expect(readFileSync(storage.databaseFile).includes(marker)).toBe(false);
});

/** A comparison whose first cell quotes a run; the second may be of another. */
function compareWith(
  storage: ReturnType<typeof openTestStorage>,
  runId: string,
  otherRunId: string | null = null,
): number {
  const counts = { total: 1, waiting: 0, running: 0, completed: 1, failed: 0, skipped: 0, stopped: 0 };
  const noTimes = { stopReason: null, startedAt: null, completedAt: null };
  const summary = { counts, spent: 0, runsWithoutCost: 0, stoppedVariants: [], ...noTimes };
  const { sequence } = storage.comparisons.create({
    name: 'Short or polite',
    datasetId: runId,
    datasetVersion: 1,
    setup: { variants: [], variables: null, checks: [] },
    settings: {
      variantCount: 1,
      baseline: 'A',
      basedOn: null,
      repeats: 1,
      concurrency: 1,
      maxCost: null,
      attempts: 1,
      timeLimitSeconds: 60,
      seed: null,
      rowCount: 1,
      estimate: null,
    },
    summary,
  });
  const reason = `The answer isn't "${marker}"`;
  const cell: StoredCell = {
    ...newCell(0),
    state: 'Completed',
    runId,
    attempts: 1,
    failure: { code: 'provider_failed', message: marker },
    cost: 0.5,
    answerHash: '0123456789abcdef',
    checks: [
      { kind: 'equals', name: null, pass: false, score: 0, reason },
      { kind: 'judge', name: 'Polite', pass: true, score: 1, reason, counts: true, runIds: [runId], cost: 0.25 },
    ],
    passed: false,
    score: 0.5,
  };
  const cells = [cell, { ...cell, position: 1, runId: otherRunId }];
  storage.comparisons.write(sequence, { cells, state: 'Completed', summary });
  return sequence;
}

test.each(['delete', 'anonymise'] as const)('%s removes what comparisons quote of a run', async (mode) => {
  const { storage, retention } = openRetention();
  const old = await recordAged(storage, 50);
  const young = await recordAged(storage, 2);
  const [compared, other] = [compareWith(storage, old.runId), compareWith(storage, young.runId)];
  const [before, others] = [
    storage.comparisons.cell(compared, 0)!,
    storage.comparisons.cells(other, { from: 0, to: 2 }),
  ];
  storage.settings.update({ retention: { mode, days: 30 } });
  await retention.apply();

  const reason = 'The text of the run was removed.';
  expect(storage.comparisons.cell(compared, 0)).toEqual({
    ...before,
    failure: { code: 'provider_failed', message: reason },
    answerHash: null,
    checks: before.checks.map((check) => ({ ...check, reason })),
  });
  expect(storage.comparisons.cell(compared, 1)!.checks[0]!.reason).toContain(marker);
  expect(storage.comparisons.cells(other, { from: 0, to: 2 })).toEqual(others);
});

test.each(['delete', 'anonymise'] as const)('after %s no quote of a comparison is left in the file', async (mode) => {
  const { storage, retention } = openRetention();
  const { runId } = await recordAged(storage, 50);
  compareWith(storage, runId, runId);
  storage.settings.update({ retention: { mode, days: 30 } });
  await retention.apply();
  await retention.close();
  await storage.close();
  expect(readFileSync(storage.databaseFile).includes(marker)).toBe(false);
});

test("doesn't change an active run", async () => {
  const { storage, retention } = openRetention();
  const run = sampleRun({ createdAt: now - 50 * day });
  storage.runs.begin(run);
  storage.flush();
  storage.settings.update({ retention: { mode: 'delete', days: 1 } });
  await retention.apply();
  await storage.runs.finish(run.runId, sampleOutcome());
  expect(storage.runs.read(run.runId)?.status).toBe('Completed');
});

test('applies a changed setting, and stops when it is reverted', async () => {
  const { storage, retention } = openRetention();
  await Promise.all(Array.from({ length: 400 }, () => recordAged(storage, 50)));
  storage.settings.update({ retention: { mode: 'delete', days: 30 } });
  expect(retention.state().isRunning).toBe(true);
  storage.settings.update({ retention: { mode: 'off', days: 30 } });
  await retention.apply();
  expect(storage.runs.count()).toBeGreaterThan(300);
});

test('a slow slice is followed by smaller ones, and by larger ones when they are fast again', async () => {
  const storage = openTestStorage();
  let clock = 0;
  const clocked = vi.spyOn(performance, 'now').mockImplementation(() => clock);
  onTestFinished(() => clocked.mockRestore());
  const limits: number[] = [];
  const { retention } = openRetention({
    ...storage,
    retention: {
      ...storage.retention,
      // The first three take 20 ms by the clock that the retention reads, the others no time.
      apply(_mode, _before, limit) {
        limits.push(limit);
        if (limits.length <= 3) clock += 20;
        return limits.length > 7 ? 0 : limit;
      },
    },
  });
  storage.settings.update({ retention: { mode: 'delete', days: 30 } });
  await retention.apply();
  expect(limits).toEqual([25, 12, 6, 3, 6, 12, 24, 25]);
});
