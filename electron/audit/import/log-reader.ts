import { AppError } from '../../../shared/app-error.ts';
import type { LogPreview } from '../../../shared/contract/log-imports.ts';
import { createLimitedCalls } from '../../common/limited-calls.ts';
import { type CallOptions, createWorkerClient, startThread, type WorkerClient } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { CallSource } from './call-run.ts';
import type { LogBatch, LogMethods, ReadTraces } from './log-worker.ts';
import { type LogFile, unreadableLog } from './read-log.ts';

interface Cancellable {
  readonly signal: AbortSignal;
}

type Source = Omit<CallSource, 'format' | 'seen' | 'hostId'>;

/** Reads logs in threads with limits of time and memory. */
export interface LogReader {
  /** Reads all of a file. Throws `invalid_request` for one that can't be read. */
  inspect(file: LogFile, options: Cancellable): Promise<LogPreview>;
  /** The runs of a file after a position. Throws as `inspect`. */
  read(request: { file: LogFile; source: Source }, after: number, options: Cancellable): AsyncGenerator<LogBatch>;
  /** The format of a file, from its first entry. Throws as `inspect`. */
  formatOf(file: LogFile, options: Cancellable): Promise<LogBatchFormat>;
  /** The calls of a request of OTLP. */
  traces(request: Record<string, unknown>, source: Source, options: Cancellable): Promise<ReadTraces>;
  close(): Promise<void>;
}

export type LogBatchFormat = Awaited<ReturnType<LogMethods['open']>>['format'];

/** One batch of a file; a line of 256 MB takes ten seconds. */
const batchMilliseconds = 60_000;
/** All of a file of 1 GB. */
const inspectionMilliseconds = 300_000;
const tracesMilliseconds = 10_000;
const maxHeapMegabytes = 2048;

function describe(error: unknown, signal: AbortSignal): unknown {
  const { name, code } = error as { readonly name?: string; readonly code?: string };
  if (signal.aborted) return error;
  if (name === 'TimeoutError') return unreadableLog('takes too long to read; split it');
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? unreadableLog('needs too much memory; split it') : error;
}

function startLogThread(): WorkerClient<LogMethods> {
  return createWorkerClient({
    name: 'Reading a log',
    start: () => startThread(workerUrl(import.meta.url, 'log-worker'), { maxHeapMegabytes }),
  });
}

/** Calls a thread that ends with the generator. */
async function* withThread<Result>(
  { signal }: Cancellable,
  use: (worker: WorkerClient<LogMethods>) => AsyncGenerator<Result>,
): AsyncGenerator<Result> {
  const worker = startLogThread();
  try {
    yield* use(worker);
  } catch (error) {
    throw describe(error, signal);
  } finally {
    await worker.terminate(new Error('The log was read.'));
  }
}

function limited({ signal }: Cancellable, timeLimitMs: number): CallOptions {
  return { signal, onAbort: 'terminate', timeLimitMs };
}

async function only<Result>(results: AsyncGenerator<Result>): Promise<Result> {
  const { value } = await results.next();
  await results.return(undefined);
  return value as Result;
}

/** `hostId` identifies the data folder. */
export function createLogReader(databaseFile: string, hostId: string): LogReader {
  const tracer = startLogThread();
  const traceCalls = createLimitedCalls(tracer, {
    milliseconds: tracesMilliseconds,
    tooLong: 'The traces take too long to read. Send less in one request.',
    tooLarge: 'The traces need too much memory. Send less in one request.',
  });

  return {
    inspect: (file, options) =>
      only(
        withThread(options, async function* (worker) {
          yield await worker.call('inspect', { file, databaseFile, hostId }, limited(options, inspectionMilliseconds));
        }),
      ),
    formatOf: (file, options) =>
      only(
        withThread(options, async function* (worker) {
          const source = { hostId, callerId: '', apiKeyId: null, importedAt: 0, level: 'all' as const, rules: [] };
          yield (await worker.call('open', { file, source }, limited(options, batchMilliseconds))).format;
        }),
      ),
    read: ({ file, source }, position, options) =>
      withThread(options, async function* (worker) {
        await worker.call('open', { file, source: { ...source, hostId } }, limited(options, batchMilliseconds));
        for (let after = position; ;) {
          const batch = await worker.call('next', { after }, limited(options, batchMilliseconds));
          after = Math.max(after, batch.position);
          yield batch;
          if (batch.isDone) return;
        }
      }),
    async traces(request, source, { signal }) {
      const input = { request, source: { ...source, hostId } };
      const read = await traceCalls.run(signal, (options) => tracer.call('traces', input, options));
      if (typeof read === 'string') throw new AppError('invalid_request', read);
      return read;
    },
    close: traceCalls.close,
  };
}
