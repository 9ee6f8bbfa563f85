import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { defaultDataDirectory } from '../../../electron/storage/data-directory.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { sampleRun } from './sample-run.ts';
import { openTestStorage, temporaryDirectory } from './test-storage.ts';

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}

test('the data folder and all its files are for their owner alone', () => {
  const directory = join(temporaryDirectory(), 'deep', 'data');
  const storage = openTestStorage({ directory });
  storage.runs.begin(sampleRun());
  expect(storage.runs.list({ pageSize: 1, continuationToken: undefined, draftId: undefined }).data).toHaveLength(1);
  const files = readdirSync(directory).toSorted();
  expect(files).toEqual(['touchstone.lock', 'touchstone.sqlite', 'touchstone.sqlite-shm', 'touchstone.sqlite-wal']);
  expect([mode(directory), ...files.map((file) => mode(join(directory, file)))]).toEqual([
    0o700, 0o600, 0o600, 0o600, 0o600,
  ]);
  expect(storage.databaseBytes()).toBe(
    statSync(join(directory, 'touchstone.sqlite')).size + statSync(join(directory, 'touchstone.sqlite-wal')).size,
  );
});

test('an empty folder becomes private, one with files of others keeps its mode', () => {
  const [empty, shared] = [join(temporaryDirectory(), 'empty'), join(temporaryDirectory(), 'shared')];
  for (const directory of [empty, shared]) mkdirSync(directory);
  writeFileSync(join(shared, 'theirs.txt'), '');
  for (const directory of [empty, shared]) {
    chmodSync(directory, 0o755);
    openTestStorage({ directory });
  }
  expect([mode(empty), mode(shared)]).toEqual([0o700, 0o755]);
});

test('the caller id of the window stays the same', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  await before.close();
  expect(openTestStorage({ directory }).windowCallerId).toBe(before.windowCallerId);
});

test('a second host is refused while the first runs, and free afterwards', async () => {
  const directory = temporaryDirectory();
  const first = openStorage({ directory });
  expect(() => openStorage({ directory })).toThrow(
    expect.objectContaining({ code: 'conflict', message: expect.stringContaining('Another Touchstone') }),
  );
  await first.close();
  openTestStorage({ directory });
});

test('a database of a newer version is refused and left as it is', async () => {
  const directory = temporaryDirectory();
  await openStorage({ directory }).close();
  const database = new Database(join(directory, 'touchstone.sqlite'));
  database.pragma('user_version = 999');
  database.close();
  const refused = expect.objectContaining({ code: 'conflict', message: expect.stringContaining('newer version') });
  expect(() => openStorage({ directory })).toThrow(refused);
  // The folder is not left locked by the attempt.
  expect(() => openStorage({ directory })).toThrow(refused);
});

test.each([
  ['empty, beside its log', (file: string) => (truncateSync(file), writeFileSync(`${file}-wal`, 'a log'))],
  ['gone, and its log is there', (file: string) => (rmSync(file), writeFileSync(`${file}-wal`, 'a log'))],
  [
    'empty, in a folder with copies',
    (file: string) => (truncateSync(file), mkdirSync(join(file, '..', 'backups'), { recursive: true })),
  ],
])('a database that is %s is not taken for a new one, and nothing is touched', async (_how, lose) => {
  const directory = temporaryDirectory();
  const storage = openStorage({ directory });
  await storage.close();
  lose(storage.databaseFile);
  const filesBefore = readdirSync(directory);
  expect(() => openStorage({ directory })).toThrow(
    expect.objectContaining({ code: 'conflict', message: expect.stringContaining('is empty or gone') }),
  );
  expect(readdirSync(directory)).toEqual(filesBefore);
});

test('a first start that was ended at once is begun again', () => {
  const directory = temporaryDirectory();
  for (const name of ['touchstone.lock', 'touchstone.sqlite']) writeFileSync(join(directory, name), '');
  expect(openTestStorage({ directory }).runs.count()).toBe(0);
});

test.each([
  [{ TOUCHSTONE_DATA_DIR: '/chosen', XDG_DATA_HOME: '/x' }, 'linux', '/chosen'],
  [{ XDG_DATA_HOME: '/x' }, 'linux', '/x/touchstone'],
  [{}, 'linux', expect.stringMatching(/\/\.local\/share\/touchstone$/)],
  [{ XDG_DATA_HOME: '/x' }, 'darwin', expect.stringMatching(/\/Library\/Application Support\/Touchstone$/)],
  [{ APPDATA: '/roaming' }, 'win32', '/roaming/Touchstone'],
] as const)('with %j on %s the data folder is %s', (environment, platform, expected) => {
  expect(defaultDataDirectory(environment, platform)).toEqual(expected);
});
