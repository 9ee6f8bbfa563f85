import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { SamplingPlan } from '../../../shared/contract/review-queues.ts';
import { createReviewQueues } from '../../../electron/reviews/create-review-queues.ts';
import type { SharedQueues } from '../../../electron/reviews/sharing.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import type { TeamRecords } from '../../../electron/team/team-records.ts';
import { recordRun } from '../../support/audit-runs.ts';
import { fc } from '../../support/fast-check.ts';
import { openTestStorage } from '../storage/test-storage.ts';

const dayMs = 86_400_000;
/** 1 October 2026, noon. */
const start = Date.UTC(2026, 9, 1, 12);
const call = { readsTeam: true, signal: new AbortController().signal };

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: start }));
afterEach(() => void vi.useRealTimers());

function openQueues(storage: Storage) {
  const { reviewQueues: store, reviews, reviewers, rubrics, audit, flush } = storage;
  const failures: unknown[] = [];
  const queues = createReviewQueues({
    store,
    reviews,
    reviewers,
    rubrics,
    audit,
    flush,
    shared: { isOn: () => false } as unknown as SharedQueues,
    team: { isOn: () => false } as unknown as TeamRecords,
    log: (_message, failure) => void failures.push(failure),
  });
  onTestFinished(async () => {
    await queues.close();
    expect(failures).toEqual([]);
  });
  return queues;
}

function openDevice() {
  const storage = openTestStorage();
  return { storage, queues: openQueues(storage) };
}

interface World {
  readonly perDay?: number;
  readonly itemType?: 'run' | 'conversation';
  readonly secondShare?: number;
  readonly device?: ReturnType<typeof openDevice>;
}

/** A workspace of a device, and a queue of its runs. */
function createWorld({ perDay = 2, itemType = 'run', secondShare = 0, device = openDevice() }: World = {}) {
  const { storage, queues } = device;
  const workspaceId = randomUUID();
  const names = new Map<string, string>();
  const record = async (name: string, createdAt: number, change: object = {}) => {
    const run = await recordRun({ storage }, { workspaceId, createdAt, ...change });
    names.set(run.runId, name);
    return run;
  };
  const plan: SamplingPlan = { kind: 'newest', perDay };
  const create = async () => {
    const rubric = storage.rubrics.create({ name: 'Refunds', items: [{ kind: 'yesNo', question: 'Is it right?' }] });
    const input = { name: 'Daily', filter: { workspaceId }, itemType, plan, seed: 7, rubricId: rubric.id, secondShare };
    return (await queues.create(input, null, call)).id;
  };
  const items = async (id: string) => (await queues.items(id, { view: 'all', offset: 0, limit: 1000 }, null)).data;
  const namesOf = async (id: string) => (await items(id)).map(({ runId }) => names.get(runId!));
  return { storage, queues, record, create, items, namesOf };
}

test('each day that has ended adds its newest, once', async () => {
  const { queues, record, create, namesOf } = createWorld();
  await record('morning', start - 3600_000);
  const id = await create();
  expect(queues.read(id, null)).toMatchObject({ isOpen: true, population: 1 });
  await record('evening 1', start + 3600_000);
  await record('evening 2', start + 7200_000);
  await queues.addDays();
  // The day hasn't ended.
  expect(await namesOf(id)).toEqual(['morning']);

  vi.setSystemTime(start + dayMs);
  for (const name of ['a', 'b', 'c']) await record(name, start + dayMs + name.charCodeAt(0));
  await Promise.all([queues.addDays(), queues.addDays()]);
  expect(await namesOf(id)).toEqual(['morning', 'evening 2']);
  vi.setSystemTime(start + 2 * dayMs);
  await queues.addDays();
  await queues.addDays();
  expect(await namesOf(id)).toEqual(['morning', 'evening 2', 'c', 'b']);
  expect(queues.read(id, null)).toMatchObject({
    population: 6,
    strata: [
      { name: '2026-10-01', population: 3, items: 2 },
      { name: '2026-10-02', population: 3, items: 2 },
    ],
    counts: { items: 4 },
  });
  // What other hosts send later, or what matches later, joins as long as the day has fewer.
  await record('late', start - dayMs);
  vi.setSystemTime(start + 3 * dayMs);
  await queues.addDays();
  expect(await namesOf(id)).toEqual(['morning', 'evening 2', 'c', 'b', 'late']);
});

test('a closed queue takes nothing, and an open one again what was missed', async () => {
  const { queues, record, create, namesOf } = createWorld();
  await record('first', start);
  const id = await create();
  await queues.update(id, { isOpen: false }, null);
  await record('second', start + dayMs);
  vi.setSystemTime(start + 5 * dayMs);
  await queues.addDays();
  expect([await namesOf(id), queues.read(id, null).isOpen]).toEqual([['first'], false]);
  expect(await queues.update(id, { isOpen: true }, null)).toMatchObject({ isOpen: true, counts: { items: 2 } });
  await queues.remove(id);
  vi.setSystemTime(start + 6 * dayMs);
  await queues.addDays();
});

test('a wrong clock adds nothing twice and leaves nothing out', async () => {
  const { queues, record, create, namesOf } = createWorld({ perDay: 3 });
  await record('before', start);
  const id = await create();
  // A year ahead, for a while.
  vi.setSystemTime(start + 365 * dayMs);
  await record('ahead', Date.now());
  await queues.addDays();
  expect(await namesOf(id)).toEqual(['before']);
  vi.setSystemTime(start + 1000);
  await record('same day', Date.now());
  await queues.addDays();
  // Its day isn't today, so it has ended.
  expect(await namesOf(id)).toEqual(['before', 'ahead']);
  // At the beginning of time.
  vi.setSystemTime(5000);
  await record('behind', Date.now());
  await queues.addDays();
  expect(await namesOf(id)).toEqual(['before', 'ahead', 'same day']);
  vi.setSystemTime(start + dayMs);
  await queues.addDays();
  expect(await namesOf(id)).toEqual(['before', 'ahead', 'same day', 'behind']);
  for (const time of [0, start, start + 900 * dayMs, start + 2 * dayMs]) {
    vi.setSystemTime(time);
    await queues.addDays();
  }
  expect(await namesOf(id)).toHaveLength(4);
});

test('a conversation is one item, also when it goes on for days', async () => {
  const { queues, record, create, items } = createWorld({ perDay: 1, itemType: 'conversation' });
  const [one, other] = [randomUUID(), randomUUID()];
  await record('', start, { conversationId: other });
  await record('', start + 1, { conversationId: one });
  const id = await create();
  for (let day = 1; day < 4; day += 1) {
    await record('', start + day * dayMs, { conversationId: one });
    vi.setSystemTime(start + (day + 1) * dayMs);
    await queues.addDays();
  }
  expect((await items(id)).map(({ conversationId }) => conversationId)).toEqual([one]);
  expect(queues.read(id, null)).toMatchObject({ population: 2, strata: [{ population: 2, items: 1 }] });
  await record('', start + 4 * dayMs, { conversationId: other });
  vi.setSystemTime(start + 5 * dayMs);
  await queues.addDays();
  expect((await items(id)).map(({ conversationId }) => conversationId)).toEqual([one, other]);
});

test('a host that was off, or killed halfway, has the same items as one that was on', async () => {
  const [stays, stops] = [openDevice(), openDevice()];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 2, maxLength: 5 }),
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(0, 0.3, 1),
      fc.integer({ min: 1, max: 6 }),
      async (runsOfDays, perDay, secondShare, lost) => {
        const on = createWorld({ perDay, secondShare, device: stays });
        const off = createWorld({ perDay, secondShare, device: stops });
        const ids: string[] = [];
        const runIds = Array.from({ length: 30 }, () => randomUUID());
        for (const world of [on, off]) {
          vi.setSystemTime(start);
          await world.record('first', start, { runId: runIds[0]! });
          const id = await world.create();
          ids.push(id);
          let next = 1;
          for (const [index, count] of runsOfDays.entries()) {
            const day = start + (index + 1) * dayMs;
            vi.setSystemTime(day);
            if (world === on) await world.queues.addDays();
            for (let run = 0; run < count; run += 1) {
              await world.record(`${index}.${run}`, day + ((run * 7) % 5), { runId: runIds[next]! });
              next += 1;
            }
          }
          vi.setSystemTime(start + 30 * dayMs);
          await world.queues.addDays();
        }
        const of = async (world: typeof on, id: string) =>
          (await world.items(id)).map(({ runId, stratum, reviewsNeeded }) => [runId, stratum, reviewsNeeded]);
        const expected = await of(on, ids[0]!);
        expect(await of(off, ids[1]!)).toEqual(expected);
        expect(expected).toHaveLength(1 + runsOfDays.reduce((sum, count) => sum + Math.min(count, perDay), 0));
        // A kill can leave any start of what is added.
        const queue = off.storage.reviewQueues.read(ids[1]!);
        const database = new Database(off.storage.databaseFile);
        const first = Math.max(1, expected.length - lost);
        database.prepare('DELETE FROM review_items WHERE queue = ? AND position >= ?').run(queue.sequence, first);
        database.close();
        off.storage.reviewQueues.setSampling(queue.sequence, { ...queue, filledDay: null });
        await off.queues.addDays();
        expect((await of(off, ids[1]!)).map(([runId]) => runId)).toEqual(expected.map(([runId]) => runId));
        for (const [index, world] of [on, off].entries()) await world.queues.remove(ids[index]!);
      },
    ),
    { numRuns: 5 },
  );
});

test('other plans and queues of other installations take no items', async () => {
  const { storage, queues, record } = createWorld();
  await record('one', start);
  const rubric = storage.rubrics.create({ name: 'Refunds', items: [{ kind: 'yesNo', question: 'Is it right?' }] });
  const input = {
    name: 'All',
    filter: {},
    itemType: 'run' as const,
    plan: { kind: 'all' as const },
    rubricId: rubric.id,
  };
  const { id, isOpen } = await queues.create(input, null, call);
  expect(isOpen).toBe(false);
  await expect(queues.update(id, { isOpen: true }, null)).rejects.toMatchObject({ code: 'invalid_request' });
  const { sequence: _sequence, teamChange: _change, ...queue } = storage.reviewQueues.read(id);
  const imported = randomUUID();
  const plan = { ...queue.plan, plan: { kind: 'newest' as const, perDay: 1 } };
  const copy = storage.reviewQueues.create({ ...queue, id: imported, isImported: true, isOpen: true, plan });
  storage.reviewQueues.show(copy);
  await expect(queues.update(imported, { isOpen: false }, null)).rejects.toMatchObject({ code: 'conflict' });
  vi.setSystemTime(start + 9 * dayMs);
  await queues.addDays();
  expect(storage.reviewQueues.itemCount(copy)).toBe(0);
});
