import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createDatasets } from '../../../electron/datasets/create-datasets.ts';
import { createRunDatasets, type RunDatasetsOptions } from '../../../electron/datasets/create-run-datasets.ts';
import { patience } from '../../support/patience.ts';
import { openTestStorage } from '../storage/test-storage.ts';

const reader = { callerId: 'caller', canReadAll: true };

/** `messages` are those of a program's call; runs of completions without. */
function open(onRead: (count: number) => void, messages: readonly string[] = []) {
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
      origin: { api: messages.length > 0 ? 'openai-chat' : 'completions' },
      input:
        messages.length > 0
          ? {
              messages: messages.map((text) => ({
                role: 'user',
                content: [{ type: 'text', text: text.repeat(count) }],
              })),
            }
          : { promptText: '', replacements: { text: `${count}` } },
    };
    return { ...run, output: { content: 'An answer' } };
  };
  const audit = { select: () => Promise.resolve({ numbers: Int32Array.of(1, 2, 1, 2) }) };
  const exportRows = { runIds: () => runIds.slice(0, 2), feedback: () => null };
  const sources = { audit, runs: { read }, exportRows };
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

test('a call that is longer than a row is skipped if a filter found it, and rejected if it was chosen', async () => {
  const messages = ['Question '.repeat(140_000), 'Answer '.repeat(140_000)];
  const found = open(() => undefined, messages);
  const job = found.runDatasets.start({ name: 'Found', selection: { filter: {} } }, { reader });
  await vi.waitFor(() => expect(found.runDatasets.read(job.id).state).toBe('completed'), patience);
  expect(found.runDatasets.read(job.id)).toMatchObject({ runs: 2, skippedRuns: 1 });
  expect(found.list()).toMatchObject([{ rowCount: 1 }]);

  const chosen = open(() => undefined, messages);
  const { id } = chosen.runDatasets.start({ name: 'Chosen', selection: { runIds: runIds.slice(0, 2) } }, { reader });
  await vi.waitFor(() => expect(chosen.runDatasets.read(id).state).toBe('failed'), patience);
  expect([chosen.runDatasets.read(id).failure, chosen.list()]).toEqual([expect.stringContaining('4 MB'), []]);
});

test('runs that are added to a dataset at once are all in its latest version, with the columns of both', async () => {
  const { runDatasets, datasets } = open(() => undefined);
  const author = { reader, signal: new AbortController().signal };
  const columns = [{ name: 'text', type: 'text' as const }];
  const { id } = await datasets.create({ name: 'Own', columns, rows: [{ text: 'first' }] }, author);
  const added = await Promise.all(
    ['one', 'other'].map((answer, index) =>
      runDatasets.add(id, { runIds: runIds.slice(2 * index, 2 * index + 2), columns: { answer } }, author),
    ),
  );
  expect(added.map(({ version, rowCount }) => [version, rowCount])).toEqual([
    [2, 3],
    [3, 5],
  ]);
  expect(datasets.read(id, null).columns.map(({ name }) => name)).toEqual(['text', 'one', 'other']);
});
