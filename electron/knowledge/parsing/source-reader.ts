import { AppError } from '../../../shared/app-error.ts';
import { type ChildEnd, childEnvironment, describeEnd, forkChild, type StartChild } from '../../child-process/child.ts';
import { createWorkerClient, type WorkerClient, type WorkerConnection } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import { createMutex } from '../../common/mutex.ts';
import type { FileInspector } from '../../files/inspect-file.ts';
import type { PageRenderer } from '../../files/render-pages.ts';
import type { ParsedSource, ReadSourceOptions, SourceReader, SourceReaderOptions } from './parsed-source.ts';
import { unpackDocument } from './packed-document.ts';
import type { ReadTask, SourceReaderMethods } from './source-reader-process.ts';

export function unreadable(reason: string, cause?: unknown): AppError {
  return new AppError('invalid_request', reason, { cause });
}

/** V8's heap gets this share of the memory. The rest is for data outside it: bytes of files, and V8 itself. */
const heapShare = 0.6;

/** The reason after an unexpected error: a parser threw, or its process crashed. */
export const damaged = 'The file is damaged and cannot be read.';

/** Whether V8 or the watch ended the process; on Windows there are no signals, and the watch's end is exit code 1. */
function endedByMemory({ code, signal }: ChildEnd): boolean {
  const byV8 = code === 134 || ['SIGABRT', 'SIGTRAP', 'SIGILL'].includes(signal ?? '');
  return byV8 || signal === 'SIGKILL' || (process.platform === 'win32' && code === 1);
}

function failureFor(end: ChildEnd, memoryMegabytes: number, cause: Error): AppError {
  if (end.error)
    return unreadable(
      'The process that reads files could not start. Close other programs and re-index the source.',
      cause,
    );
  if (!endedByMemory(end)) return unreadable(damaged, cause);
  return unreadable(
    `Reading the file needs more than ${memoryMegabytes} MB of memory. Split it into smaller files.`,
    cause,
  );
}

/**
 * Starts the process. A thread isn't enough: one that runs out of memory within a single call of V8 (a list of ten million entries
 * in a JSON file) ends its whole process.
 */
export function startReadingProcess(startChild: StartChild, memoryMegabytes: number): WorkerConnection {
  const child = startChild({
    program: workerUrl(import.meta.url, 'source-reader-process'),
    parameters: [String(memoryMegabytes)],
    heapMegabytes: Math.round(memoryMegabytes * heapShare),
    environment: childEnvironment(),
  });
  child.setHoldsHost(false);
  const ended = Promise.withResolvers<Error>();
  child.onEnd((end) => {
    const cause = new Error(`The process that reads files ended (${describeEnd(end)}). ${child.errorOutput}`);
    ended.resolve(failureFor(end, memoryMegabytes, cause));
  });
  return {
    send: child.send,
    onMessage: child.onMessage,
    ended: ended.promise,
    setHoldsHost: child.setHoldsHost,
    kill: child.kill,
  };
}

/** An idle process ends after this time, because it holds its parsers and the remains of the last file in memory. */
const idleSeconds = 60;

/** As many as the indexing queue has lanes, so that one slow file leaves a process for the others. */
const maxProcesses = 2;

const stopped = () => new DOMException('Reading was stopped.', 'AbortError');

interface Slot {
  readonly worker: WorkerClient<SourceReaderMethods>;
  isBusy: boolean;
  idleTimer: NodeJS.Timeout | undefined;
}

function createSlot(startChild: StartChild, memoryMegabytes: number): Slot {
  const worker = createWorkerClient<SourceReaderMethods>({
    name: 'The process that reads files',
    start: () => startReadingProcess(startChild, memoryMegabytes),
  });
  return { worker, isBusy: false, idleTimer: undefined };
}

async function endProcess({ worker, idleTimer }: Slot): Promise<void> {
  clearTimeout(idleTimer);
  await worker.terminate(stopped());
}

interface CallLimits {
  readonly signal: AbortSignal;
  readonly deadlineSeconds: number;
}

/** Rejects when the process ends, and at the deadline or an abort, which end the process. */
async function callProcess<Result>(
  worker: Slot['worker'],
  { signal, deadlineSeconds }: CallLimits,
  call: (limits: { signal: AbortSignal; onAbort: 'terminate'; timeLimitMs: number }) => Promise<Result>,
): Promise<Result> {
  try {
    return await call({ signal, onAbort: 'terminate', timeLimitMs: deadlineSeconds * 1000 });
  } catch (error) {
    // After an unexpected error the state of the process is unknown. Its memory must be free before the next one starts.
    if (!(error instanceof AppError)) await worker.terminate(stopped());
    if (signal.aborted) throw stopped();
    if (error instanceof AppError) throw error;
    if ((error as Error).name !== 'TimeoutError') throw unreadable(damaged, error);
    throw unreadable(`Reading the file took longer than ${deadlineSeconds} seconds. Split it into smaller files.`);
  }
}

async function readInProcess(
  worker: Slot['worker'],
  task: ReadTask,
  { onProgress, ...limits }: CallLimits & Pick<ReadSourceOptions, 'onProgress'>,
): Promise<ParsedSource> {
  const parts: string[] = [];
  return callProcess(worker, limits, async (options) => {
    const document = await worker.call('read', task, {
      ...options,
      onProgress(progress) {
        if ('part' in progress) parts.push(progress.part);
        else onProgress?.(progress.fraction);
      },
    });
    return unpackDocument(parts.join(''), document);
  });
}

/** Reads files in processes that start with the first file and are replaced after a failure. */
export function createSourceReader({
  deadlineSeconds = 120,
  memoryMegabytes = 1024,
  startChild = forkChild,
}: SourceReaderOptions = {}): SourceReader & FileInspector & PageRenderer {
  const closing = new AbortController();
  const queue = createMutex(() => undefined, { concurrency: maxProcesses });
  const slots = Array.from({ length: maxProcesses }, () => createSlot(startChild, memoryMegabytes));

  /** A free slot, preferably one whose process is running. */
  function takeSlot(): Slot {
    const free = slots.filter(({ isBusy }) => !isBusy);
    const slot = free.find(({ worker }) => worker.isRunning) ?? free[0]!;
    slot.isBusy = true;
    clearTimeout(slot.idleTimer);
    return slot;
  }

  function releaseSlot(slot: Slot): void {
    slot.isBusy = false;
    if (!closing.signal.aborted) slot.idleTimer = setTimeout(() => void endProcess(slot), idleSeconds * 1000).unref();
  }

  async function withSlot<Result>(
    signal: AbortSignal,
    call: (worker: Slot['worker'], limits: CallLimits) => Promise<Result>,
  ): Promise<Result> {
    const either = AbortSignal.any([signal, closing.signal]);
    const release = await queue.take({ signal: either }).catch(() => {
      throw stopped();
    });
    const slot = takeSlot();
    try {
      return await call(slot.worker, { signal: either, deadlineSeconds });
    } finally {
      releaseSlot(slot);
      release();
    }
  }

  return {
    readSource: ({ path, mediaType }, { signal, onProgress }) =>
      withSlot(signal, (worker, limits) =>
        readInProcess(worker, { path, mediaType }, { ...limits, ...(onProgress && { onProgress }) }),
      ),
    inspectFile: (file, { signal }) =>
      withSlot(signal, (worker, limits) =>
        callProcess(worker, limits, (options) => worker.call('inspect', file, options)),
      ),
    renderPages: (pages, { signal }) =>
      withSlot(signal, (worker, limits) =>
        callProcess(worker, limits, (options) => worker.call('renderPages', pages, options)),
      ),
    async close() {
      closing.abort();
      await Promise.all(slots.map(endProcess));
    },
  };
}
