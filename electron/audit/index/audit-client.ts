import { createWorkerClient, startThread, type WorkerClient } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { AuditFacetCounts, AuditFilter, AuditSummary } from '../../../shared/contract/audit.ts';
import type { Conversation } from '../../../shared/contract/conversations.ts';
import type { CallContext } from '../../common/worker-server.ts';
import type { IndexFacets } from '../query/facets.ts';
import type { ReportPage, WalkPosition, WalkRequest } from './audit-engine.ts';
import type { Selection } from '../query/selection.ts';
import type { SearchPage, SearchRequest } from '../query/window-list.ts';

type Method<Input, Result> = (input: Input, context: CallContext) => Result | Promise<Result>;

/** The methods of the audit thread that the host calls. */
export interface AuditMethods {
  /** Starts to index recorded runs, and checkpoints the log. */
  readonly follow: Method<null, void>;
  /** Checkpoints the database's log if it is long enough. */
  readonly writeBack: Method<null, void>;
  /** Indexes removals. Then erases the rest of the removed runs from the index and the logs while no query runs. */
  readonly erase: Method<null, void>;
  readonly report: Method<WalkRequest & { hasFeedback: boolean }, ReportPage>;
  readonly list: Method<WalkRequest, { data: Conversation[]; next: WalkPosition | null }>;
  readonly search: Method<SearchRequest, SearchPage>;
  readonly select: Method<{ filter: AuditFilter; last: number | null }, Selection>;
  readonly summarize: Method<
    { filter: AuditFilter; bucketSize?: AuditSummary['bucketSize'] | undefined },
    AuditSummary
  >;
  readonly facets: Method<null, IndexFacets>;
  readonly countFacets: Method<{ filter: AuditFilter }, AuditFacetCounts>;
}

/** Recorded runs are indexed together after this time; a query indexes them at once. */
const notifyDelayMs = 250;

export interface AuditClient {
  readonly call: WorkerClient<AuditMethods>['call'];
  /** Call it when runs were recorded. Cheap. */
  noteRuns(): void;
  /**
   * Call it when many runs were changed or removed: the thread checkpoints the log. It updates the index with the next query,
   * because each such change makes it read much of the index again.
   */
  noteChanges(): void;
  /** Call it when a removal is complete: the thread erases the rest of the removed runs. */
  noteRemovals(): void;
  close(): Promise<void>;
}

/** The client of the audit thread, which starts with the first call. */
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
