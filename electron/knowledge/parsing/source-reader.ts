import { Worker } from 'node:worker_threads';
import { AppError } from '../../../shared/app-error.ts';
import { createTurnQueue } from '../../on-device/turn-queue.ts';
import { siblingModule } from '../../sibling-module.ts';
import type { ParsedSource, ReadSourceOptions, SourceReader, SourceReaderOptions } from './parsed-source.ts';
import { unpackDocument, type ReadAnswer, type ReadQuestion } from './source-reader-messages.ts';

/** The thread holds its parsers and what is left of the last file meanwhile. */
const idleSeconds = 60;

/** How often the thread's memory outside V8's own heap is looked at, which V8's limits leave out. */
const memoryCheckMs = 250;

const megabyte = 1024 * 1024;

const stopped = () => new DOMException('Reading was stopped.', 'AbortError');
const unreadable = (reason: string, cause?: unknown) => new AppError('invalid_request', reason, { cause });

function memoryReason(megabytes: number): AppError {
  return unreadable(`Reading the file takes more than ${megabytes} MB of memory. Split it into smaller files.`);
}

function reasonOfEnd(error: NodeJS.ErrnoException, megabytes: number): AppError {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return memoryReason(megabytes);
  return unreadable('The file is damaged in a way that makes it unreadable.', error);
}

/** Reads files one after the other in a thread that starts with the first one and is replaced when one of them misbehaves. */
export function createSourceReader({
  deadlineSeconds = 120,
  memoryMegabytes = 1024,
}: SourceReaderOptions = {}): SourceReader {
  const closing = new AbortController();
  const turns = createTurnQueue(() => undefined);
  let worker: Worker | null = null;
  let idleTimer: NodeJS.Timeout | undefined;
  let lastId = 0;

  function start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 };
    // A debugger's or test runner's own options are not for this thread.
    const options = { execArgv: [], resourceLimits };
    const started = new Worker(siblingModule(import.meta.url, 'source-reader-worker'), options);
    const forget = () => {
      if (worker === started) worker = null;
    };
    // Without a listener of its own, what goes wrong in it while nobody asks would end the host.
    started.on('error', forget).on('exit', forget).unref();
    return started;
  }

  async function end(): Promise<void> {
    const ending = worker;
    worker = null;
    await ending?.terminate();
  }

  async function watchMemory(watched: Worker, onExcess: () => void): Promise<void> {
    const statistics = await watched.getHeapStatistics().catch(() => null);
    if (!statistics) return;
    const used = statistics.used_heap_size + statistics.external_memory + statistics.malloced_memory;
    if (used > memoryMegabytes * megabyte) onExcess();
  }

  /** Asks the thread, and settles with whatever comes first: its answer, its end, a limit or the signal. */
  async function ask(question: ReadQuestion, { signal, onProgress }: ReadSourceOptions): Promise<ParsedSource> {
    const asked = (worker ??= start());
    const answer = Promise.withResolvers<ParsedSource>();
    let isOver = false;
    const stop = (error: Error) => {
      isOver = true;
      answer.reject(error);
    };
    const onMessage = (message: ReadAnswer) => {
      if (message.id !== question.id) return;
      if (message.type === 'progress') onProgress?.(message.fraction);
      else if (message.type === 'read') answer.resolve(unpackDocument(message.document));
      else if (message.type === 'failed') answer.reject(unreadable(message.reason));
      else stop(reasonOfEnd(new Error(message.details), memoryMegabytes));
    };
    const onEnd = (error: Error) => stop(reasonOfEnd(error, memoryMegabytes));
    const onExit = (code: number) => onEnd(new Error(`The thread that reads files ended with exit code ${code}`));
    const onAbort = () => stop(stopped());
    const tooLong = unreadable(
      `Reading the file took longer than ${deadlineSeconds} seconds. Split it into smaller files.`,
    );
    const deadline = setTimeout(() => stop(tooLong), deadlineSeconds * 1000);
    const memory = setInterval(() => void watchMemory(asked, () => stop(memoryReason(memoryMegabytes))), memoryCheckMs);
    asked.on('message', onMessage).on('error', onEnd).on('exit', onExit);
    signal.addEventListener('abort', onAbort, { once: true });
    // The thread holds the host open only while somebody waits for it.
    asked.ref();
    asked.postMessage(question);
    try {
      return await answer.promise;
    } finally {
      clearTimeout(deadline);
      clearInterval(memory);
      signal.removeEventListener('abort', onAbort);
      asked.off('message', onMessage).off('error', onEnd).off('exit', onExit);
      asked.unref();
      if (isOver) await end();
    }
  }

  /** Ends the thread when nothing was asked for a while. */
  function rest(): void {
    clearTimeout(idleTimer);
    if (!closing.signal.aborted) idleTimer = setTimeout(() => void end(), idleSeconds * 1000).unref();
  }

  return {
    async readSource({ path, mediaType }, { signal, onProgress }) {
      const either = AbortSignal.any([signal, closing.signal]);
      const giveOn = await turns.take({ signal: either }).catch(() => {
        throw stopped();
      });
      clearTimeout(idleTimer);
      lastId += 1;
      try {
        return await ask({ id: lastId, path, mediaType }, { signal: either, ...(onProgress && { onProgress }) });
      } finally {
        rest();
        giveOn();
      }
    },
    async close() {
      closing.abort();
      clearTimeout(idleTimer);
      await end();
    },
  };
}
