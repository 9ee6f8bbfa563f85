import { Worker } from 'node:worker_threads';
import { AppError } from '../../../shared/app-error.ts';
import { createMutex } from '../../common/mutex.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { EditedFile, EditTask } from '../folder/edit-prompt-file.ts';
import type { WriteTask, WrittenFiles } from './export-prompts.ts';
import type { ReadPrompts, ReadTask } from './read-prompts.ts';
import type { FindTask, FoundReference } from './referenced-files.ts';
import type { TransferAnswer, TransferTask } from './transfer-worker.ts';

interface Waits {
  readonly signal: AbortSignal;
}

/**
 * Reads, edits and writes prompt files in a thread of its own, with a limit of memory and of time: a file of a stranger can neither hold the
 * host nor end it. Calls follow each other. What runs out is told in the answer.
 */
export interface PromptReader {
  read(task: ReadTask, options: Waits): Promise<ReadPrompts>;
  edit(task: EditTask, options: Waits): Promise<EditedFile>;
  /** Which of the named files are at each path or pattern. Patterns of strangers may take long to compare. */
  find(task: FindTask, options: Waits): Promise<readonly FoundReference[]>;
  /** Files with prompts. Throws `payload_too_large` for an export that is too large. */
  write(task: WriteTask, options: Waits): Promise<WrittenFiles>;
  close(): Promise<void>;
}

export interface ReaderLimits {
  /** For one file. */
  readonly milliseconds: number;
  /** Of what the thread makes of a file, beside the file itself. */
  readonly megabytes: number;
}

/** A file at the limits of its format takes a few seconds on a slow machine. */
const ordinary: ReaderLimits = { milliseconds: 20_000, megabytes: 512 };

const exhausted = {
  time: 'The file takes too long to read',
  memory: 'The file needs too much memory to read',
} as const;

export function createPromptReader(limits: ReaderLimits = ordinary): PromptReader {
  const queue = createMutex(() => undefined);
  let worker: Worker | null = null;
  const closing = new AbortController();

  function start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: limits.megabytes };
    const started = new Worker(workerUrl(import.meta.url, 'transfer-worker'), { execArgv: [], resourceLimits });
    // It is told to each question that waits; without one there is nobody to tell.
    started.on('error', () => undefined);
    started.on('exit', () => {
      if (worker === started) worker = null;
    });
    return started;
  }

  function end(): void {
    const ending = worker;
    worker = null;
    void ending?.terminate();
  }

  /** Resolves with what ran out in place of an answer. Rejects when the signal is aborted. */
  function ask(question: TransferTask, signal: AbortSignal): Promise<TransferAnswer | keyof typeof exhausted> {
    const { promise, resolve, reject } = Promise.withResolvers<TransferAnswer | keyof typeof exhausted>();
    const asked = (worker ??= start());
    const onError = (error: NodeJS.ErrnoException) =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve('memory') : reject(error);
    const onExit = () => reject(new Error('The thread that reads prompt files ended'));
    const onAbort = () => {
      end();
      reject(new DOMException('Reading was stopped.', 'AbortError'));
    };
    const timer = setTimeout(() => {
      end();
      resolve('time');
    }, limits.milliseconds);
    asked.once('message', resolve);
    asked.once('error', onError);
    asked.once('exit', onExit);
    signal.addEventListener('abort', onAbort, { once: true });
    asked.ref();
    asked.postMessage(question);
    return promise.finally(() => {
      clearTimeout(timer);
      asked.off('message', resolve).off('error', onError).off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
      asked.unref();
    });
  }

  async function answer(question: TransferTask, outer: AbortSignal) {
    const signal = AbortSignal.any([outer, closing.signal]);
    const release = await queue.take({ signal });
    try {
      signal.throwIfAborted();
      const answered = await ask(question, signal);
      if (typeof answered === 'string') return { kind: 'exhausted', message: exhausted[answered] } as const;
      if (answered.kind === 'rejected') throw new AppError(answered.code, answered.message);
      if (answered.kind === 'failed') throw new Error(`Reading a prompt file failed: ${answered.failure}`);
      return answered;
    } finally {
      release();
    }
  }

  return {
    async read(task, { signal }) {
      const answered = await answer({ kind: 'read', task }, signal);
      if (answered.kind === 'read') return answered.result;
      const message = answered.kind === 'exhausted' ? answered.message : exhausted.time;
      const entry = { outcome: 'refused', field: 'file', message, line: null } as const;
      return { format: task.format, prompts: [], entries: [entry], references: [] };
    },
    async edit(task, { signal }) {
      const answered = await answer({ kind: 'edit', task }, signal);
      if (answered.kind === 'edit') return answered.result;
      return { text: null, problem: answered.kind === 'exhausted' ? answered.message : exhausted.time };
    },
    async find(task, { signal }) {
      const answered = await answer({ kind: 'find', task }, signal);
      return answered.kind === 'find' ? answered.result : [];
    },
    async write(task, { signal }) {
      const answered = await answer({ kind: 'write', task }, signal);
      if (answered.kind === 'write') return answered.result;
      throw new AppError('payload_too_large', 'The export takes too long or too much memory. Export fewer prompts.');
    },
    async close() {
      closing.abort(new DOMException('The host was closed.', 'AbortError'));
      const ending = worker;
      worker = null;
      await ending?.terminate();
    },
  };
}
