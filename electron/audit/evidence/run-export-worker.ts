import { Worker } from 'node:worker_threads';
import { errorFromBody } from '../../../shared/app-error.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { ExportMessage, ExportTask } from './export-messages.ts';

export interface ExportWorkerOptions {
  readonly onMessage: (message: ExportMessage) => void;
  /** Ends the worker, a pack's at its next checkpoint. */
  readonly signal: AbortSignal;
}

/**
 * Does a task in a thread of its own, so that no pattern and no long text holds the service. Resolves when the thread has
 * ended, also when it was stopped. Throws what went wrong in it: `AppError` for what is expected.
 */
export function runExportWorker(task: ExportTask, { onMessage, signal }: ExportWorkerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerUrl(import.meta.url, 'export-worker'), { workerData: task });
    // A preview leaves nothing behind: it need not come to an end.
    const stop = () => (task.kind === 'preview' ? void worker.terminate() : worker.postMessage('stop'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    worker.on('message', (message: ExportMessage) => {
      if (message.type === 'failed') reject(failureOf(message));
      else onMessage(message);
    });
    worker.on('error', reject);
    worker.on('exit', () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
}

function failureOf({ message, stack, body }: Extract<ExportMessage, { type: 'failed' }>): Error {
  if (body !== null) return errorFromBody(body, message);
  const error = new Error(message);
  error.stack = stack;
  return error;
}
