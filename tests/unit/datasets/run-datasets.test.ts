import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createDatasets } from '../../../electron/datasets/create-datasets.ts';
import { createRunDatasets, type RunDatasetsOptions } from '../../../electron/datasets/create-run-datasets.ts';
import { patience } from '../../support/patience.ts';
import { openTestStorage } from '../storage/test-storage.ts';

const reader = { callerId: 'caller', canReadAll: true };

function open(onRead: (count: number) => void) {
  const { datasets: store, files } = openTestStorage();
  const log = () => undefined;
  const datasets = createDatasets({ store, files, comparisonWith: () => null, log });
  let count = 0;
  const read = (runId: string) => {
    count += 1;
    onRead(count);
    const run = {
      runId,
      model: 'a',
      metadata: null,
      origin: { api: 'completions' },
      input: { replacements: { text: `${count}` } },
    };
    return { ...run, output: { content: 'An answer' } };
  };
  const sources = { audit: { select: vi.fn() }, runs: { read }, exportRows: { runIds: vi.fn(), feedback: () => null } };
  const runDatasets = createRunDatasets({ ...sources, datasets, log } as unknown as RunDatasetsOptions);
  const list = () => store.list({ pageSize: 10, continuationToken: null }).data;
  return { runDatasets, datasets, store, list };
}

const runIds = Array.from({ length: 2000 }, () => randomUUID());

test('a job that is stopped between runs leaves nothing, and says how far it came', async () => {
  const reached = Promise.withResolvers<void>();
  const { runDatasets, datasets, store, list } = open((count) => count === 1000 && reached.resolve());
  const { id } = runDatasets.start({ name: 'Runs', selection: { runIds } }, { reader });
  await reached.promise;
  const stopped = await runDatasets.stop(id);
  expect(stopped).toMatchObject({ state: 'stopped', runs: 2000, datasetId: null, failure: null });
  expect(stopped.readRuns).toBeGreaterThan(0);
  expect(stopped.readRuns).toBeLessThan(2000);
  expect(list()).toEqual([]);
  await datasets.close();
  while (store.removeSome());
  expect(runDatasets.list()).toEqual([stopped]);
});

test('closing stops a job, and unexpected errors are not shown', async () => {
  const reached = Promise.withResolvers<void>();
  const closing = open((count) => count === 100 && reached.resolve());
  closing.runDatasets.start({ name: 'Runs', selection: { runIds } }, { reader });
  await reached.promise;
  await closing.runDatasets.close();
  expect([closing.list(), closing.runDatasets.list()[0]?.state]).toEqual([[], 'stopped']);

  const { runDatasets } = open(() => {
    throw new Error('secret path');
  });
  const { id } = runDatasets.start({ name: 'Runs', selection: { runIds } }, { reader });
  await vi.waitFor(() => expect(runDatasets.read(id).state).toBe('failed'), patience);
  expect(runDatasets.read(id).failure).toBe('Something went wrong. The log has the details.');
});
