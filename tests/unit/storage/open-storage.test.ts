import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { defaultDataDirectory } from '../../../electron/storage/data-directory.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { sampleRun } from './sample-run.ts';
import { openTestStorage, temporaryDirectory } from './test-storage.ts';

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}

test('only the owner can access the data folder and its files', () => {
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

describe.skipIf(process.platform === 'win32')('a data folder that is there already', () => {
  /** A folder with files of ours, a file of another program, and the modes of a careless copy. */
  function copiedFolder(): string {
    const directory = join(temporaryDirectory(), 'copied');
    mkdirSync(join(directory, 'sources'), { recursive: true });
    for (const name of ['touchstone.lock', 'theirs.txt']) writeFileSync(join(directory, name), '', { mode: 0o644 });
    for (const name of ['.', 'sources']) chmodSync(join(directory, name), 0o755);
    return directory;
  }

  test('becomes private with all of our files in it', () => {
    const directory = copiedFolder();
    openTestStorage({ directory });
    const modes = ['.', 'sources', 'touchstone.lock', 'theirs.txt'].map((name) => mode(join(directory, name)));
    expect(modes).toEqual([0o700, 0o700, 0o600, 0o644]);
  });

  test('becomes private if it is empty, whoever can write to it', () => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o777);
    openTestStorage({ directory });
    expect(mode(directory)).toBe(0o700);
  });

  test.each([0o770, 0o707, 0o1777])('is rejected if others can write to it: mode %o', (given) => {
    const directory = copiedFolder();
    chmodSync(directory, given);
    expect(() => openStorage({ directory })).toThrow(`run chmod 700 "${directory}"`);
    chmodSync(directory, 0o700);
    openTestStorage({ directory });
  });

  test.each(['', '/'])('is rejected if it is a symbolic link (given with %j at its end)', (end) => {
    const directory = join(temporaryDirectory(), 'link');
    const target = copiedFolder();
    symlinkSync(target, directory);
    expect(() => openStorage({ directory: directory + end })).toThrow(
      `${directory} is a symbolic link, which Touchstone doesn't follow. Move ${target} to this place`,
    );
    expect(mode(target)).toBe(0o755);
  });

  test.each(['touchstone.sqlite', 'knowledge.sqlite-wal', 'sources'])('is rejected if its %s is a link', (name) => {
    const directory = temporaryDirectory();
    const target = join(temporaryDirectory(), 'target');
    writeFileSync(target, 'of somebody else', { mode: 0o644 });
    symlinkSync(target, join(directory, name));
    expect(() => openStorage({ directory })).toThrow(`${join(directory, name)} is a symbolic link`);
    expect([readFileSync(target, 'utf8'), mode(target)]).toEqual(['of somebody else', 0o644]);
  });
});

test("the window's caller id stays the same", async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  await before.close();
  expect(openTestStorage({ directory }).windowCallerId).toBe(before.windowCallerId);
});

test('a second host is rejected while the first runs, and free afterwards', async () => {
  const directory = temporaryDirectory();
  const first = openStorage({ directory });
  expect(() => openStorage({ directory })).toThrow(
    expect.objectContaining({ code: 'conflict', message: expect.stringContaining('Another Touchstone') }),
  );
  await first.close();
  openTestStorage({ directory });
});

test('rejects a database of a newer version and leaves it unchanged', async () => {
  const directory = temporaryDirectory();
  await openStorage({ directory }).close();
  const database = new Database(join(directory, 'touchstone.sqlite'));
  database.pragma('user_version = 999');
  database.close();
  const rejected = expect.objectContaining({ code: 'conflict', message: expect.stringContaining('newer version') });
  expect(() => openStorage({ directory })).toThrow(rejected);
  // The folder is not left locked by the attempt.
  expect(() => openStorage({ directory })).toThrow(rejected);
});

test.each([
  ['empty, beside its log', (file: string) => (truncateSync(file), writeFileSync(`${file}-wal`, 'a log'))],
  ['gone, and its log is there', (file: string) => (rmSync(file), writeFileSync(`${file}-wal`, 'a log'))],
  [
    'empty, in a folder with copies',
    (file: string) => (truncateSync(file), mkdirSync(join(file, '..', 'backups'), { recursive: true })),
  ],
])('a database that is %s is not replaced by a new one, and nothing changes', async (_how, lose) => {
  const directory = temporaryDirectory();
  const storage = openStorage({ directory });
  await storage.close();
  lose(storage.databaseFile);
  const filesBefore = readdirSync(directory);
  expect(() => openStorage({ directory })).toThrow(
    expect.objectContaining({ code: 'conflict', message: expect.stringContaining('is empty or missing') }),
  );
  expect(readdirSync(directory)).toEqual(filesBefore);
});

test('a first start that was interrupted at once starts again', () => {
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
