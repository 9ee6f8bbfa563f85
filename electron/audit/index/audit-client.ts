import { Worker } from 'node:worker_threads';
import { AppError } from '../../../shared/app-error.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { AuditAnswer, AuditCalls, AuditMessage } from './audit-calls.ts';

/** How long recorded runs wait for company before they are indexed; a question makes up for it at once. */
const noteDelayMilliseconds = 250;

export interface AuditClient {
  call<Method extends keyof AuditCalls>(
    method: Method,
    input: Parameters<AuditCalls[Method]>[0],
    options: { signal: AbortSignal },
  ): Promise<Awaited<ReturnType<AuditCalls[Method]>>>;
  /** Tells that runs were recorded; costs next to nothing. */
  noteRuns(): void;
  /**
   * Tells that many runs were changed or removed: the log is written back. The index follows at the next question, because it reads much of itself
   * anew for every such change.
   */
  noteChanges(): void;
  /** Tells that this is over for now, so that nothing of what was removed stays behind. */
  noteRemovals(): void;
  close(): Promise<void>;
}

type Pending = PromiseWithResolvers<never>;

/** What is not an expected failure must not be shown to a caller, so it crosses as a plain error, which is logged. */
function failureOf({ code, message, details, cause }: NonNullable<AuditAnswer['error']>): Error {
  if (code !== 'internal') return new AppError(code, message, { details: [...details] });
  return Object.assign(new Error(message), { code: cause });
}

/** Speaks with the audit's thread, which begins when it is first needed. */
export function createAuditClient(directory: string): AuditClient {
  const pending = new Map<number, Pending>();
  let worker: Worker | null = null;
  let lastId = 0;
  let noteTimer: NodeJS.Timeout | null = null;
  let noted: 'follow' | 'writeBack' | null = null;
  let isClosed = false;

  function settle({ id, result, error }: AuditAnswer): void {
    const waiting = pending.get(id);
    pending.delete(id);
    // While it is closing it is waited for, whatever else it still says.
    if (pending.size === 0 && !isClosed) worker?.unref();
    if (error) waiting?.reject(failureOf(error));
    else waiting?.resolve(result as never);
  }

  function failAll(error: unknown): void {
    worker = null;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  }

  function startedWorker(): Worker {
    if (worker) return worker;
    const started = new Worker(workerUrl(import.meta.url, 'audit-thread'), { workerData: { directory } });
    started.unref();
    started.on('message', settle);
    // The next question begins a new one.
    started.on('error', failAll);
    started.on('exit', () => worker === started && failAll(new Error('The thread of the audit ended.')));
    return (worker = started);
  }

  function post(method: keyof AuditCalls, input: unknown): number {
    lastId += 1;
    startedWorker().postMessage({ id: lastId, method, input } satisfies AuditMessage);
    return lastId;
  }

  function note(method: 'follow' | 'writeBack'): void {
    if (noted !== 'follow') noted = method;
    noteTimer ??= setTimeout(() => {
      noteTimer = null;
      post(noted!, null);
      noted = null;
    }, noteDelayMilliseconds).unref();
  }

  return {
    async call(method, input, { signal }) {
      signal.throwIfAborted();
      if (isClosed) throw new Error('The audit is closed.');
      const id = post(method, input);
      const waiting: Pending = Promise.withResolvers();
      pending.set(id, waiting);
      // While an answer is awaited the process must not end.
      worker?.ref();
      const cancel = () => {
        waiting.reject(signal.reason);
        worker?.postMessage({ cancel: id } satisfies AuditMessage);
        settle({ id });
      };
      signal.addEventListener('abort', cancel);
      return waiting.promise.finally(() => signal.removeEventListener('abort', cancel));
    },
    noteRuns: () => note('follow'),
    noteChanges: () => note('writeBack'),
    noteRemovals() {
      if (!isClosed) post('erase', null);
    },
    async close() {
      isClosed = true;
      if (noteTimer) clearTimeout(noteTimer);
      if (worker === null) return;
      const ending = worker;
      // Also after an error, with which `once` of node:events would reject.
      const ended = new Promise((resolve) => void ending.once('exit', resolve));
      worker.ref();
      worker.postMessage('close' satisfies AuditMessage);
      await ended;
    },
  };
}
