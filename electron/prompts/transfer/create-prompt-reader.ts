import { AppError } from '../../../shared/app-error.ts';
import { createLimitedCalls } from '../../common/limited-calls.ts';
import { createWorkerClient, startThread } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { EditedFile, EditTask } from '../folder/edit-prompt-file.ts';
import type { WriteTask, WrittenFiles } from './export-prompts.ts';
import type { ReadPrompts, ReadTask } from './read-prompts.ts';
import type { FindTask, ResolvedReference } from './referenced-files.ts';
import type { TransferMethods } from './transfer-worker.ts';

interface ReaderOptions {
  readonly signal: AbortSignal;
}

/**
 * Reads, edits and writes prompt files one at a time in a thread with limits of memory and time, because a malicious file may
 * exhaust either. The result names the limit that was reached.
 */
export interface PromptReader {
  read(task: ReadTask, options: ReaderOptions): Promise<ReadPrompts>;
  edit(task: EditTask, options: ReaderOptions): Promise<EditedFile>;
  /** Finds the files at each path or pattern. Patterns from a file may take long to match. */
  find(task: FindTask, options: ReaderOptions): Promise<readonly ResolvedReference[]>;
  /** Files with prompts. Throws `payload_too_large` for an export that is too large. */
  write(task: WriteTask, options: ReaderOptions): Promise<WrittenFiles>;
  close(): Promise<void>;
}

export interface ReaderLimits {
  /** Time limit for one file. */
  readonly milliseconds: number;
  /** Characters of the thread's result, without the file itself. */
  readonly megabytes: number;
}

/** A file at the limits of its format takes a few seconds on a slow machine. */
const defaultLimits: ReaderLimits = { milliseconds: 20_000, megabytes: 512 };

export function createPromptReader(limits: ReaderLimits = defaultLimits): PromptReader {
  const worker = createWorkerClient<TransferMethods>({
    name: 'Reading a prompt file',
    start: () => startThread(workerUrl(import.meta.url, 'transfer-worker'), { maxHeapMegabytes: limits.megabytes }),
  });

  const limited = createLimitedCalls(worker, {
    milliseconds: limits.milliseconds,
    tooLong: 'The file takes too long to read',
    tooLarge: 'The file needs too much memory to read',
  });

  return {
    async read(task, { signal }) {
      const result = await limited.run(signal, (options) => worker.call('readPrompts', task, options));
      if (typeof result !== 'string') return result;
      const entry = { outcome: 'refused', field: 'file', message: result, line: null } as const;
      return { format: task.format, prompts: [], entries: [entry], references: [] };
    },
    async edit(task, { signal }) {
      const result = await limited.run(signal, (options) => worker.call('editPromptFile', task, options));
      return typeof result === 'string' ? { text: null, problem: result } : result;
    },
    async find(task, { signal }) {
      const result = await limited.run(signal, (options) => worker.call('findReferences', task, options));
      return typeof result === 'string' ? [] : result;
    },
    async write(task, { signal }) {
      const result = await limited.run(signal, (options) => worker.call('writeFiles', task, options));
      if (typeof result !== 'string') return result;
      throw new AppError('payload_too_large', 'The export takes too long or too much memory. Export fewer prompts.');
    },
    close: limited.close,
  };
}
