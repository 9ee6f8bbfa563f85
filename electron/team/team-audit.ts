import { z } from 'zod';
import type { ApiKey } from '../../shared/contract/api-keys.ts';
import type { Feedback, FeedbackEntry } from '../../shared/contract/conversations.ts';
import type { FeedbackInput } from '../../shared/contract/conversations.ts';
import {
  type AuditReportQuery,
  type AuditStore,
  type ReportedRun,
  type ReportResult,
  significant,
  walkPosition,
} from '../audit/query/audit-store.ts';
import type { WorkerClient } from '../common/worker-client.ts';
import { AwaitedList, LazyList } from '../storage/list-page.ts';
import { type ContinuationTokens, createContinuationTokens } from '../storage/continuation-token.ts';
import type { WalkPosition } from '../audit/index/audit-engine.ts';
import type { TeamMethods } from './team-client.ts';
import type { TeamRecords } from './team-records.ts';
import type { LongConversation, LongRuns, LongRunsRequest, RunOfConversation } from './team-engine.ts';

type ReportedRuns = Iterable<ReportedRun> | AwaitedList<ReportedRun>;

/** The queries of the audit over the records of all hosts. They include every run of this host that ended before the query. */
export interface TeamAudit
  extends Pick<AuditStore, 'list' | 'search' | 'summarize' | 'facets' | 'countFacets'>, Omit<TeamRecords, 'isOn'> {
  /** As that of `AuditStore`. The runs of a long conversation are read from the team database during the iteration. */
  report(query: AuditReportQuery, options: { signal: AbortSignal }): Promise<ReportResult<ReportedRuns>>;
  giveFeedback(
    run: RunOfConversation,
    input: FeedbackInput,
    options: { readonly reviewerId: string; readonly reviewer?: string | null },
  ): Promise<Feedback>;
  listFeedback(run: RunOfConversation): Promise<FeedbackEntry[]>;
}

export interface TeamAuditOptions {
  readonly client: WorkerClient<TeamMethods>;
  readonly windowCallerId: string;
  /** Writes queued runs. */
  readonly flush: () => void;
  readonly keys: () => readonly Pick<ApiKey, 'callerId' | 'name'>[];
}

interface Tokens {
  readonly report: ContinuationTokens<WalkPosition>;
  readonly list: ContinuationTokens<WalkPosition>;
  readonly snapshots: ContinuationTokens<number>;
}

/** A query waits no longer for the runs of this host: they may be millions. */
const maxFlushMs = 2000;

function nameIn(keys: ReturnType<TeamAuditOptions['keys']>, callerId: string): string {
  return keys.find((key) => key.callerId === callerId)?.name ?? 'Touchstone window';
}

async function readTokens(client: TeamAuditOptions['client']): Promise<Tokens> {
  const secret = await client.call('tokenSecret', null);
  return {
    report: createContinuationTokens(secret, 'team-audit', walkPosition),
    list: createContinuationTokens(secret, 'team-conversations', walkPosition),
    snapshots: createContinuationTokens(secret, 'team-audit-list', z.int()),
  };
}

function longConversation(
  client: TeamAuditOptions['client'],
  { conversation, matched, last }: LongConversation,
  { hasFeedback, signal }: { hasFeedback: boolean; signal: AbortSignal },
): ReportResult<ReportedRuns>['conversations'] {
  const matching = new Set(matched);
  async function* shownRuns() {
    for (let after: number | null = 0; after !== null;) {
      const input: LongRunsRequest = { id: conversation.id, after, last, hasFeedback };
      const part: LongRuns = await client.call('longRuns', input, { signal });
      for (const { sequence, run } of part.runs) yield { ...run, matched: matching.has(sequence) };
      after = part.next;
    }
  }
  return new LazyList(() => [{ ...conversation, runs: new AwaitedList(shownRuns) }].values());
}

type PagedQueries = Pick<TeamAudit, 'report' | 'list' | 'search'>;

function createPagedQueries(client: TeamAuditOptions['client'], copyRecent: () => Promise<void>): PagedQueries {
  const tokens = () => readTokens(client);
  return {
    async report({ filter, pageSize, continuationToken, hasFeedback }, { signal }) {
      const query = significant(filter);
      const { report } = await tokens();
      const position = continuationToken === null ? null : report.read(query, continuationToken);
      if (position === null) await copyRecent();
      const page = await client.call('report', { filter: query, pageSize, position, hasFeedback }, { signal });
      return {
        conversations:
          page.long === null ? page.conversations : longConversation(client, page.long, { hasFeedback, signal }),
        continuationToken: page.next === null ? null : report.write(query, page.next),
      };
    },
    async list({ callerId, pageSize, continuationToken }, { signal }) {
      const filter = significant({ callerId });
      const { list } = await tokens();
      const position = continuationToken === null ? null : list.read(filter, continuationToken);
      if (position === null) await copyRecent();
      const page = await client.call('list', { filter, pageSize, position }, { signal });
      return { data: page.data, continuationToken: page.next === null ? null : list.write(filter, page.next) };
    },
    async search({ snapshot, filter, sort, ...position }, { signal }) {
      const key = { filter: significant(filter), sort };
      const { snapshots } = await tokens();
      const last = snapshot === undefined ? null : snapshots.read(key, snapshot);
      if (last === null) await copyRecent();
      const { last: newest, ...page } = await client.call('search', { ...position, ...key, last }, { signal });
      return { ...page, snapshot: snapshots.write(key, newest) };
    },
  };
}

export function createTeamAudit({ client, windowCallerId, flush, keys }: TeamAuditOptions): TeamAudit {
  /** Copies what this host has just recorded. */
  async function copyRecent(): Promise<void> {
    flush();
    const limit = new Promise<void>((resolve) => setTimeout(resolve, maxFlushMs).unref());
    await Promise.race([client.call('flush', null), limit]);
  }

  return {
    ...createPagedQueries(client, copyRecent),
    async selectRuns(filter, max, { signal }) {
      await copyRecent();
      return client.call('selectRuns', { filter: significant(filter), max }, { signal });
    },
    readRuns: (ids) => client.call('readRuns', ids),
    findMissing: (conversations) => client.call('findMissing', conversations),
    async countSample(fields, { signal }) {
      await copyRecent();
      return client.call('countSample', { ...fields, filter: significant(fields.filter) }, { signal });
    },
    async drawSample(fields, seed, { signal }) {
      await copyRecent();
      const significantFields = { ...fields, filter: significant(fields.filter) };
      return client.call('drawSample', { fields: significantFields, seed }, { signal });
    },
    async writeSnapshot(request, { signal }) {
      await copyRecent();
      return client.call('writeSnapshot', request, { signal });
    },
    summarize: ({ filter, bucketSize }, { signal }) =>
      client.call('summarize', { filter: significant(filter), bucketSize }, { signal }),
    countFacets: ({ filter }, { signal }) => client.call('countFacets', { filter: significant(filter) }, { signal }),
    facets: ({ signal }) => client.call('facets', windowCallerId, { signal }),
    readConversation: (id, { signal, ...options }) =>
      client.call('readConversation', { id, ...options }, signal && { signal }),
    listFeedback: (run) => client.call('listFeedback', run),
    giveFeedback: (run, input, { reviewerId, reviewer }) =>
      client.call('giveFeedback', { run, input, reviewer: reviewer ?? nameIn(keys(), reviewerId) }),
  };
}
