import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { createFiles, type Files, type FilesOptions } from '../../../electron/files/create-files.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';

const { signal } = new AbortController();

const inspector: FilesOptions['inspector'] = {
  inspectFile: async () => ({ width: null, height: null, pages: 2 }),
  readSource: async () => ({ text: 'The report.', pages: null, passages: [] }),
  renderPages: async ({ pages }) =>
    pages.map(({ path, number }) => {
      writeFileSync(path, `image of page ${number}`);
      return { width: 1, height: 1 };
    }),
};

async function openFiles(): Promise<Files> {
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-files-'));
  const storage = openStorage({ directory });
  const files = await createFiles({
    directory: join(directory, 'files'),
    store: storage.files,
    inspector,
    windowCallerId: 'window',
    lastBackupAt: () => null,
    log: () => {},
  });
  onTestFinished(async () => {
    await files.close();
    await storage.close();
  });
  return files;
}

async function send(files: Files, callerId: string, fileName: string) {
  await using incoming = await files.incoming();
  await incoming.receive({ content: Readable.from(['%PDF-1.4\nThe same content.\n%%EOF']), fileName, mediaType: null });
  return (await incoming.store({ signal, callerId, keepLocation: false })).file;
}

const reader = { callerId: 'bob', canReadAll: false };

test('the text of a PDF is named after it by its own caller, though another sent the PDF before', async () => {
  const files = await openFiles();
  await files.textOf(await send(files, 'alice', 'layoffs in March.pdf'), { signal, callerId: 'alice' });
  const text = await files.textOf(await send(files, 'bob', 'report.pdf'), { signal, callerId: 'bob' });
  expect([text.name, files.find(text.id, reader)!.name]).toEqual(['report.txt', 'report.txt']);
});

test('the pages of a PDF are named after it by its own caller, though another sent the PDF before', async () => {
  const files = await openFiles();
  const convert = async (callerId: string, name: string, pages: number[]) =>
    files.pagesOf(await send(files, callerId, name), { signal, callerId, pages, pixels: 100 });
  await convert('alice', 'layoffs in March.pdf', [1]);
  const images = await convert('bob', 'report.pdf', [1, 2]);
  const names = ['report, page 1.jpg', 'report, page 2.jpg'];
  expect([images.map(({ name }) => name), images.map(({ id }) => files.find(id, reader)!.name)]).toEqual([
    names,
    names,
  ]);
});
