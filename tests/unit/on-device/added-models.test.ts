// @module-tag slow
import { textMessage } from '../../../shared/contract/messages.ts';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createOnDeviceLanguageModels,
  type OnDeviceLanguageModels,
} from '../../../electron/on-device/create-language-models.ts';
import type { CatalogueModel } from '../../../electron/on-device/model-catalogue.ts';
import type { SettingsStore } from '../../../electron/storage/storage.ts';
import { createTestHub, type TestHub } from '../../support/on-device-hub.ts';
import { createMemorySettings } from '../../support/on-device-settings.ts';
import { readModel, whenModel } from '../../support/on-device-state.ts';

const { signal } = new AbortController();
const listed: CatalogueModel = {
  id: 'listed',
  title: 'Listed',
  fileName: 'listed.gguf',
  bytes: 10,
  memoryBytes: null,
  contextTokens: null,
  sha256: null,
  licence: null,
  note: '',
  source: { kind: 'packages', parts: [] },
};

let folder: string;
let directory: string;
let settings: SettingsStore;
let opened: OnDeviceLanguageModels[];

function open(catalogue: readonly CatalogueModel[] = [listed], silenceSeconds = 30): OnDeviceLanguageModels {
  const models = createOnDeviceLanguageModels({
    directory,
    settings,
    catalogue,
    silenceSeconds,
    registryAddress: 'http://127.0.0.1:1',
    log: () => {},
  });
  opened.push(models);
  return models;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-added-'));
  directory = join(folder, 'models');
  settings = createMemorySettings();
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((models) => models.close()));
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

describe("a user's GGUF file", () => {
  it('is used in its place, is stored in the list, and is not deleted when it is removed from the list', async () => {
    const path = join(folder, 'mine.gguf');
    writeFileSync(path, 'GGUF and more');
    const models = open();
    await models.add(path);
    const expected = {
      id: 'mine.gguf',
      title: 'mine',
      source: 'file',
      state: 'installed',
      bytes: 13,
      isSelected: true,
    };
    expect(readModel(models, 'mine.gguf')).toMatchObject(expected);
    expect(existsSync(join(directory, 'mine.gguf'))).toBe(false);
    const next = open();
    expect(readModel(next, 'mine.gguf')).toMatchObject(expected);
    await next.remove('mine.gguf');
    expect(next.state().models.map(({ id }) => id)).toEqual(['listed']);
    expect(readFileSync(path, 'utf8')).toBe('GGUF and more');
    expect(settings.read().onDeviceModel).toBeNull();
    expect(open().state().models.length).toBe(1);
  });

  it("is shown as missing after it was moved, and can't answer", async () => {
    const path = join(folder, 'mine.gguf');
    writeFileSync(path, 'GGUF');
    await open().add(path);
    rmSync(path);
    const models = open();
    expect(readModel(models, 'mine.gguf')).toMatchObject({
      state: 'failed',
      failure: expect.stringMatching(/moved or deleted/),
    });
    await expect(models.select('mine.gguf')).rejects.toMatchObject({ code: 'conflict' });
  });

  it.each([
    [
      'a file that is no GGUF file',
      () => (writeFileSync(join(folder, 'text.gguf'), 'text'), join(folder, 'text.gguf')),
    ],
    ['a path where nothing is', () => join(folder, 'absent.gguf')],
    ['a folder', () => folder],
    ['a path that is not absolute', () => 'models/mine.gguf'],
    ['a web address', () => 'http://127.0.0.1/model.gguf'],
    ['half an hf address', () => 'hf:Qwen'],
    ['an hf address that climbs', () => 'hf:user/model/../../x.gguf'],
    ['nothing', () => '  '],
  ])('is rejected if it is %s', async (_, address) => {
    const models = open();
    await expect(models.add(address())).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ field: 'address' }],
    });
    expect(models.state().models.length).toBe(1);
  });

  it('is rejected if its name is taken', async () => {
    const path = join(folder, 'listed.gguf');
    writeFileSync(path, 'GGUF');
    await expect(open().add(path)).rejects.toMatchObject({
      details: [{ issue: expect.stringMatching(/in the list already/) }],
    });
  });

  it('answers only if it is selected', async () => {
    for (const name of ['one.gguf', 'two.gguf']) writeFileSync(join(folder, name), 'GGUF');
    const models = open();
    await models.add(join(folder, 'one.gguf'));
    await models.add(join(folder, 'two.gguf'));
    expect(models.selectedFileName()).toBe('one.gguf');
    await models.select('two.gguf');
    expect(models.selectedFileName()).toBe('two.gguf');
    expect(await models.provider.listModels({ signal })).toEqual([{ name: 'two.gguf', title: 'two' }]);
    await models.remove('two.gguf');
    expect(models.selectedFileName()).toBe('one.gguf');
  });

  it('that only starts like a model fails the run with a clear error', async () => {
    const path = join(folder, 'broken.gguf');
    writeFileSync(path, `GGUF${'x'.repeat(5000)}`);
    const models = open();
    await models.add(path);
    const run = models.provider.generate(
      { model: 'm', systemMessage: null, messages: [textMessage('user', 'Hi')], configuration: {} },
      { signal },
    );
    await expect(run).rejects.toMatchObject({
      code: 'provider_failed',
      message: expect.stringMatching(/file is damaged or of a kind/),
    });
    expect(models.state().engine).toMatchObject({
      state: 'failed',
      failure: expect.stringMatching(/Couldn't load the on-device model/),
    });
  });
});

describe('a model by hf address', () => {
  let hub: TestHub;

  const path = '/user/model/resolve/main/small.gguf';

  beforeEach(async () => {
    hub = await createTestHub(path);
    vi.stubEnv('HF_ENDPOINT', hub.address);
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    await hub.close();
  });

  it('is downloaded when it is added, checked and stored in the list', async () => {
    const models = open();
    await models.add('hf:user/model/small.gguf');
    await models.whenInstalled('small.gguf', { signal });
    expect(readFileSync(join(directory, 'small.gguf')).equals(hub.content)).toBe(true);
    const sha256 = createHash('sha256').update(hub.content).digest('hex');
    const expected = { state: 'installed', source: 'hugging-face', bytes: 12_000_000, sha256, isSelected: true };
    expect(readModel(models, 'small.gguf')).toMatchObject(expected);
    expect(readModel(open(), 'small.gguf')).toMatchObject(expected);
    expect(readdirSync(directory).sort()).toEqual(['models.json', 'small.gguf']);
  });

  it('resumes with the missing bytes after a pause and a restart', async () => {
    await hub.close();
    hub = await createTestHub(path, 30_000_000);
    vi.stubEnv('HF_ENDPOINT', hub.address);
    const first = open();
    hub.holdAfter(24_000_000);
    await first.add('hf:user/model/small.gguf');
    // The downloader takes four pieces of 5 MiB at a time: when the fifth has begun, one is complete.
    await expect.poll(() => hub.sentBytes()).toBe(24_000_000);
    await whenModel(first, 'small.gguf', ({ receivedBytes }) => receivedBytes > 17_000_000);
    // The downloader writes the pieces' states after the content, a moment later; 2 is complete.
    const states = () => readFileSync(join(directory, 'small.gguf.ipull')).subarray(30_000_000).toString();
    await expect.poll(states).toMatch(/"chunks":\[[\d,]*2/);
    await first.pause('small.gguf');
    expect(readModel(first, 'small.gguf')).toMatchObject({ state: 'paused', bytes: 30_000_000 });
    await first.close();
    const second = open();
    expect(readModel(second, 'small.gguf').state).toBe('paused');
    hub.holdAfter(null);
    await second.install('small.gguf');
    await second.whenInstalled('small.gguf', { signal });
    expect(readFileSync(join(directory, 'small.gguf')).equals(hub.content)).toBe(true);
    // Pieces that were not complete come again; the whole file would make 54 MB.
    expect(hub.sentBytes()).toBeLessThan(50_000_000);
  });

  it('is rejected if its checksum differs from the catalogue', async () => {
    const model: CatalogueModel = {
      ...listed,
      id: 'small',
      fileName: 'small.gguf',
      bytes: 12_000_000,
      sha256: 'ab'.repeat(32),
      source: { kind: 'hugging-face', address: 'hf:user/model/small.gguf' },
    };
    const models = open([model]);
    await models.install('small');
    await expect(models.whenInstalled('small', { signal })).rejects.toThrow(/wrong checksum/);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('fails with a hint about the network if nothing responds', async () => {
    await hub.close();
    const models = open([listed], 2);
    await models.add('hf:user/model/small.gguf');
    await expect(models.whenInstalled('small.gguf', { signal })).rejects.toThrow(/Check the network/);
    hub = await createTestHub('/');
  });

  it('fails after a time limit if the server falls silent, and can be removed', async () => {
    const models = open([listed], 1.5);
    hub.holdAfter(3_000_000);
    await models.add('hf:user/model/small.gguf');
    await expect(models.whenInstalled('small.gguf', { signal })).rejects.toThrow(/sent nothing for 1\.5 s/);
    await models.remove('small.gguf');
    expect(readdirSync(directory)).toEqual(['models.json']);
    expect(models.state().models.map(({ id }) => id)).toEqual(['listed']);
  });
});

describe('without an installed model', () => {
  const request = {
    model: 'm',
    systemMessage: null,
    messages: [textMessage('user', 'Hi')],
    configuration: {},
  };

  it('a run fails and explains how to install one', async () => {
    const models = open();
    await expect(models.provider.generate(request, { signal })).rejects.toMatchObject({
      code: 'model_not_installed',
      status: 503,
      message: expect.stringMatching(/Settings, On-device models.*npm start/),
    });
    expect(await models.provider.listModels({ signal })).toEqual([]);
    expect(models.selectedFileName()).toBe('listed.gguf');
    expect(models.state().engine.state).toBe('idle');
  });
});
