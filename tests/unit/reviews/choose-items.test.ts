// @module-tag slow
import { expect, test } from 'vitest';
import { type Population, countSample, drawSample, priorityOf } from '../../../electron/reviews/choose-items.ts';
import type { SamplingPlan } from '../../../shared/contract/review-queues.ts';
import type { PopulationRun } from '../../../electron/storage/reviews/queue-rows.ts';
import { fc } from '../../support/fast-check.ts';

const { signal } = new AbortController();
const day = 86_400_000;

function runAt(sequence: number): PopulationRun {
  const id = `run-${sequence}`;
  return {
    sequence,
    runId: id,
    conversationId: id,
    model: `model ${sequence % 3}`,
    createdAt: (sequence % 5) * day + ((sequence * 7919) % 1000),
    score: null,
    tags: null,
    isFlagged: Number(sequence % 10 === 0),
  };
}

/** Runs in an order that has nothing to do with any plan. */
function populationOf(count: number, slice: number): Population {
  const runs = Array.from({ length: count }, (_, index) => runAt(((index * 7) % count) + 1));
  return {
    async *runs() {
      for (let offset = 0; offset < runs.length; offset += slice)
        yield await Promise.resolve(runs.slice(offset, offset + slice));
    },
    read: (sequences) => Promise.resolve(sequences.map(runAt)),
  };
}

const fieldsOf = (plan: SamplingPlan) => ({ filter: {}, itemType: 'run' as const, plan });

test('a sample has the first runs of each stratum, however many arrive in whatever slices', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 9000 }).filter((count) => count % 7 !== 0),
      fc.integer({ min: 1, max: 3000 }),
      fc.integer({ min: 1, max: 1500 }),
      async (count, slice, size) => {
        const all = Array.from({ length: count }, (_, index) => runAt(index + 1));
        const population = populationOf(count, slice);
        const random = await drawSample(fieldsOf({ kind: 'random', count: size }), 7, population, signal);
        const byPriority = all
          .map(({ runId }) => ({ runId, priority: priorityOf(7, 'sample', runId) }))
          .toSorted((one, other) => one.priority - other.priority);
        expect(random.items.map(({ runId }) => runId)).toEqual(byPriority.slice(0, size).map(({ runId }) => runId));
        expect(random).toMatchObject({ population: count, strata: [{ population: count }] });

        const newest = await drawSample(fieldsOf({ kind: 'newest', perDay: size }), 7, population, signal);
        const newestFirst = all.toSorted(
          (one, other) => other.createdAt - one.createdAt || other.sequence - one.sequence,
        );
        const days = Map.groupBy(newestFirst, ({ createdAt }) => Math.floor(createdAt / day));
        const expected = [...days.values()].flatMap((runs) => runs.slice(0, size).map(({ runId }) => runId));
        expect(newest.items.map(({ runId }) => runId)).toEqual(expected);
      },
    ),
    { numRuns: 8 },
  );
});

test('counts more than a queue can have, and rejects to choose them', async () => {
  const population = populationOf(50_002, 5000);
  const fields = fieldsOf({ kind: 'all' });
  expect(await countSample(fields, population, signal)).toMatchObject({ population: 50_002, items: 50_002 });
  await expect(drawSample(fields, 1, population, signal)).rejects.toThrow('chooses 50,002 items');
  const largest = fieldsOf({ kind: 'random', count: 50_000 });
  expect((await drawSample(largest, 1, population, signal)).items).toHaveLength(50_000);
});
