import { createWorkerClient, startThread, type WorkerClient } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { AuditMethods } from './audit-methods.ts';

/** Recorded runs are indexed together after this time; a query indexes them at once. */
const notifyDelayMs = 250;

export interface AuditClient {
  readonly call: WorkerClient<AuditMethods>['call'];
  /** Says that runs were recorded. Cheap. */
  noteRuns(): void;
  /**
   * Says that many runs were changed or removed: the thread checkpoints the log. It updates the index with the next query, because it reads
   * much of the index again for each such change.
   */
  noteChanges(): void;
  /** Says that a removal is complete: the thread erases what is left of the removed runs. */
  noteRemovals(): void;
  close(): Promise<void>;
}

/** Talks to the audit thread, which starts with the first call. */
export function createAuditClient(directory: string): AuditClient {
  const worker = createWorkerClient<AuditMethods>({
    name: 'The audit',
    start: () => startThread(workerUrl(import.meta.url, 'audit-thread'), { data: { directory } }),
  });
  let timer: NodeJS.Timeout | null = null;
  let pendingMethod: 'follow' | 'writeBack' | null = null;

  function notifySoon(method: 'follow' | 'writeBack'): void {
    if (pendingMethod !== 'follow') pendingMethod = method;
    timer ??= setTimeout(() => {
      timer = null;
      worker.notify(pendingMethod!, null);
      pendingMethod = null;
    }, notifyDelayMs).unref();
  }

  return {
    call: worker.call,
    noteRuns: () => notifySoon('follow'),
    noteChanges: () => notifySoon('writeBack'),
    noteRemovals: () => worker.notify('erase', null),
    async close() {
      if (timer) clearTimeout(timer);
      await worker.dispose();
    },
  };
}
