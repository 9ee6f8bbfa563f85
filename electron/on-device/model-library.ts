import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { OnDeviceModel } from '../../shared/contract/on-device.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { readAddedModel, toCatalogueModel } from './added-model.ts';
import type { FetchContext, FetchProgress } from './fetch-context.ts';
import { fetchHuggingFace } from './fetch-hugging-face.ts';
import { fetchPackages } from './fetch-packages.ts';
import { type CatalogueModel, defaultModelId } from './model-catalogue.ts';
import { type ModelEntry, modelPath, ownPartialPaths, readEntry, toOnDeviceModel } from './model-entry.ts';
import { isGgufFile, noSpaceError, sha256OfFile } from './model-file.ts';
import { openModelRecords } from './model-records.ts';

export interface ModelLibraryOptions {
  readonly directory: string;
  readonly catalogue: readonly CatalogueModel[];
  readonly settings: SettingsStore;
  readonly registryAddress: () => Promise<string>;
  readonly silenceMs: number;
  readonly onChange: () => void;
  /** Called before a model's file is deleted, so that nothing holds it open. */
  readonly releaseFile: (path: string) => Promise<void>;
  readonly log: (message: string, error?: unknown) => void;
}

/** The files of the language models: which there are, fetching, checking, removing, choosing. */
export type ModelLibrary = ReturnType<typeof createModelLibrary>;

export function createModelLibrary(options: ModelLibraryOptions) {
  const { directory, settings } = options;
  const records = openModelRecords(directory);
  const changes = new EventEmitter().setMaxListeners(0);
  let entries: readonly ModelEntry[] = [
    ...options.catalogue,
    ...records.added().map((model) => toCatalogueModel(model)),
  ].map((model) => readEntry(directory, model, records));

  function changed(): void {
    changes.emit('change');
    options.onChange();
  }

  function find(id: string): ModelEntry {
    const entry = entries.find(({ model }) => model.id === id);
    if (entry) return entry;
    throw new AppError(
      'not_found',
      `There is no on-device model ${JSON.stringify(id)}. See the list under Settings, On-device models.`,
    );
  }

  function selectedFileName(): string {
    const byDefault = options.catalogue.find(({ id }) => id === defaultModelId) ?? options.catalogue[0];
    return settings.read().onDeviceModel ?? byDefault?.fileName ?? '';
  }

  function isInstalled(fileName: string | null): boolean {
    return entries.some(({ model, state }) => model.fileName === fileName && state === 'installed');
  }

  function apply(entry: ModelEntry, progress: FetchProgress): void {
    if (progress.phase) entry.state = progress.phase;
    if (progress.bytes !== undefined) entry.bytes = progress.bytes;
    if (progress.step !== undefined) entry.step = progress.step;
    if (progress.receivedBytes !== undefined) {
      entry.receivedBytes = progress.receivedBytes;
      entry.rate.add(progress.receivedBytes);
    }
    changed();
  }

  function work(entry: ModelEntry, context: FetchContext): Promise<string> {
    const { model } = entry;
    if (existsSync(modelPath(directory, model))) return checkFile(entry, context);
    const { source } = model;
    if (source.kind === 'hugging-face') return fetchHuggingFace(model, source.address, context);
    if (source.kind === 'file' || model.bytes === null)
      throw new AppError('conflict', 'The file is no longer where it was.');
    return fetchPackages({ ...model, bytes: model.bytes, parts: source.parts }, options.registryAddress, context);
  }

  /** A file that lies here unchecked: left by a crash, changed since, or put here by hand. */
  async function checkFile({ model }: ModelEntry, { signal, report }: FetchContext): Promise<string> {
    const path = modelPath(directory, model);
    report({ phase: 'checking', step: 'checking SHA-256' });
    const sha256 = await sha256OfFile(path, { signal });
    const expected = model.sha256 ?? records.checked(model.fileName)?.sha256 ?? sha256;
    if (sha256 === expected && (await isGgufFile(path))) return sha256;
    if (model.source.kind !== 'file') await rm(path, { force: true });
    throw new AppError('conflict', 'The file on the disk was damaged and is gone. Fetch the model again.');
  }

  function start(entry: ModelEntry): void {
    if (entry.job) return;
    const controller = new AbortController();
    const context: FetchContext = {
      directory,
      signal: controller.signal,
      silenceMs: options.silenceMs,
      report: (progress) => apply(entry, progress),
    };
    entry.failure = null;
    const done = run(entry, context).finally(() => {
      entry.job = null;
      entry.step = null;
      changed();
    });
    entry.job = { controller, done };
  }

  async function run(entry: ModelEntry, context: FetchContext): Promise<void> {
    try {
      apply(entry, { phase: existsSync(modelPath(directory, entry.model)) ? 'checking' : 'downloading' });
      await installed(entry, await work(entry, context));
    } catch (error) {
      if (context.signal.aborted) entry.state = 'paused';
      else {
        entry.state = 'failed';
        entry.failure = failureText(error, options.log);
      }
    }
  }

  async function installed(entry: ModelEntry, sha256: string): Promise<void> {
    const { size, mtimeMs } = await stat(modelPath(directory, entry.model));
    records.setChecked(entry.model.fileName, { bytes: size, modifiedMs: mtimeMs, sha256 });
    Object.assign(entry, {
      bytes: size,
      receivedBytes: size,
      sha256,
      state: 'installed',
    } satisfies Partial<ModelEntry>);
    selectIfNone(entry);
  }

  /** The first model that is there answers, without a further question. */
  function selectIfNone({ model }: ModelEntry): void {
    const selected = settings.read().onDeviceModel;
    if (selected === null || !isInstalled(selected)) settings.update({ onDeviceModel: model.fileName });
  }

  async function stop(entry: ModelEntry): Promise<void> {
    entry.job?.controller.abort();
    await entry.job?.done;
  }

  for (const entry of entries) if (entry.state === 'checking') start(entry);

  return {
    list: (): OnDeviceModel[] => entries.map((entry) => toOnDeviceModel(entry, selectedFileName())),
    selectedFileName,

    async install(id: string): Promise<void> {
      const entry = find(id);
      if (entry.state !== 'installed' || !existsSync(modelPath(directory, entry.model))) start(entry);
    },

    async whenInstalled(id: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
      const entry = find(id);
      while (entry.job) await once(changes, 'change', { signal });
      if (entry.state === 'installed') return;
      if (entry.failure !== null) throw new AppError('model_not_installed', entry.failure);
      throw new AppError('model_not_installed', `${entry.model.title} is not installed, and it is not being fetched.`);
    },

    async pause(id: string): Promise<void> {
      await stop(find(id));
    },

    async remove(id: string): Promise<void> {
      const entry = find(id);
      await stop(entry);
      const { model } = entry;
      await options.releaseFile(modelPath(directory, model));
      const own =
        model.source.kind === 'file' ? [] : [modelPath(directory, model), ...ownPartialPaths(directory, model)];
      await Promise.all(own.map((path) => rm(path, { force: true })));
      records.setChecked(model.fileName, null);
      if (options.catalogue.includes(model)) Object.assign(entry, readEntry(directory, model, records));
      else {
        records.forget(id);
        entries = entries.filter((other) => other !== entry);
      }
      if (settings.read().onDeviceModel === model.fileName) {
        settings.update({ onDeviceModel: entries.find(({ state }) => state === 'installed')?.model.fileName ?? null });
      }
      changed();
    },

    async select(id: string): Promise<void> {
      const { model, state } = find(id);
      if (state !== 'installed') {
        throw new AppError('conflict', `${model.title} is not installed. Fetch it first, then select it.`);
      }
      settings.update({ onDeviceModel: model.fileName });
      changed();
    },

    async add(address: string): Promise<void> {
      const added = await readAddedModel(address.trim());
      const isTaken = ({ model }: ModelEntry) => model.id === added.id || model.fileName === added.fileName;
      if (entries.some(isTaken)) throw invalidField('address', `is in the list already, as ${added.fileName}`);
      records.add(added);
      const entry = readEntry(directory, toCatalogueModel(added), records);
      entries = [...entries, entry];
      if (entry.state === 'installed') selectIfNone(entry);
      else start(entry);
      changed();
    },

    /** Path of the selected model's file; waits for a check that is under way. Throws `model_not_installed`. */
    async selectedPath({ signal }: { readonly signal: AbortSignal }): Promise<string> {
      const entry = entries.find(({ model }) => model.fileName === selectedFileName());
      while (entry?.job && entry.state === 'checking') await once(changes, 'change', { signal });
      const path = entry && modelPath(directory, entry.model);
      if (entry?.state === 'installed' && path && existsSync(path)) return path;
      throw notInstalled(entry);
    },

    async close(): Promise<void> {
      await Promise.all(entries.map(stop));
    },
  };
}

function notInstalled(entry: ModelEntry | undefined): AppError {
  if (entry?.job && entry.bytes) {
    const percent = Math.floor((100 * entry.receivedBytes) / entry.bytes);
    return new AppError(
      'model_not_installed',
      `The on-device model is being fetched (${percent} %). Run the prompt again when it is here.`,
    );
  }
  return new AppError(
    'model_not_installed',
    'No on-device model is installed. Fetch one in the window under Settings, On-device models; on the command line `npm start` in a terminal fetches it.',
  );
}

function failureText(error: unknown, log: ModelLibraryOptions['log']): string {
  if (error instanceof AppError) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return noSpaceError(null, null).message;
  log('Fetching an on-device model failed', error);
  return 'The model could not be stored in the data folder. See the log of the host, then resume.';
}
