import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { createDatasets } from '../../../electron/datasets/create-datasets.ts';
import { VersionSize } from '../../../electron/datasets/dataset-row.ts';
import { CellFiles } from '../../../electron/datasets/import/cell-files.ts';
import { openDatabase } from '../../../electron/storage/database.ts';
import { createDatasetStore } from '../../../electron/storage/dataset-store.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { openTestStorage, temporaryDirectory } from '../storage/test-storage.ts';

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

test('a file stays when its JSON column becomes a column of files', async () => {
  const storage = openTestStorage();
  const { datasets } = open(storage);
  onTestFinished(() => datasets.close());
  const id = 'a'.repeat(64);
  const details = { mediaType: 'text/plain' as const, bytes: 1, width: null, height: null, pages: null };
  storage.files.add({ id, name: 'note.txt', ...details }, 'caller');
  const rows = [{ note: { fileId: id } }];
  const created = await datasets.create({ name: 'A', columns: [{ name: 'note', type: 'json' }], rows }, author);
  await datasets.addVersion(created.id, { columns: [{ name: 'note', type: 'file' }], changes: {} }, author);
  const later = Date.now() + 1;
  expect(storage.files.removeUnused({ before: later, windowCallerId: 'window', windowBefore: later }, 10)).toEqual([]);
  expect(storage.files.has(id)).toBe(true);
});

test('a version has at most 100,000 rows and 200 MB', () => {
  const size = new VersionSize();
  size.add(100_000, 200 * 1_048_576);
  expect(() => size.add(0, 1)).toThrow('larger than 200 MB (209,715,200 bytes)');
  expect(() => size.add(1, 0)).toThrow('at most 100,000 rows, and this one has 100,001 or more');
});

test('a full disk leaves nothing of a dataset, also when a cell names a file, and the next one is stored', async () => {
  const database = openDatabase(temporaryDirectory());
  onTestFinished(() => void database.close());
  const store = createDatasetStore(database, 'secret');
  const files = { find: () => null };
  const datasets = createDatasets({ store, files, comparisonWith: () => null, log: () => undefined });
  const list = () => datasets.list({ pageSize: 10, continuationToken: null }).data;
  const rows = Array.from({ length: 1000 }, (_, index) => ({ text: `${index} ${'x'.repeat(1000)}` }));
  const pages = database.pragma('page_count', { simple: true }) as number;
  database.pragma(`max_page_count = ${pages + 20}`);
  await expect(datasets.create({ name: 'A', columns, rows }, author)).rejects.toMatchObject({ code: 'SQLITE_FULL' });
  expect(list()).toEqual([]);
  database.pragma('max_page_count = 1000000');

  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const openFile = async () => ({ content: Readable.from(['x']), fileName: 'b.png' });
  const archive = { fileNames: ['b.png'], openFile } as unknown as ConstructorParameters<typeof CellFiles>[0];
  const received = { receive: () => Promise.reject(full), store: () => Promise.reject(full) };
  const incoming = async () => ({ ...received, [Symbol.asyncDispose]: () => Promise.resolve() });
  const cellFiles = new CellFiles(archive, {}, { incoming });
  const table = {
    columns: () => [{ name: 'image', type: 'file' as const }],
    rows: (async function* () {
      yield [{}, { image: 'b.png' }];
    })(),
  };
  const withFiles = { ...table, rows: cellFiles.rows(table, { callerId: 'caller', signal: author.signal }) };
  await expect(datasets.import('B', withFiles, author)).rejects.toBe(full);
  expect(list()).toEqual([]);
  expect((await datasets.create({ name: 'C', columns, rows }, author)).rowCount).toBe(1000);
  expect(list().map(({ name }) => name)).toEqual(['C']);
  await datasets.close();
});

test('rows have the same ids when a column is added, also one whose first duplicate was removed', async () => {
  const { datasets } = open(openTestStorage());
  const rows = ['x', 'x', 'y'].map((text) => ({ text }));
  const { id } = await datasets.create({ name: 'A', columns, rows }, author);
  const ids = () => datasets.rows(id, { version: null, offset: 0, limit: 10 }).data.map((row) => row.id);
  await datasets.addVersion(id, { changes: { removed: [ids()[0]!] } }, author);
  const before = ids();
  const wider = [{ name: 'note', type: 'text' as const }, ...columns];
  await datasets.addVersion(id, { columns: wider, changes: { added: [{ text: 'x' }] } }, author);
  expect([before.length, ids().slice(0, 2)]).toEqual([2, before]);
  expect(new Set(ids()).size).toBe(3);
});
