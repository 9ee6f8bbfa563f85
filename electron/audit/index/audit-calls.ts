import type { ErrorCode, ErrorDetail } from '../../../shared/app-error.ts';
import type { AuditFacetCounts, AuditFilter, AuditSummary } from '../../../shared/contract/audit.ts';
import type { Conversation } from '../../../shared/contract/conversations.ts';
import type { IndexFacets } from '../query/facets.ts';
import type { ReportPage, WalkPosition, WalkRequest } from './audit-engine.ts';
import type { Selection } from '../query/selection.ts';
import type { SearchPage, SearchRequest } from '../query/window-list.ts';

type Result<Value> = Value | Promise<Value>;

/** What the host's thread may ask of the audit's. */
export interface AuditCalls {
  /** Takes up what was recorded, without being waited for, and writes the log back. */
  follow(input: null): Result<void>;
  /** Writes the database's log back where there is enough of it. */
  writeBack(input: null): Result<void>;
  /** Takes up what was removed, and clears what is left of it in the index and in the logs when nothing is asked. */
  erase(input: null): Result<void>;
  report(input: WalkRequest & { hasFeedback: boolean }): Result<ReportPage>;
  list(input: WalkRequest): Result<{ data: Conversation[]; next: WalkPosition | null }>;
  search(input: SearchRequest): Result<SearchPage>;
  select(input: { filter: AuditFilter; last: number | null }): Result<Selection>;
  summarize(
    input: { filter: AuditFilter; bucketSize?: AuditSummary['bucketSize'] | undefined },
    turn?: () => Promise<void>,
  ): Result<AuditSummary>;
  facets(input: null): Result<IndexFacets>;
  countFacets(input: { filter: AuditFilter }, turn?: () => Promise<void>): Result<AuditFacetCounts>;
}

export interface AuditCall {
  readonly id: number;
  readonly method: keyof AuditCalls;
  readonly input: unknown;
}

/** What the audit's thread is sent. A call that is cancelled is not answered, unless it has been already. */
export type AuditMessage = AuditCall | { readonly cancel: number } | 'close';

export interface AuditAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details: readonly ErrorDetail[];
    /** The code that Node or SQLite gave a failure that nobody expected. */
    readonly cause?: string | undefined;
  };
}
