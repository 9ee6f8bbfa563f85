import type { AuditFacetCounts, AuditFacets, AuditFilter, AuditSummary } from '../../shared/contract/audit.ts';
import type {
  Conversation,
  ConversationRun,
  Feedback,
  FeedbackEntry,
  FeedbackInput,
} from '../../shared/contract/conversations.ts';
import type { TeamMembers, TeamState, TeamTest } from '../../shared/contract/team.ts';
import type { WalkPosition, WalkRequest } from '../audit/index/audit-engine.ts';
import type { SearchPage, SearchRequest } from '../audit/query/window-list.ts';
import type { Sample, SampledFields, SampleSize } from '../reviews/choose-items.ts';
import { createWorkerClient, startThread, type WorkerClient } from '../common/worker-client.ts';
import type { CallContext } from '../common/worker-server.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { CreditLease, CreditRequest } from '../credits/credits.ts';
import type { TeamAddress } from '../../shared/team-address.ts';
import type { KeyExchangeTarget, KeysEvent } from './key-exchange.ts';
import type { Membership } from '../storage/conversations.ts';
import type { ExportRow } from '../storage/export-rows.ts';
import type { LongRuns, LongRunsRequest, RunOfConversation, TeamReportPage } from './team-engine.ts';
import type { TeamReviewMethods } from './team-reviews.ts';
import type { SelectedRuns, SnapshotRequest } from './team-runs.ts';

type Method<Input, Result> = (input: Input, context: CallContext) => Result | Promise<Result>;

interface Target {
  readonly address: TeamAddress;
  readonly password: string | null;
}

/** The progress of the copier. */
export interface CopyEvent extends Pick<
  TeamState,
  'status' | 'waitingRuns' | 'waitingChanges' | 'copied' | 'rejected' | 'message'
> {
  /** How long until it connects again; null unless it waits for that. */
  readonly retryMs: number | null;
  readonly mark: CopiedMark;
}

/** How far the team database has the records of this device. */
export interface CopiedMark {
  readonly run: number;
  readonly revision: number;
}

export type TeamEvent = CopyEvent | KeysEvent;

/** The methods of the team thread. */
export interface TeamMethods {
  /** Copies to this database from now on. Connection failures are events. */
  readonly start: Method<Target & { keys: Omit<KeyExchangeTarget, keyof Target> | null; mark: CopiedMark }, void>;
  readonly stop: Method<null, void>;
  readonly test: Method<Target, Omit<TeamTest, 'authority'>>;
  readonly members: Method<null, TeamMembers>;
  readonly removeHost: Method<string, void>;
  /** Resolves when everything is copied, or copying has failed. */
  readonly flush: Method<null, void>;
  /** The same for all hosts, so that one continues the pages of another. */
  readonly tokenSecret: Method<null, string>;
  readonly report: Method<WalkRequest & { hasFeedback: boolean }, TeamReportPage>;
  readonly longRuns: Method<LongRunsRequest, LongRuns>;
  readonly list: Method<WalkRequest, { data: Conversation[]; next: WalkPosition | null }>;
  readonly search: Method<SearchRequest, SearchPage>;
  readonly summarize: Method<
    { filter: AuditFilter; bucketSize?: AuditSummary['bucketSize'] | undefined },
    AuditSummary
  >;
  readonly countFacets: Method<{ filter: AuditFilter }, AuditFacetCounts>;
  readonly facets: Method<string, AuditFacets>;
  readonly readConversation: Method<
    { id: string; hasFeedback: boolean; callerId?: string | undefined },
    (Conversation & { runs: ConversationRun[] }) | null
  >;
  readonly findConversation: Method<string, Membership | null>;
  readonly selectRuns: Method<{ filter: AuditFilter; max: number }, SelectedRuns>;
  readonly readRuns: Method<readonly string[], ExportRow[]>;
  readonly findMissing: Method<readonly string[], number>;
  readonly writeSnapshot: Method<SnapshotRequest, Int32Array>;
  readonly countSample: Method<SampledFields, SampleSize>;
  readonly drawSample: Method<{ fields: SampledFields; seed: number }, Sample>;
  readonly listFeedback: Method<RunOfConversation, FeedbackEntry[]>;
  readonly reviews: (input: { name: keyof TeamReviewMethods; input: unknown }) => Promise<unknown>;
  readonly acquireCredits: Method<CreditRequest, CreditLease>;
  readonly lowerCredits: Method<{ keyId: string; ceiling: number }, void>;
  readonly giveFeedback: Method<{ run: RunOfConversation; input: FeedbackInput; reviewer: string }, Feedback>;
}

/** The client of the team thread, which starts with the first call. */
export function createTeamClient(
  directory: string,
  handlers: { readonly onEvent: (event: TeamEvent) => void; readonly onCrash: (reason: Error) => void },
): WorkerClient<TeamMethods> {
  return createWorkerClient<TeamMethods>({
    name: 'The team database',
    start: () => startThread(workerUrl(import.meta.url, 'team-thread'), { data: { directory } }),
    ...handlers,
  });
}
