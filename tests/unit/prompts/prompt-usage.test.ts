import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Storage } from '../../../electron/storage/storage.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage, temporaryDirectory } from '../storage/test-storage.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 10, 1);

function keepPrompt({ prompts }: Storage) {
  const nothing = { systemMessage: null, aiSystem: null, model: null, configuration: null, variables: [], note: null };
  const version = { promptText: 'Hi', ...nothing };
  return prompts.create({ name: 'P', folder: null, tags: [], description: null }, version);
}

function usageOf({ prompts }: Storage, id: string) {
  return prompts.listUsage(id, { pageSize: 10, continuationToken: null }).data[0]!;
}

interface SomeRun {
  readonly promptVersionId: string | null;
  readonly day: number;
  readonly totalMs?: number;
  readonly cost?: number | null;
  readonly score?: number;
}

async function record(storage: Storage, { promptVersionId, day: at, totalMs = 100, cost = 1, score }: SomeRun) {
  const run = sampleRun({ promptId: randomUUID(), promptVersionId, createdAt: start + at * day });
  const ids = storage.runs.joinConversation({
    conversationId: null,
    workspaceId: null,
    callerId: run.callerId,
    name: 'c',
  });
  storage.runs.begin({ ...run, conversationId: ids.conversationId });
  await storage.runs.finish(
    run.runId,
    sampleOutcome({ totalMs, cost: cost === null ? null : { amount: cost, pricesFrom: '2026-11-22' } }),
  );
  if (score !== undefined)
    storage.audit.giveFeedback(
      { conversationId: ids.conversationId, runId: run.runId },
      { score },
      { reviewerId: 'reviewer' },
    );
  return { conversationId: ids.conversationId, runId: run.runId };
}

test('usage follows runs that start, end, are rated and are removed, and survives a restart', async () => {
  const directory = temporaryDirectory();
  const storage = openTestStorage({ directory });
  const { id, latestVersionId: promptVersionId } = keepPrompt(storage);
  await record(storage, { promptVersionId, day: 0, totalMs: 900, cost: 5, score: -10 });
  await record(storage, { promptVersionId, day: 9, totalMs: 100, cost: null });
  const last = await record(storage, { promptVersionId, day: 10, totalMs: 300, cost: 2, score: 4 });
  await record(storage, { promptVersionId: null, day: 11, totalMs: 5000 });
  storage.audit.giveFeedback(last, { score: 6 }, { reviewerId: 'reviewer' });
  storage.flush();
  const lastRunAt = new Date(start + 10 * day).toISOString();
  const known = { promptVersionId, versionNumber: 1, lastRunAt };
  expect(usageOf(storage, id)).toEqual({
    ...known,
    runs: 3,
    averageScore: -2,
    scoredRuns: 2,
    averageCost: 3.5,
    averageMs: (900 + 100 + 300) / 3,
  });

  storage.retention.apply('delete', start + 5 * day, 100);
  const left = { ...known, runs: 2, averageScore: 6, scoredRuns: 1, averageCost: 2, averageMs: 200 };
  expect(usageOf(storage, id)).toEqual(left);
  await storage.close();
  const reopened = openTestStorage({ directory });
  expect(usageOf(reopened, id)).toEqual(left);
  reopened.retention.apply('delete', start + 50 * day, 100);
  const none = { runs: 0, lastRunAt: null, averageScore: null, scoredRuns: 0, averageCost: null, averageMs: null };
  expect(usageOf(reopened, id)).toEqual({ ...known, ...none });
});
