import { expect, onTestFinished, test } from 'vitest';
import { createDatasets } from '../../../electron/datasets/create-datasets.ts';
import { VersionSize } from '../../../electron/datasets/dataset-row.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { openTestStorage } from '../storage/test-storage.ts';

const columns = [{ name: 'text', type: 'text' as const }];
const author = { reader: { callerId: 'caller', canReadAll: true }, signal: new AbortController().signal };

function open(storage: ReturnType<typeof openStorage>) {
  const log: string[] = [];
  const options = { store: storage.datasets, files: storage.files, comparisonWith: () => null };
  return { datasets: createDatasets({ ...options, log: (message) => void log.push(message) }), log };
}

test('removes what an interrupted write left', async () => {
  const storage = openTestStorage();
  const { datasets } = open(storage);
  const { id } = await datasets.create({ name: 'A', columns, rows: [{ text: 'one' }] }, author);
  const row = (name: string) => ({ id: name, json: `{"text":"${name}"}`, fileIds: [] });
  // The process ends without `finish` or `discard`.
  storage.datasets.append(storage.datasets.begin(id), 0, [row('two'), row('three')]);
  storage.datasets.append(storage.datasets.begin(storage.datasets.create('B')), 0, [row('four')]);
  expect(storage.datasets.removeSome()).toBe(false);
  await datasets.close();
  await storage.close();

  const reopened = openStorage({ directory: storage.directory });
  onTestFinished(() => reopened.close());
  let steps = 0;
  while (reopened.datasets.removeSome()) steps += 1;
  expect(steps).toBeGreaterThan(0);
  const again = open(reopened).datasets;
  expect(
    again.list({ pageSize: 10, continuationToken: null }).data.map(({ name, version }) => [name, version]),
  ).toEqual([['A', 1]]);
  expect(again.rows(id, { version: null, offset: 0, limit: 10 }).data.map(({ values }) => values)).toEqual([
    { text: 'one' },
  ]);
  // The number of the interrupted version is free again, and its contents are gone.
  const next = await again.addVersion(id, { rows: [{ text: 'two' }] }, author);
  expect([next.version, next.rowCount]).toEqual([2, 1]);
});

test('a write that is cancelled leaves nothing', async () => {
  const storage = openTestStorage();
  const { datasets, log } = open(storage);
  const leaving = new AbortController();
  const rows = Array.from({ length: 2000 }, (_, index) => ({ text: `${index}` }));
  const creating = datasets.create({ name: 'A', columns, rows }, { ...author, signal: leaving.signal });
  leaving.abort(new Error('The caller left.'));
  await expect(creating).rejects.toThrow('The caller left.');
  expect(datasets.list({ pageSize: 10, continuationToken: null }).data).toEqual([]);
  await datasets.close();
  expect(log).toEqual([]);
});

test('a version has at most 100,000 rows and 200 MB', () => {
  const size = new VersionSize();
  size.add(100_000, 200 * 1_048_576);
  expect(() => size.add(0, 1)).toThrow('larger than 200 MB (209,715,200 bytes)');
  expect(() => size.add(1, 0)).toThrow('at most 100,000 rows, and this one has 100,001 or more');
});
