import { Worker } from 'node:worker_threads';
import { workerUrl } from '../common/worker-url.ts';
import type { AnalyzedWindow } from './analyze-text.ts';
import type { AnalysisAnswer, AnalysisQuestion } from './text-analysis-worker.ts';

export interface TextAnalysis {
  /** `analyzeText` in a thread of its own: a text of 1 MB takes it a second or two. Rejects when the signal is aborted. */
  analyze(input: string, options: { readonly signal: AbortSignal }): Promise<readonly AnalyzedWindow[]>;
  close(): Promise<void>;
}

interface Pending {
  readonly resolve: (windows: readonly AnalyzedWindow[]) => void;
  readonly reject: (error: Error) => void;
}

/** Starts its thread with the first text. */
export function createTextAnalysis(): TextAnalysis {
  const pending = new Map<number, Pending>();
  let worker: Worker | null = null;
  let lastId = 0;

  function failAll(error: Error): void {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  }

  function start(): Worker {
    const started = new Worker(workerUrl(import.meta.url, 'text-analysis-worker'), { execArgv: [] });
    started.on('message', (answer: AnalysisAnswer) => {
      const question = pending.get(answer.id);
      if ('windows' in answer) question?.resolve(answer.windows);
      else question?.reject(new Error(`Reading the text failed: ${answer.failure}`));
    });
    const onEnd = (error: Error) => {
      if (worker !== started) return;
      worker = null;
      failAll(error);
    };
    started.on('error', onEnd);
    started.on('exit', (code) => onEnd(new Error(`The thread that reads texts ended with exit code ${code}`)));
    started.unref();
    return started;
  }

  return {
    async analyze(input, { signal }) {
      signal.throwIfAborted();
      const id = (lastId += 1);
      const { promise, resolve, reject } = Promise.withResolvers<readonly AnalyzedWindow[]>();
      const onAbort = () => reject(new DOMException('The check was stopped.', 'AbortError'));
      signal.addEventListener('abort', onAbort, { once: true });
      worker ??= start();
      worker.ref();
      pending.set(id, { resolve, reject });
      worker.postMessage({ id, input } satisfies AnalysisQuestion);
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', onAbort);
        pending.delete(id);
        if (pending.size === 0) worker?.unref();
      }
    },
    async close() {
      const ending = worker;
      worker = null;
      failAll(new DOMException('The host was closed.', 'AbortError'));
      await ending?.terminate();
    },
  };
}
