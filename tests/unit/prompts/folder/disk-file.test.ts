// @module-tag slow
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  diskReason,
  FileChangedError,
  hashOf,
  moveFile,
  readBytes,
  removeFile,
  replaceFile,
} from '../../../../electron/prompts/folder/disk-file.ts';
import { issueOf } from '../../../../electron/prompts/folder/folder-operations.ts';
import { readTree } from '../../../../electron/prompts/folder/scanned-file.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-disk-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const signal = new AbortController().signal;
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test("replaces a file completely, with its permissions, and only if it hasn't changed since it was read", async () => {
  writeFileSync(join(root, 'a.prompt'), 'old');
  chmodSync(join(root, 'a.prompt'), 0o600);
  await replaceFile(root, 'a.prompt', 'new', hashOf('old'));
  expect([read('a.prompt'), statSync(join(root, 'a.prompt')).mode & 0o777]).toEqual(['new', 0o600]);
  await expect(replaceFile(root, 'a.prompt', 'newer', hashOf('old'))).rejects.toThrow(FileChangedError);
  await expect(replaceFile(root, 'gone.prompt', 'x', hashOf('old'))).rejects.toThrow(FileChangedError);
  await expect(removeFile(root, 'a.prompt', hashOf('old'))).rejects.toThrow(FileChangedError);
  expect([read('a.prompt'), readdirSync(root)]).toEqual(['new', ['a.prompt']]);
});

test('creates a new file with its folders, and replaces none', async () => {
  await replaceFile(root, 'a/b/c.prompt', 'first', null);
  await expect(replaceFile(root, 'a/b/c.prompt', 'second', null)).rejects.toThrow(FileChangedError);
  expect([read('a/b/c.prompt'), readdirSync(join(root, 'a/b'))]).toEqual(['first', ['c.prompt']]);
});

test('if many write at once, one succeeds, and the file is never partial', async () => {
  writeFileSync(join(root, 'a.prompt'), 'old');
  const texts = Array.from({ length: 20 }, (_, index) => `${index} `.repeat(20_000));
  const results = await Promise.allSettled(texts.map((text) => replaceFile(root, 'a.prompt', text, hashOf('old'))));
  expect(results.some(({ status }) => status === 'fulfilled')).toBe(true);
  expect([texts.includes(read('a.prompt')), readdirSync(root)]).toEqual([true, ['a.prompt']]);
});

test.each(['../a.prompt', 'a/../../b.prompt', 'link/a.prompt', 'file.prompt'])(
  'neither reads nor writes %s',
  async (path) => {
    const outside = mkdtempSync(join(tmpdir(), 'touchstone-outside-'));
    try {
      writeFileSync(join(outside, 'a.prompt'), 'secret');
      symlinkSync(outside, join(root, 'link'));
      symlinkSync(join(outside, 'a.prompt'), join(root, 'file.prompt'));
      await expect(readBytes(root, path)).rejects.toThrow();
      await expect(replaceFile(root, path, 'x', hashOf('secret'))).rejects.toThrow();
      await expect(replaceFile(root, path, 'x', null)).rejects.toThrow();
      expect([readFileSync(join(outside, 'a.prompt'), 'utf8'), readdirSync(outside)]).toEqual(['secret', ['a.prompt']]);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  },
);

test('translates errors of the disk, and no others', () => {
  const failure = (code: string) => Object.assign(new Error(code), { code, syscall: 'open' });
  expect([
    diskReason(failure('ENOSPC')),
    diskReason(failure('EROFS')),
    diskReason(failure('EWHATEVER')),
    diskReason(new Error('ours')),
  ]).toEqual(['The disk is full', 'The disk is read-only', 'The disk reported an error (EWHATEVER)', null]);
});

test('rejects a folder that is too deep or has too many prompts', async () => {
  mkdirSync(join(root, 'd/'.repeat(20)), { recursive: true });
  await expect(readTree(root, { signal })).rejects.toThrow(/levels of folders/);
  rmSync(join(root, 'd'), { recursive: true });
  for (let index = 0; index <= 2000; index += 1) writeFileSync(join(root, `${index}.prompt`), 'x');
  await expect(readTree(root, { signal })).rejects.toThrow(/2,000 prompt files/);
});

test('reasons have no full stop, because a line number and the end of the sentence follow', async () => {
  mkdirSync(join(root, 'a.prompt'));
  const error: unknown = await readBytes(root, 'a.prompt').catch((failure: unknown) => failure);
  const message = diskReason(error);
  expect(message).toBe("This isn't a regular file");
  expect(issueOf('broken', 'a.prompt', `${message}.`)).toMatchObject({ message });
});

test('moves a file, or leaves it alone if it has changed or the new name is taken', async () => {
  writeFileSync(join(root, 'old'), 'before');
  const move = { from: 'old', to: 'folder/new', text: 'after', expectedHash: hashOf('before') };
  writeFileSync(join(root, 'old'), 'changed');
  expect(await moveFile(root, move)).toBe(false);
  expect(readdirSync(join(root, 'folder'))).toEqual([]);
  expect(readFileSync(join(root, 'old'), 'utf8')).toBe('changed');
  writeFileSync(join(root, 'old'), 'before');
  writeFileSync(join(root, 'folder/new'), 'other');
  await expect(moveFile(root, move)).rejects.toThrow(FileChangedError);
  expect(readFileSync(join(root, 'folder/new'), 'utf8')).toBe('other');
  rmSync(join(root, 'folder/new'));
  expect(await moveFile(root, move)).toBe(true);
  expect(readdirSync(root)).toEqual(['folder']);
  expect(readFileSync(join(root, 'folder/new'), 'utf8')).toBe('after');
});
