import { expect, test } from 'vitest';
import { type RunSettings, runsTheSame } from '../../../shared/prompt-content.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { countDraftRuns } from '../../../electron/prompts/create-prompts.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage } from '../storage/test-storage.ts';

const sample = sampleRun();
const { promptText, systemMessage, aiSystem, model, configuration } = sample;
const start = Date.UTC(2026, 10, 1);

function keepVersion({ prompts }: Storage): PromptVersion {
  const version = { promptText, systemMessage, aiSystem, model, configuration, variables: [], note: null };
  const { latestVersionId } = prompts.create({ name: 'P', folder: null, tags: [], description: null }, version);
  return prompts.findVersion(latestVersionId)!;
}

async function record(storage: Storage, change: Partial<typeof sample> & { draftId?: string; score?: number } = {}) {
  const { draftId = 'draft', score, ...rest } = change;
  const callerId = storage.windowCallerId;
  const run = sampleRun({ callerId, metadata: { draftId }, createdAt: start, ...rest });
  const joined = storage.runs.joinConversation({ conversationId: null, workspaceId: null, callerId, name: 'c' });
  storage.runs.begin({ ...run, conversationId: joined.conversationId });
  await storage.runs.finish(run.runId, sampleOutcome({ totalMs: 200, cost: { amount: 2, pricesFrom: '2026-11-22' } }));
  if (score !== undefined)
    storage.audit.giveFeedback(
      { conversationId: joined.conversationId, runId: run.runId },
      { score },
      { reviewerId: 'reviewer' },
    );
  return run.runId;
}

const count = (storage: Storage, version: PromptVersion, slice = 2) =>
  countDraftRuns('draft', version, {
    store: storage.draftRuns,
    isSame: (run: RunSettings) => runsTheSame(run, version),
    slice,
  });

function usageOf({ prompts }: Storage, version: PromptVersion) {
  const [{ promptVersionId: _, lastRunAt, ...usage }] = prompts.listUsage(version.promptId, {
    pageSize: 10,
    continuationToken: null,
  }).data as [ReturnType<Storage['prompts']['listUsage']>['data'][number]];
  return { ...usage, lastRunAt };
}

const found = async ({ audit }: Storage, promptVersionId: string) => {
  const signal = AbortSignal.timeout(20_000);
  const filter = { promptVersionId };
  const { conversations } = await audit.report(
    { filter, pageSize: 100, continuationToken: null, hasFeedback: true },
    { signal },
  );
  return [...conversations].flatMap(({ runs }) => [...runs].map(({ conversationRunId }) => conversationRunId));
};

test('runs of the draft with the same text count for the version in usage, audit and retention', async () => {
  const storage = openTestStorage();
  const others = [
    { draftId: 'other' },
    { promptText: 'Else {{text}}' },
    { systemMessage: null },
    { model: 'gpt-4.1' },
    { configuration: { temperature: 0.6 } },
    { callerId: '99999999-9999-4999-8999-999999999999' },
  ];
  for (const other of others.slice(0, 5)) await record(storage, other);
  const runs = [
    await record(storage, { score: 4 }),
    await record(storage),
    await record(storage, { score: -2, createdAt: start + 9 }),
  ];
  const version = keepVersion(storage);
  // The audit has its index, with the runs under no version.
  expect(await found(storage, version.id)).toEqual([]);
  expect(await count(storage, version)).toBe(3);
  const usage = {
    versionNumber: 1,
    runs: 3,
    averageScore: 1,
    scoredRuns: 2,
    averageCost: 2,
    averageMs: 200,
    lastRunAt: new Date(start + 9).toISOString(),
  };
  expect(usageOf(storage, version)).toEqual(usage);
  expect((await found(storage, version.id)).toSorted()).toEqual(runs.toSorted());
  // Once more changes nothing, and another version doesn't take them away.
  expect(await count(storage, version)).toBe(0);
  expect(await count(storage, keepVersion(storage))).toBe(0);
  expect(usageOf(storage, version)).toEqual(usage);
  storage.retention.apply('delete', start + 5, 100);
  expect(usageOf(storage, version)).toEqual({ ...usage, runs: 1, averageScore: -2, scoredRuns: 1 });
  expect(await found(storage, version.id)).toEqual([runs[2]]);
  await storage.close();
});

test("an active run counts at once, with its figures when it ends; an anonymised run doesn't count", async () => {
  const storage = openTestStorage();
  const callerId = storage.windowCallerId;
  const old = await record(storage);
  storage.retention.apply('anonymise', start + 5, 100);
  const run = sampleRun({ callerId, metadata: { draftId: 'draft' }, createdAt: start + 10 });
  const joined = storage.runs.joinConversation({ conversationId: null, workspaceId: null, callerId, name: 'c' });
  storage.runs.begin({ ...run, conversationId: joined.conversationId });
  const version = keepVersion(storage);
  expect(await count(storage, version)).toBe(1);
  expect(usageOf(storage, version)).toMatchObject({ runs: 1, averageMs: null, averageCost: null });
  expect(await found(storage, version.id)).toEqual([run.runId]);
  await storage.runs.finish(run.runId, sampleOutcome({ totalMs: 500, cost: { amount: 3, pricesFrom: '2026-11-22' } }));
  storage.flush();
  expect(usageOf(storage, version)).toMatchObject({ runs: 1, averageMs: 500, averageCost: 3 });
  expect(await found(storage, version.id)).toEqual([run.runId]);
  expect(await found(storage, version.id)).not.toContain(old);
  await storage.close();
});

test('counts a draft with many runs in slices, each in a separate transaction', async () => {
  const storage = openTestStorage();
  for (let index = 0; index < 7; index += 1) await record(storage, { promptText: index === 3 ? 'Else' : promptText });
  const version = keepVersion(storage);
  const slices: number[] = [];
  const store: Storage['draftRuns'] = {
    ...storage.draftRuns,
    claimSome(...parameters) {
      const result = storage.draftRuns.claimSome(...parameters);
      slices.push(result.claimed);
      return result;
    },
  };
  const isSame = (run: RunSettings) => runsTheSame(run, version);
  expect(await countDraftRuns('draft', version, { store, isSame, slice: 3 })).toBe(6);
  expect(slices).toEqual([3, 2, 1]);
  expect(usageOf(storage, version).runs).toBe(6);
  await storage.close();
});
