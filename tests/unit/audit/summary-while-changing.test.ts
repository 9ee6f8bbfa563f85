// @module-tag slow
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../../electron/storage/database.ts';
import { createRunRemoval } from '../../../electron/storage/retention-store.ts';
import { longTest } from '../../support/patience.ts';
import { recordRun } from '../../support/audit-runs.ts';
import { openTestStorage } from '../storage/test-storage.ts';
import { openEngine } from './test-engine.ts';

/** Each slice of the work is over at once, as in an audit of a million runs. */
function pauseAlways(): void {
  let now = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => (now += 20));
  onTestFinished(() => spy.mockRestore());
}

async function startAudit(count: number) {
  const storage = openTestStorage();
  const start = Date.UTC(2026, 10, 20);
  for (let index = 0; index < count; index += 1) await recordRun({ storage }, { createdAt: start + index * 1000 });
  storage.flush();
  const engine = openEngine(storage.directory);
  const database = openDatabase(storage.directory);
  onTestFinished(() => void database.close());
  const oldest = database.prepare<[], { sequence: number; conversation: number }>(
    'SELECT sequence, conversation FROM runs ORDER BY sequence LIMIT 3',
  );
  const removal = createRunRemoval(database);
  return {
    engine,
    storage,
    /** As the audit's thread follows between two slices. */
    removeThree() {
      database.transaction(() => removal.remove(oldest.all())).immediate();
      engine.facets();
    },
  };
}

test('figures of runs of which some are removed meanwhile', async () => {
  const { engine, removeThree } = await startAudit(10);
  pauseAlways();
  let isRemoved = false;
  const { runs, conversations, buckets } = await engine.summarize({ filter: {} }, async () => {
    if (!isRemoved) removeThree();
    isRemoved = true;
  });
  expect([runs, conversations]).toEqual([7, 7]);
  for (const { start } of buckets) expect(start).toMatch(/^2026-11-20/);
});

test('figures end although runs are always removed meanwhile', async () => {
  const { engine, storage, removeThree } = await startAudit(10);
  pauseAlways();
  let pauses = 0;
  const { runs } = await engine.summarize({ filter: {} }, async () => {
    if (++pauses > 100) return;
    for (let count = 0; count < 3; count += 1) await recordRun({ storage });
    storage.flush();
    removeThree();
  });
  expect(runs).toBe(10);
  expect(pauses).toBeLessThan(100);
});

test('counts of values while runs are removed', async () => {
  const { engine, removeThree } = await startAudit(10);
  pauseAlways();
  let isRemoved = false;
  const counts = await engine.countFacets({ filter: {} }, async () => {
    if (!isRemoved) removeThree();
    isRemoved = true;
  });
  expect(counts.statuses).toEqual([{ status: 'Completed', runs: 7 }]);
});

test('a conversation that gets a run meanwhile counts once', longTest, async () => {
  const storage = openTestStorage();
  const conversationId = randomUUID();
  await Promise.all([
    ...Array.from({ length: 16_400 }, () => recordRun({ storage })),
    ...Array.from({ length: 30 }, () => recordRun({ storage }, { conversationId })),
  ]);
  storage.flush();
  const engine = openEngine(storage.directory);
  pauseAlways();
  let pauses = 0;
  const { runs, conversations } = await engine.summarize({ filter: {} }, async () => {
    // Both blocks were found, and the first was counted.
    if (++pauses !== 3) return;
    await recordRun({ storage }, { conversationId });
    storage.flush();
    engine.facets();
  });
  expect({ runs, conversations }).toEqual({ runs: 16_430, conversations: 16_401 });
});
