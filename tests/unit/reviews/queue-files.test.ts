import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { maxQueueItems } from '../../../shared/contract/review-queues.ts';
import { createQueueFiles, type QueueFilesOptions } from '../../../electron/reviews/create-queue-files.ts';

const queueLine = {
  type: 'queue',
  format: 1,
  installationId: randomUUID(),
  id: randomUUID(),
  name: 'November',
  itemType: 'run',
  plan: { kind: 'all' },
  seed: 7,
  reviewersPerItem: 1,
  secondShare: 0,
  reservationMinutes: 15,
  population: 1,
  strata: [{ name: 'all', population: 1, items: 1 }],
  rubric: {
    id: randomUUID(),
    name: 'Refunds',
    version: 1,
    description: null,
    items: [
      {
        id: randomUUID(),
        kind: 'yesNo',
        question: 'Is it right?',
        description: null,
        isRequired: true,
        categories: [],
        examples: [],
      },
    ],
  },
  createdAt: 0,
};

function itemLine() {
  const run = {
    runId: randomUUID(),
    createdAt: '2026-11-24T00:00:00.000Z',
    model: 'm',
    input: 'i',
    answer: 'a',
    passages: [],
  };
  const { runId } = run;
  return {
    type: 'item',
    id: randomUUID(),
    conversationId: randomUUID(),
    runId,
    stratum: 0,
    isFlagged: false,
    needed: 1,
    runs: [run],
  };
}

test('a file with more items than a queue can have is rejected, and leaves no queue', async () => {
  const calls: string[] = [];
  const store = {
    installationId: randomUUID(),
    find: () => null,
    create: () => 1,
    append: () => undefined,
    show: () => calls.push('show'),
    hide: () => calls.push('hide'),
    removeSome: () => false,
  };
  const { import: importFile } = createQueueFiles({ store } as unknown as QueueFilesOptions);
  async function* content(items: number) {
    yield Buffer.from(`${JSON.stringify(queueLine)}\n`);
    for (let index = 0; index < items; index += 1) yield Buffer.from(`${JSON.stringify(itemLine())}\n`);
  }
  await expect(importFile(content(maxQueueItems + 1))).rejects.toThrow(/more than 50,000 items\.$/);
  expect(calls).toEqual(['hide']);
});
