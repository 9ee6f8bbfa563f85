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
  type ModelJobs,
  modelPath,
  ownPartialPaths,
  readEntry,
  toOnDeviceModel,
} from './model-jobs.ts';
import { type AddedModel, type ModelRecords, openModelRecords } from './model-records.ts';
import { isGgufFile } from './model-file.ts';

/** `hf:<user>/<model>`, then `:<quantization>` or `/<path>.gguf` and perhaps `#<revision>`. */
const huggingFaceAddress = /^hf:[\w.-]+\/([\w.-]+)(?::([\w.-]+)|\/([\w.-][\w./-]*\.gguf)(?:#[\w./-]+)?)?$/;

/** Reads what a person typed. Throws `invalid_request` naming `address`. */
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

/** A model that the person brought, in the catalogue's form. */
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
  /** Called before a model's file is deleted, so that nothing holds it open. */
  readonly releaseFile: (path: string) => Promise<void>;
  readonly log: Log;
}

/** The files of the language models: which there are, fetching, checking, removing, choosing. */
export class ModelLibrary {
  readonly #options: ModelLibraryOptions;
  readonly #records: ModelRecords;
  readonly #jobs: ModelJobs;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #entries: readonly ModelEntry[];

  constructor(options: ModelLibraryOptions) {
    this.#options = options;
    this.#records = openModelRecords(options.directory);
    this.#jobs = createModelJobs({
      ...options,
      records: this.#records,
      onChange: () => this.#changed(),
      onInstalled: (entry) => this.#selectIfNone(entry),
    });
    const models = [...options.catalogue, ...this.#records.added().map(toCatalogueModel)];
    this.#entries = models.map((model) => readEntry(options.directory, model, this.#records));
    for (const entry of this.#entries) if (entry.state === 'checking') this.#jobs.start(entry);
  }

  list(): OnDeviceModel[] {
    return this.#entries.map((entry) => toOnDeviceModel(entry, this.selectedFileName()));
  }

  selectedFileName(): string {
    const { catalogue, settings } = this.#options;
    const byDefault = catalogue.find(({ id }) => id === defaultModelId) ?? catalogue[0];
    return settings.read().onDeviceModel ?? byDefault?.fileName ?? '';
  }

  /** Keeps the context size that a model was loaded with; it may be less than the model's own when memory is short. */
  setContextTokens(path: string, contextTokens: number): void {
    const entry = this.#entries.find((other) => this.#path(other) === path);
    if (!entry || entry.contextTokens === contextTokens) return;
    entry.contextTokens = contextTokens;
    this.#records.setContextTokens(entry.model.fileName, contextTokens);
    this.#changed();
  }

  /** Path of the selected model's file; waits for a running check. Throws `model_not_installed`. */
  async selectedPath({ signal }: { readonly signal: AbortSignal }): Promise<string> {
    const entry = this.#entries.find(({ model }) => model.fileName === this.selectedFileName());
    while (entry?.run.isActive && entry.state === 'checking') await once(this.#changes, 'change', { signal });
    if (entry && this.#isInstalled(entry)) return this.#path(entry);
    throw notInstalled(entry);
  }

  install(id: string): void {
    const entry = this.#find(id);
    if (!this.#isInstalled(entry)) this.#jobs.start(entry);
  }

  async whenInstalled(id: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const entry = this.#find(id);
    while (entry.run.isActive) await once(this.#changes, 'change', { signal });
    if (entry.state === 'installed') return;
    const reason = entry.failure ?? `${entry.model.title} is not installed and not downloading.`;
    throw new AppError('model_not_installed', reason);
  }

  async pause(id: string): Promise<void> {
    await this.#jobs.stop(this.#find(id));
  }

  async remove(id: string): Promise<void> {
    const entry = this.#find(id);
    const { model } = entry;
    await this.#jobs.stop(entry);
    await this.#options.releaseFile(this.#path(entry));
    const own = model.source.kind === 'file' ? [] : [this.#path(entry)];
    const paths = [...own, ...ownPartialPaths(this.#options.directory, model)];
    await Promise.all(paths.map((path) => rm(path, { force: true })));
    this.#forget(entry);
    this.#changed();
  }

  select(id: string): void {
    const entry = this.#find(id);
    if (!this.#isInstalled(entry)) {
      throw new AppError('conflict', `${entry.model.title} is not installed. Download it first.`);
    }
    this.#options.settings.update({ onDeviceModel: entry.model.fileName });
    this.#changed();
  }

  async add(address: string): Promise<void> {
    const added = await readAddedModel(address.trim());
    const isTaken = ({ model }: ModelEntry) => model.id === added.id || model.fileName === added.fileName;
    if (this.#entries.some(isTaken)) throw invalidField('address', `is in the list already, as ${added.fileName}`);
    this.#records.add(added);
    const entry = readEntry(this.#options.directory, toCatalogueModel(added), this.#records);
    this.#entries = [...this.#entries, entry];
    if (entry.state === 'installed') this.#selectIfNone(entry);
    else this.#jobs.start(entry);
    this.#changed();
  }

  /** Ends every fetch; what is on the disk stays. */
  async close(): Promise<void> {
    await Promise.all(this.#entries.map((entry) => this.#jobs.stop(entry)));
  }

  #changed(): void {
    this.#changes.emit('change');
    this.#options.onChange();
  }

  #find(id: string): ModelEntry {
    const entry = this.#entries.find(({ model }) => model.id === id);
    if (entry) return entry;
    const name = JSON.stringify(id);
    throw new AppError('not_found', `On-device model ${name} not found. See Settings, On-device models.`);
  }

  #path(entry: ModelEntry): string {
    return modelPath(this.#options.directory, entry.model);
  }

  /** Looks at the disk too: people delete files. */
  #isInstalled(entry: ModelEntry): boolean {
    return entry.state === 'installed' && existsSync(this.#path(entry));
  }

  /** The first model that is there answers, without a further question. */
  #selectIfNone({ model }: ModelEntry): void {
    const { settings } = this.#options;
    const selected = settings.read().onDeviceModel;
    const answers = this.#entries.some((entry) => entry.model.fileName === selected && this.#isInstalled(entry));
    if (!answers) settings.update({ onDeviceModel: model.fileName });
  }

  #forget(entry: ModelEntry): void {
    const { catalogue, directory, settings } = this.#options;
    const { model } = entry;
    this.#records.setChecked(model.fileName, null);
    this.#records.setContextTokens(model.fileName, null);
    if (catalogue.includes(model)) Object.assign(entry, readEntry(directory, model, this.#records));
    else {
      this.#records.forget(model.id);
      this.#entries = this.#entries.filter((other) => other !== entry);
    }
    if (settings.read().onDeviceModel !== model.fileName) return;
    const other = this.#entries.find((candidate) => this.#isInstalled(candidate));
    settings.update({ onDeviceModel: other?.model.fileName ?? null });
  }
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
