import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { OnDeviceModel } from '../../shared/contract/on-device.ts';
import type { Log } from '../log.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { type CatalogueModel, defaultModelId } from './model-catalogue.ts';
import {
  createModelJobs,
  type ModelEntry,
  modelPath,
  ownPartialPaths,
  readEntry,
  toOnDeviceModel,
} from './model-jobs.ts';
import { type AddedModel, openModelRecords } from './model-records.ts';
import { isGgufFile } from './model-file.ts';

/** `hf:<user>/<model>`, then `:<quantization>` or `/<path>.gguf`, optionally with `#<revision>`. */
const huggingFaceAddress = /^hf:[\w.-]+\/([\w.-]+)(?::([\w.-]+)|\/([\w.-][\w./-]*\.gguf)(?:#[\w./-]+)?)?$/;

/** Reads the user's input. Throws `invalid_request` for `address`. */
async function readAddedModel(address: string): Promise<AddedModel> {
  if (address.startsWith('hf:')) return readHuggingFaceAddress(address);
  if (isAbsolute(address)) return readFileAddress(address);
  throw invalidField(
    'address',
    'must be an absolute path or an hf: address',
    'Enter the full path of a GGUF file, or an address such as hf:Qwen/Qwen2.5-1.5B-Instruct-GGUF:Q4_K_M.',
  );
}

function readHuggingFaceAddress(address: string): AddedModel {
  const match = huggingFaceAddress.exec(address);
  if (!match || address.includes('..') || address.includes('//')) {
    throw invalidField(
      'address',
      'must have the form hf:<user>/<model>:<quantization> or hf:<user>/<model>/<file>.gguf',
      'Enter the address as hf:<user>/<model>:<quantization> or hf:<user>/<model>/<file>.gguf.',
    );
  }
  const [, model, quantization, path] = match;
  const fileName = path ? basename(path) : `${[model, quantization].filter(Boolean).join('-')}.gguf`;
  return { id: fileName, title: fileName.replace(/\.gguf$/, ''), fileName, source: { kind: 'hugging-face', address } };
}

async function readFileAddress(path: string): Promise<AddedModel> {
  const stats = await stat(path).catch(() => null);
  if (!stats?.isFile()) {
    throw invalidField('address', 'is not a file', 'File not found on this device, or Touchstone may not read it.');
  }
  if (!(await isGgufFile(path))) {
    throw invalidField('address', 'is not a GGUF file', "This isn't a GGUF file, or Touchstone may not read it.");
  }
  const fileName = basename(path);
  return { id: fileName, title: fileName.replace(/\.gguf$/i, ''), fileName, source: { kind: 'file', path } };
}

/** A model that the user added, in the catalogue's format. */
function toCatalogueModel({ id, title, fileName, source }: AddedModel): CatalogueModel {
  const note =
    source.kind === 'file' ? 'A file on this machine, used in place.' : 'Added by you. Needs an open network.';
  return {
    id,
    title,
    fileName,
    source,
    note,
    bytes: null,
    memoryBytes: null,
    contextTokens: null,
    sha256: null,
    licence: null,
  };
}

export interface ModelLibraryOptions {
  readonly directory: string;
  readonly catalogue: readonly CatalogueModel[];
  readonly settings: SettingsStore;
  readonly registryAddress: () => Promise<string>;
  readonly silenceMs: number;
  readonly onChange: () => void;
  /** Called before a model's file is deleted, to close it. */
  readonly releaseFile: (path: string) => Promise<void>;
  readonly log: Log;
}

/** The language models and their files: list, download, check, remove, select. */
export interface ModelLibrary {
  list(): OnDeviceModel[];
  selectedFileName(): string;
  /** Stores the context size that a model was loaded with, which can be smaller than its own if memory is short. */
  setContextTokens(path: string, contextTokens: number): void;
  /** The path of the selected model's file. Waits for a running check. Throws `model_not_installed`. */
  selectedPath(options: { readonly signal: AbortSignal }): Promise<string>;
  install(id: string): void;
  whenInstalled(id: string, options: { readonly signal: AbortSignal }): Promise<void>;
  pause(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  select(id: string): void;
  add(address: string): Promise<void>;
  /** Stops all downloads. Partial files stay on the disk. */
  close(): Promise<void>;
}

export function createModelLibrary(options: ModelLibraryOptions): ModelLibrary {
  const { directory, catalogue, settings } = options;
  const records = openModelRecords(directory);
  const changes = new EventEmitter().setMaxListeners(0);
  const pathOf = (entry: ModelEntry) => modelPath(directory, entry.model);
  /** Checks the disk, too, because users delete files. */
  const isInstalled = (entry: ModelEntry) => entry.state === 'installed' && existsSync(pathOf(entry));

  function changed(): void {
    changes.emit('change');
    options.onChange();
  }

  /** The first installed model is selected automatically. */
  function selectIfNone({ model }: ModelEntry): void {
    const selected = settings.read().onDeviceModel;
    const isReady = entries.some((entry) => entry.model.fileName === selected && isInstalled(entry));
    if (!isReady) settings.update({ onDeviceModel: model.fileName });
  }

  const jobs = createModelJobs({ ...options, records, onChange: changed, onInstalled: selectIfNone });
  const models = [...catalogue, ...records.added().map(toCatalogueModel)];
  let entries: readonly ModelEntry[] = models.map((model) => readEntry(directory, model, records));
  for (const entry of entries) if (entry.state === 'checking') jobs.start(entry);

  function selectedFileName(): string {
    const byDefault = catalogue.find(({ id }) => id === defaultModelId) ?? catalogue[0];
    return settings.read().onDeviceModel ?? byDefault?.fileName ?? '';
  }

  function find(id: string): ModelEntry {
    const entry = entries.find(({ model }) => model.id === id);
    if (entry) return entry;
    throw notFound(id);
  }

  /** Resets a model of the catalogue, and drops one that the user added. */
  function forget(entry: ModelEntry): void {
    const { model } = entry;
    records.setChecked(model.fileName, null);
    records.setContextTokens(model.fileName, null);
    if (catalogue.includes(model)) Object.assign(entry, readEntry(directory, model, records));
    else {
      records.forget(model.id);
      entries = entries.filter((other) => other !== entry);
    }
    if (settings.read().onDeviceModel !== model.fileName) return;
    const other = entries.find(isInstalled);
    settings.update({ onDeviceModel: other?.model.fileName ?? null });
  }

  return {
    list: () => entries.map((entry) => toOnDeviceModel(entry, selectedFileName())),
    selectedFileName,

    setContextTokens(path, contextTokens) {
      const entry = entries.find((other) => pathOf(other) === path);
      if (!entry || entry.contextTokens === contextTokens) return;
      entry.contextTokens = contextTokens;
      records.setContextTokens(entry.model.fileName, contextTokens);
      changed();
    },

    async selectedPath({ signal }) {
      const entry = entries.find(({ model }) => model.fileName === selectedFileName());
      while (entry?.run.isActive && entry.state === 'checking') await once(changes, 'change', { signal });
      if (entry && isInstalled(entry)) return pathOf(entry);
      throw notInstalled(entry);
    },

    install(id) {
      const entry = find(id);
      if (!isInstalled(entry)) jobs.start(entry);
    },

    async whenInstalled(id, { signal }) {
      const entry = find(id);
      while (entry.run.isActive) await once(changes, 'change', { signal });
      if (entry.state !== 'installed') throw installFailure(entry);
    },

    pause: async (id) => jobs.stop(find(id)),

    async remove(id) {
      const entry = find(id);
      await jobs.stop(entry);
      await options.releaseFile(pathOf(entry));
      await deleteFiles(entry.model, directory);
      forget(entry);
      changed();
    },

    select(id) {
      const entry = find(id);
      if (!isInstalled(entry)) {
        throw new AppError('conflict', `${entry.model.title} is not installed. Download it first.`);
      }
      settings.update({ onDeviceModel: entry.model.fileName });
      changed();
    },

    async add(address) {
      const added = await readAddedModel(address.trim());
      const isTaken = ({ model }: ModelEntry) => model.id === added.id || model.fileName === added.fileName;
      if (entries.some(isTaken)) throw invalidField('address', `is in the list already, as ${added.fileName}`);
      records.add(added);
      const entry = readEntry(directory, toCatalogueModel(added), records);
      entries = [...entries, entry];
      if (entry.state === 'installed') selectIfNone(entry);
      else jobs.start(entry);
      changed();
    },

    async close() {
      await Promise.all(entries.map((entry) => jobs.stop(entry)));
    },
  };
}

/** Deletes downloaded files. A file that the user added by its path stays. */
async function deleteFiles(model: CatalogueModel, directory: string): Promise<void> {
  const own = model.source.kind === 'file' ? [] : [modelPath(directory, model)];
  const paths = [...own, ...ownPartialPaths(directory, model)];
  await Promise.all(paths.map((path) => rm(path, { force: true })));
}

function notFound(id: string): AppError {
  const name = JSON.stringify(id);
  return new AppError('not_found', `On-device model ${name} not found. See Settings, On-device models.`);
}

function installFailure({ failure, model }: ModelEntry): AppError {
  return new AppError('model_not_installed', failure ?? `${model.title} is not installed and not downloading.`);
}

function notInstalled(entry: ModelEntry | undefined): AppError {
  if (entry?.run.isActive && entry.bytes) {
    const percent = Math.floor((100 * entry.receivedBytes) / entry.bytes);
    return new AppError(
      'model_not_installed',
      `The on-device model is downloading (${percent} %). Run the prompt again when the download finishes.`,
    );
  }
  return new AppError(
    'model_not_installed',
    'No on-device model is installed. Download one in Settings, On-device models, or run `npm start` in a terminal.',
  );
}
