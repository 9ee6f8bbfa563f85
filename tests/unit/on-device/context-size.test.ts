import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createModelLibrary, type ModelLibrary } from '../../../electron/on-device/model-library.ts';
import { modelCatalogue } from '../../../electron/on-device/model-catalogue.ts';
import { createMemorySettings } from '../../support/on-device-settings.ts';

function openLibrary(directory: string, onChange = () => {}): ModelLibrary {
  return createModelLibrary({
    directory,
    catalogue: modelCatalogue,
    settings: createMemorySettings(),
    registryAddress: async () => 'http://127.0.0.1:1',
    silenceMs: 1000,
    onChange,
    releaseFile: async () => {},
    log: () => {},
  });
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-context-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('the catalogue contains the context size of every model', () => {
  const sizes = openLibrary(temporaryDirectory())
    .list()
    .map(({ contextTokens }) => contextTokens);
  expect(sizes).toEqual([2048, 8192, 8192, 8192, 8192]);
});

test("stores the context size of the user's own file when it is loaded, until the file is removed", async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'mine.gguf');
  writeFileSync(path, 'GGUF and more');
  let changes = 0;
  const library = openLibrary(directory, () => (changes += 1));
  await library.add(path);
  const own = (of: ModelLibrary) => of.list().find(({ id }) => id === 'mine.gguf')?.contextTokens;
  expect(own(library)).toBeNull();
  const before = changes;
  library.setContextTokens(path, 4096);
  library.setContextTokens(path, 4096);
  expect([own(library), changes - before]).toEqual([4096, 1]);
  expect(own(openLibrary(directory))).toBe(4096);
  await library.remove('mine.gguf');
  await library.add(path);
  expect(own(library)).toBeNull();
});
