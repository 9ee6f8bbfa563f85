import type { AuditFacetCounts, AuditFilter, AuditSummary } from '../../../shared/contract/audit.ts';
import type { Conversation } from '../../../shared/contract/conversations.ts';
import type { CallContext } from '../../common/worker-server.ts';
import type { IndexFacets } from '../query/facets.ts';
import type { ReportPage, WalkPosition, WalkRequest } from './audit-engine.ts';
import type { Selection } from '../query/selection.ts';
import type { SearchPage, SearchRequest } from '../query/window-list.ts';

type Method<Input, Result> = (input: Input, context: CallContext) => Result | Promise<Result>;

/** What the host calls in the audit thread. */
export interface AuditMethods {
  /** Starts to index what was recorded, and checkpoints the log. */
  readonly follow: Method<null, void>;
  /** Checkpoints the database's log if it is long enough. */
  readonly writeBack: Method<null, void>;
  /** Indexes what was removed. Then erases what is left of it in the index and in the logs while no query runs. */
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
