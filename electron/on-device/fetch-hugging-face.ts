import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelDownloader } from 'node-llama-cpp';
import { AppError } from '../../shared/app-error.ts';
import { type FetchContext, isGgufFile, requireFreeSpace, sha256OfFile } from './model-file.ts';
import type { CatalogueModel } from './model-catalogue.ts';

/** The downloader's own name of an incomplete file. */
export function downloaderPartialPath(directory: string, fileName: string): string {
  return join(directory, `${fileName}.ipull`);
}

/**
 * Downloads a model by `hf:` address with node-llama-cpp's downloader, which resumes automatically, and checks it. Resolves with
 * the file's SHA-256.
 */
export async function fetchHuggingFace(model: CatalogueModel, address: string, context: FetchContext): Promise<string> {
  const path = join(context.directory, model.fileName);
  const partialPath = downloaderPartialPath(context.directory, model.fileName);
  context.report({ phase: 'downloading', step: 'Connecting...' });
  const guard = createSilenceGuard(context);
  try {
    const downloader = await Promise.race([
      openDownloader(address, model.fileName, context, guard.heard),
      guard.rejection,
    ]);
    const { totalSize, downloadedSize } = downloader;
    await requireFreeSpace(context.directory, totalSize - downloadedSize);
    context.report({ bytes: totalSize, receivedBytes: downloadedSize, step: 'downloading' });
    await downloadUntilAborted(downloader, guard.signal);
  } catch (error) {
    throw toFetchError(error, context.signal, guard.signal);
  } finally {
    guard.stop();
  }
  context.report({ phase: 'checking', step: 'checking SHA-256' });
  const sha256 = await sha256OfFile(path, { signal: context.signal });
  if ((await isGgufFile(path)) && (model.sha256 ?? sha256) === sha256) return sha256;
  await Promise.all([rm(path, { force: true }), rm(partialPath, { force: true })]);
  throw new AppError('provider_failed', 'The downloaded model is damaged: wrong checksum. Download it again.');
}

/** What was being written when a download was aborted is on the disk sooner. */
const maxEndingMs = 2_000;

/**
 * When the signal aborts, this waits until the downloader has closed the file, which the next attempt opens again, and has ended. It doesn't
 * wait long for the end: the downloader doesn't cancel a request that has no head yet, and a server that falls silent sends none.
 */
async function downloadUntilAborted(downloader: ModelDownloader, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const closed = Promise.withResolvers<void>();
  const close = () => void downloader.cancel().then(closed.resolve, closed.reject);
  signal.addEventListener('abort', close, { once: true });
  try {
    const download = downloader.download();
    await Promise.race([download, closed.promise]);
    // The download also resolves when it was cancelled, before the file is closed.
    if (signal.aborted) {
      await closed.promise;
      await Promise.race([download, delay(maxEndingMs, undefined, { ref: false })]);
    }
  } finally {
    signal.removeEventListener('abort', close);
  }
  signal.throwIfAborted();
}

async function openDownloader(
  modelUri: string,
  fileName: string,
  context: FetchContext,
  onBytes: () => void,
): Promise<ModelDownloader> {
  // Loaded on demand: it takes a third of a second and most people never need it.
  const { createModelDownloader } = await import('node-llama-cpp');
  const downloader = await createModelDownloader({
    modelUri,
    fileName,
    dirPath: context.directory,
    deleteTempFileOnCancel: false,
    onProgress: ({ downloadedSize }) => {
      onBytes();
      context.report({ receivedBytes: downloadedSize });
    },
  });
  if (downloader.totalFiles > 1) {
    throw new AppError(
      'invalid_request',
      'This model is split into several files, which is not supported. Choose one in a single file.',
    );
  }
  return downloader;
}

/** Aborts a download that gets no data for `silenceMs`. The downloader itself would retry for a long time. */
function createSilenceGuard({ signal, silenceMs }: FetchContext) {
  const silence = new AbortController();
  const timer = setTimeout(() => {
    silence.abort(
      new AppError(
        'provider_silent',
        `Hugging Face sent nothing for ${silenceMs / 1000} s. Check the network and resume. The downloaded part is kept.`,
      ),
    );
  }, silenceMs);
  const either = AbortSignal.any([signal, silence.signal]);
  const rejected = Promise.withResolvers<never>();
  rejected.promise.catch(() => {});
  either.addEventListener('abort', () => rejected.reject(either.reason), { once: true });
  if (either.aborted) rejected.reject(either.reason);
  return {
    signal: either,
    rejection: rejected.promise,
    heard: () => void timer.refresh(),
    stop: () => clearTimeout(timer),
  };
}

function toFetchError(error: unknown, caller: AbortSignal, guarded: AbortSignal): unknown {
  if (caller.aborted) return caller.reason;
  if (guarded.aborted) return guarded.reason;
  if (error instanceof AppError || (error instanceof Error && 'syscall' in error && 'path' in error)) return error;
  return new AppError(
    'provider_failed',
    "Couldn't download the model from Hugging Face. Check the network and that the address names a public file, then resume.",
    { cause: error },
  );
}
