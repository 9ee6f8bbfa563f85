import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { maxRequestBytes } from '../../../shared/contract/prompt-transfer.ts';
import { createOpenedFiles, promptFilesIn } from '../../../electron/shell/opened-files.ts';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-opened-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(paths: readonly string[]) {
  const opened = createOpenedFiles();
  opened.add(paths);
  return opened.take(maxRequestBytes);
}

test('finds prompt files on a command line', () => {
  const parameters = [
    '/usr/bin/touchstone',
    '--data-dir=/data/x.prompt',
    '-x.prompt',
    'touchstone://open/prompts',
    'greeting.prompt',
    '../Shared Prompts/REPLY.PROMPT',
    '/absolute/a.prompt',
    'file:///home/a%20b/%C3%A9.prompt',
    'file://another-machine/c.prompt',
    'file:///a%2Fb.prompt',
    'https://example.com/a.prompt.txt',
    '.prompt.txt',
  ];
  expect(promptFilesIn(parameters, '/home/me')).toEqual([
    '/home/me/greeting.prompt',
    '/home/Shared Prompts/REPLY.PROMPT',
    '/absolute/a.prompt',
    '/home/a b/é.prompt',
  ]);
});

test('returns each opened file once, byte for byte', async () => {
  const folder = createFolder();
  const [text, bytes] = [join(folder, 'text.prompt'), join(folder, 'bytes.prompt')];
  writeFileSync(text, 'Grüße {{name}}');
  writeFileSync(bytes, Buffer.from([0, 255, 254]));
  const opened = createOpenedFiles();
  expect([opened.add([]), opened.add([text, bytes, text])]).toEqual([false, true]);
  expect(await opened.take(maxRequestBytes)).toEqual({
    files: [
      { name: 'text.prompt', base64: Buffer.from('Grüße {{name}}').toString('base64') },
      { name: 'bytes.prompt', base64: 'AP/+' },
    ],
    problems: [],
  });
  expect(await opened.take(maxRequestBytes)).toEqual({ files: [], problems: [] });
});

test('reports why a file could not be opened, and opens the others', async () => {
  const folder = createFolder();
  const file = (name: string, content: string | Buffer = 'text'): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  mkdirSync(join(folder, 'folder.prompt'));
  const { files, problems } = await open([
    join(folder, 'missing.prompt'),
    join(file('text.txt'), 'below.prompt'),
    join(folder, 'folder.prompt'),
    file('large.prompt', Buffer.alloc(2_800_001)),
    file('good.prompt'),
  ]);
  expect(files.map(({ name }) => name)).toEqual(['good.prompt']);
  expect(problems).toEqual([
    `Couldn't open "missing.prompt". The file doesn't exist.`,
    `Couldn't open "below.prompt". The file doesn't exist.`,
    `Couldn't open "folder.prompt". It's a folder. Link or import it in Prompts.`,
    `Couldn't open "large.prompt". It's larger than 2.8 MB.`,
  ]);
});

test('opens no more than a request can carry', async () => {
  const folder = createFolder();
  const paths = [1_400_000, 1_400_000, 1].map((size, index) => {
    const path = join(folder, `${index}.prompt`);
    writeFileSync(path, Buffer.alloc(size));
    return path;
  });
  const { files, problems } = await open(paths);
  expect(files.map(({ name }) => name)).toEqual(['0.prompt', '1.prompt']);
  expect(problems).toEqual([
    `Couldn't open "2.prompt". The opened files exceed 2.8 MB in total. Open fewer at a time.`,
  ]);
  const many = Array.from({ length: 101 }, (_, index) => join(folder, `missing-${index}.prompt`));
  const result = await open(many);
  expect([result.problems.length, result.problems[0]]).toEqual([101, 'Too many files. Open up to 100 at a time.']);
});

test.skipIf(process.platform === 'win32')('opens regular files only, also those that report no size', async () => {
  const folder = createFolder();
  execFileSync('mkfifo', [join(folder, 'pipe.prompt')]);
  symlinkSync('loop.prompt', join(folder, 'loop.prompt'));
  const { files, problems } = await open([
    join(folder, 'pipe.prompt'),
    join(folder, 'loop.prompt'),
    '/dev/zero',
    '/proc/self/status',
  ]);
  expect(files).toEqual([{ name: 'status', base64: expect.stringMatching(/.{100}/) }]);
  expect(problems).toEqual([
    `Couldn't open "pipe.prompt". It isn't a regular file.`,
    `Couldn't open "loop.prompt". Reading it failed (ELOOP).`,
    `Couldn't open "zero". It isn't a regular file.`,
  ]);
});
