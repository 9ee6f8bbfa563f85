// @module-tag slow
import { expect, test } from 'vitest';
import type { AuditFilter } from '../../../shared/contract/audit.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { fc } from '../../support/fast-check.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage } from '../storage/test-storage.ts';
import { plainReport, type PlainRun } from './plain-filter.ts';
import { plainRunOf, randomFilter, randomRuns } from './random-runs.ts';
import { longTest } from '../../support/patience.ts';

const signal = new AbortController().signal;

/** Records runs, each made no earlier than those before it, as the recorder does. */
async function record(storage: Storage, runs: readonly PlainRun[]): Promise<void> {
  for (const { run, outcome, feedback } of runs) {
    storage.runs.begin(run);
    await storage.runs.finish(run.runId, outcome);
    if (feedback !== null) storage.audit.giveFeedback(run, feedback, { reviewerId: 'reviewer' });
  }
}

/** Every conversation of a walk with which of its runs match; `between` is called after each page. */
async function walk(
  storage: Storage,
  filter: AuditFilter,
  pageSizes: readonly number[],
  between: () => Promise<void> = async () => {},
): Promise<string[]> {
  const found: string[] = [];
  let continuationToken: string | null = null;
  let page = 0;
  do {
    const pageSize = pageSizes[page++ % pageSizes.length]!;
    const answer = await storage.audit.report({ filter, pageSize, continuationToken, hasFeedback: false }, { signal });
    const conversations = [...answer.conversations];
    expect(conversations.length).toBeLessThanOrEqual(pageSize);
    found.push(
      ...conversations.map(({ id, runs }) => `${id} ${[...runs].map(({ matched }) => (matched ? '+' : '-')).join('')}`),
    );
    continuationToken = answer.continuationToken;
    await between();
  } while (continuationToken !== null);
  return found;
}

/** Asks for so many other lists that the one of a walk is forgotten and has to be found again as it was. */
async function askOthers(storage: Storage): Promise<void> {
  for (let caller = 100; caller < 105; caller += 1) {
    await storage.audit.list({ callerId: uuidOf(caller), pageSize: 1, continuationToken: null }, { signal });
  }
}

const uuidOf = (number: number): string => `00000${number}-0000-4000-8000-000000000000`;

const pageSizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 3 });

/** In the order of time, as runs are recorded; fast-check would have them in any. */
function inOrder(runs: readonly PlainRun[]): PlainRun[] {
  return runs.toSorted((one, other) => one.run.createdAt - other.run.createdAt);
}

test(
  'pages contain exactly the conversations of a plain filter, in order, also while runs are added',
  longTest,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        randomRuns,
        fc.array(randomFilter, { minLength: 16, maxLength: 24 }),
        pageSizes,
        async (random, filters, sizes) => {
          const storage = openTestStorage();
          const all = inOrder(random.map(plainRunOf));
          // The second half is recorded during the walks, one run after each page.
          const present = all.slice(0, Math.ceil(all.length / 2));
          const arriving = all.slice(present.length);
          await record(storage, present);
          for (const filter of filters) {
            const expected = plainReport(present, filter);
            const found = await walk(storage, filter, sizes, async () => {
              const next = arriving.splice(0, 1);
              await record(storage, next);
              present.push(...next);
              await askOthers(storage);
            });
            expect(found).toEqual(expected);
          }
          await storage.close();
        },
      ),
      { numRuns: 12, interruptAfterTimeLimit: 120_000 },
    );
  },
);

test('lists runs in the order of time even if they are recorded in another order', longTest, async () => {
  await fc.assert(
    fc.asyncProperty(randomRuns, randomFilter, pageSizes, async (random, filter, sizes) => {
      const storage = openTestStorage();
      // One run to a conversation: which of two runs is the newer one is then no question.
      const all = random
        .map(plainRunOf)
        .filter(
          ({ run }, index, runs) =>
            runs.findIndex((other) => other.run.conversationId === run.conversationId) === index,
        );
      await record(storage, all);
      expect(await walk(storage, filter, sizes)).toEqual(plainReport(all, filter));
      await storage.close();
    }),
    { numRuns: 12, interruptAfterTimeLimit: 120_000 },
  );
});

test('a run that arrives between pages adds no older conversation, also when the list was dropped', async () => {
  const storage = openTestStorage();
  const [callerId, oldest] = [uuidOf(200), uuidOf(201)];
  const run = (conversation: string, time: number, model: string): PlainRun => ({
    run: sampleRun({ conversationId: conversation, callerId, model, createdAt: Date.UTC(2026, 0, 1) + time }),
    outcome: sampleOutcome(),
    feedback: null,
  });
  const present = [run(oldest, 0, 'other'), run(uuidOf(202), 1, 'wanted'), run(uuidOf(203), 2, 'wanted')];
  await record(storage, present);
  const filter: AuditFilter = { callerId, models: ['wanted'] };
  let time = 3;
  const found = await walk(storage, filter, [1], async () => {
    await record(storage, [run(oldest, time++, 'wanted'), run(uuidOf(900 + time), time++, 'wanted')]);
    await askOthers(storage);
  });
  expect(found).toEqual(plainReport(present, filter));
});
