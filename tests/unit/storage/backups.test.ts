import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { sampleOutcome, sampleRun } from './sample-run.ts';
import { listAll, openTestStorage, temporaryDirectory } from './test-storage.ts';

async function record(storage: Storage): Promise<string> {
  const run = sampleRun();
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  return run.runId;
}

function runsOf(storage: Storage): string[] {
  return listAll(storage, 50).map(({ runId }) => runId);
}

test('a backup contains everything, also queued runs, in one complete and private file', async () => {
  const storage = openTestStorage();
  await record(storage);
  storage.runs.begin(sampleRun());
  const [first, second] = await Promise.all([storage.createBackup(), storage.createBackup()]);
  const third = await storage.createBackup();
  const listed = storage.listBackups().map(({ fileName }) => fileName);
  expect(listed[0]).toBe(third.fileName);
  expect(listed.toSorted()).toEqual([first.fileName, second.fileName, third.fileName]);
  const file = join(storage.directory, 'backups', first.fileName);
  expect([statSync(file).mode & 0o777, statSync(file).size]).toEqual([0o600, first.bytes]);
  const copy = new Database(file, { readonly: true });
  expect([
    copy.pragma('integrity_check', { simple: true }),
    copy.pragma('journal_mode', { simple: true }),
    copy.prepare('SELECT count(*) AS runs FROM runs').get(),
  ]).toEqual(['ok', 'delete', { runs: 2 }]);
  copy.close();
});

test('a scheduled backup is restored at the next start, and the replaced database becomes a backup', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  const stored = await record(before);
  const { fileName } = await before.createBackup();
  const later = await record(before);
  before.scheduleRestore(fileName);
  expect(runsOf(before)).toEqual([later, stored]);
  await before.close();

  const restored = openStorage({ directory });
  expect(runsOf(restored)).toEqual([stored]);
  const replaced = restored.listBackups().find((backup) => backup.fileName !== fileName)!;
  restored.scheduleRestore(replaced.fileName);
  await restored.close();

  expect(runsOf(openTestStorage({ directory }))).toEqual([later, stored]);
});

test('a backup has the files of prompts, and a restore brings back those that were removed', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  const folder = join(directory, 'files', 'ab');
  mkdirSync(folder, { recursive: true });
  const [removed, changed] = ['ab01', 'ab02'].map((id) => join(folder, id)) as [string, string];
  for (const file of [removed, changed]) writeFileSync(file, 'content');
  const { fileName } = await before.createBackup();
  rmSync(removed);
  before.scheduleRestore(fileName);
  await before.close();

  openTestStorage({ directory });
  expect([removed, changed].map((file) => readFileSync(file, 'utf8'))).toEqual(['content', 'content']);
  expect(readdirSync(folder)).toEqual(['ab01', 'ab02']);
});

test('the database that a restore replaces has its files, too', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  const { fileName } = await before.createBackup();
  const folder = join(directory, 'files', 'ab');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'ab01');
  writeFileSync(file, 'content');
  before.scheduleRestore(fileName);
  await before.close();

  const restored = openStorage({ directory });
  rmSync(file);
  const replaced = restored.listBackups().find((backup) => backup.fileName !== fileName)!;
  restored.scheduleRestore(replaced.fileName);
  await restored.close();

  openTestStorage({ directory });
  expect(readFileSync(file, 'utf8')).toBe('content');
});

test('a restore that fails before its copy is complete leaves nothing of it', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  const { fileName } = await before.createBackup();
  // It can be neither linked nor copied.
  const blocked = join(directory, 'files', 'ab', 'ab01');
  mkdirSync(blocked, { recursive: true });
  before.scheduleRestore(fileName);
  await before.close();
  expect(() => openStorage({ directory })).toThrow();
  const folder = join(directory, 'backups');
  expect(readdirSync(folder).toSorted()).toEqual(['restore-next', fileName].toSorted());
  rmSync(blocked, { recursive: true });
  openTestStorage({ directory });
  expect(readdirSync(folder)).toHaveLength(3);
});

test('rejects missing, damaged and foreign backups', async () => {
  const storage = openTestStorage();
  await record(storage);
  const { fileName, bytes } = await storage.createBackup();
  const folder = join(storage.directory, 'backups');
  truncateSync(join(folder, fileName), bytes - 4096);
  writeFileSync(join(folder, 'text.sqlite'), 'no database at all, just text');
  const foreign = new Database(join(folder, 'foreign.sqlite'));
  foreign.exec('CREATE TABLE things (name TEXT)');
  foreign.close();
  for (const name of [fileName, 'text.sqlite', 'foreign.sqlite']) {
    expect(() => storage.scheduleRestore(name), name).toThrow(expect.objectContaining({ code: 'conflict' }));
  }
  for (const name of ['none.sqlite', '../touchstone.sqlite', 'restore-next']) {
    expect(() => storage.scheduleRestore(name), name).toThrow(expect.objectContaining({ code: 'not_found' }));
  }
});

test('a backup that was damaged after it was scheduled leaves the current database in place, with the reason', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  const { fileName } = await before.createBackup();
  const present = await record(before);
  before.scheduleRestore(fileName);
  await before.close();
  const handle = openSync(join(directory, 'backups', fileName), 'r+');
  writeSync(handle, Buffer.alloc(8192, 7), 0, 8192, 4096);
  closeSync(handle);

  const warning = new Promise<Error>((resolve) => void process.once('warning', resolve));
  const storage = openStorage({ directory });
  expect(runsOf(storage)).toEqual([present]);
  expect((await warning).message).toContain('was not restored');
  await storage.close();
  expect(runsOf(openTestStorage({ directory }))).toEqual([present]);
});

test('a restore replaces a damaged database, and nothing of its log gets into the new one', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'touchstone.sqlite');
  const before = openStorage({ directory });
  const stored = await record(before);
  const { fileName } = await before.createBackup();
  await record(before);
  before.scheduleRestore(fileName);
  copyFileSync(`${file}-wal`, `${file}-copied`);
  await before.close();
  writeFileSync(file, 'what is left of it');
  copyFileSync(`${file}-copied`, `${file}-wal`);

  const storage = openTestStorage({ directory });
  expect(runsOf(storage)).toEqual([stored]);
  expect(storage.listBackups()).toHaveLength(2);
});
