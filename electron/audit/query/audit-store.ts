import { z } from 'zod';
import type {
  AuditFacetCounts,
  AuditFacets,
  AuditFilter,
  AuditPage,
  AuditReport,
  AuditSort,
  AuditSummary,
} from '../../../shared/contract/audit.ts';
import type { Conversation, ConversationDetail, ConversationRun } from '../../../shared/contract/conversations.ts';
import { createContinuationTokens } from '../../storage/continuation-token.ts';
import { LazyList } from '../../storage/list-page.ts';
import { prepareQuery } from '../../storage/queries.ts';
import { createAuditClient } from '../index/audit-client.ts';
import type { ReportOutline } from '../index/audit-engine.ts';
import { createConversationRows } from './conversation-rows.ts';
import { createFeedbackStore, type FeedbackStore } from './feedback-store.ts';
import type { Selection } from './selection.ts';
import { type AuditViewStore, createAuditViews } from './views.ts';
import type Database from 'better-sqlite3';

interface Cancellable {
  readonly signal: AbortSignal;
}

export interface AuditReportQuery {
  readonly filter: AuditFilter;
  readonly pageSize: number;
  readonly continuationToken: string | null;
  readonly hasFeedback: boolean;
}

export interface AuditSearchQuery {
  readonly filter: AuditFilter;
  readonly sort: AuditSort;
  readonly limit: number;
  readonly snapshot?: string | undefined;
  readonly offset?: number | undefined;
  readonly at?: string | undefined;
  readonly around?: string | undefined;
}

/** A conversation with its runs, which can be larger than memory. */
export type StoredConversation = Conversation &
  Pick<ConversationDetail, 'isIncomplete'> & { readonly runs: Iterable<ConversationRun> };

export type ReportedRun = AuditReport['conversations'][number]['runs'][number];
type ReportedConversation<Runs = Iterable<ReportedRun>> = Conversation & { readonly runs: Runs };

/** A page of the report. Long conversations are read during the iteration. */
export interface ReportResult<Runs = Iterable<ReportedRun>> {
  readonly conversations: Iterable<ReportedConversation<Runs>>;
  readonly continuationToken: string | null;
}

/** Queries over all recorded runs. Results include all runs that ended before the query. */
export interface AuditStore extends FeedbackStore {
  /**
   * Conversations with at least one matching run, with all their runs, starting with the conversation with the newest run. All pages show
   * the runs that existed at the first one. Throws `invalid_request` for a token of other filters.
   */
  report(query: AuditReportQuery, options: Cancellable): Promise<ReportResult>;
  /** Conversations without their runs, in the same order. */
  list(
    query: { callerId: string | null; pageSize: number; continuationToken: string | null },
    options: Cancellable,
  ): Promise<{ data: Conversation[]; continuationToken: string | null }>;
  /** Null for an unknown id. */
  readConversation(id: string, options: { hasFeedback: boolean }): StoredConversation | null;
  /** Lines of the window's list. Throws `invalid_request` for a snapshot of another list. */
  search(query: AuditSearchQuery, options: Cancellable): Promise<AuditPage>;
  /** All matches of a filter of the window, now or when `last` was the newest `runs.sequence`. */
  select(filter: AuditFilter, options: Cancellable & { last?: number }): Promise<Selection>;
  summarize(
    query: { filter: AuditFilter; bucketSize?: AuditSummary['bucketSize'] | undefined },
    options: Cancellable,
  ): Promise<AuditSummary>;
  facets(options: Cancellable): Promise<AuditFacets>;
  countFacets(query: { filter: AuditFilter }, options: Cancellable): Promise<AuditFacetCounts>;
  readonly views: AuditViewStore;
}

export interface AuditStoreOptions {
  readonly database: Database.Database;
  readonly directory: string;
  readonly tokenSecret: string;
  readonly windowCallerId: string;
  /** Writes queued runs, so that queries include them. */
  readonly flush: () => void;
}

export const walkPosition = z.object({ last: z.int(), time: z.number(), id: z.string() });

/** A filter without empty conditions, so that equal filters have equal tokens. */
export function significant(filter: AuditFilter): Partial<AuditFilter> {
  const entries = Object.entries(filter as Record<string, unknown>).flatMap(([name, value]): [string, unknown][] => {
    if (value === null || value === undefined) return [];
    if (typeof value !== 'object' || Array.isArray(value)) return [[name, value]];
    const inner = name === 'appHeaders' ? value : significant(value as AuditFilter);
    return Object.keys(inner).length === 0 ? [] : [[name, inner]];
  });
  return Object.fromEntries(entries);
}

export function createAuditStore(options: AuditStoreOptions) {
  const { database, directory, tokenSecret, windowCallerId, flush } = options;
  const client = createAuditClient(directory);
  const rows = createConversationRows(database);
  const queries = auditStoreQueries(database);
  const feedback = createFeedbackStore(database);
  const reportTokens = createContinuationTokens(tokenSecret, 'audit', walkPosition);
  const listTokens = createContinuationTokens(tokenSecret, 'conversations', walkPosition);
  const snapshots = createContinuationTokens(tokenSecret, 'audit-list', z.int());

  function longConversations(
    { outlines, last }: { outlines: readonly ReportOutline[]; last: number },
    hasFeedback: boolean,
  ): LazyList<ReportedConversation> {
    function* shownRuns({ sequence, matched }: ReportOutline) {
      const matching = new Set(matched);
      for (const { sequence: number, run } of rows.eachRun(sequence, last, hasFeedback)) {
        yield { ...run, matched: matching.has(number) };
      }
    }
    return new LazyList(function* () {
      for (const outline of outlines) yield { ...outline.conversation, runs: new LazyList(() => shownRuns(outline)) };
    });
  }

  const store: AuditStore = {
    views: createAuditViews(database),
    async report({ filter, pageSize, continuationToken, hasFeedback }, { signal }) {
      const query = significant(filter);
      const position = continuationToken === null ? null : reportTokens.read(query, continuationToken);
      flush();
      const page = await client.call('report', { filter: query, pageSize, position, hasFeedback }, { signal });
      const token = page.next === null ? null : reportTokens.write(query, page.next);
      const shown = page.long === null ? page.conversations : longConversations(page.long, hasFeedback);
      return { conversations: shown, continuationToken: token };
    },
    async list({ callerId, pageSize, continuationToken }, { signal }) {
      const filter = significant({ callerId });
      const position = continuationToken === null ? null : listTokens.read(filter, continuationToken);
      flush();
      const page = await client.call('list', { filter, pageSize, position }, { signal });
      return { data: page.data, continuationToken: page.next === null ? null : listTokens.write(filter, page.next) };
    },
    readConversation(id, { hasFeedback }) {
      flush();
      const found = queries.find.first({ id: id.toLowerCase() });
      if (!found) return null;
      // Runs that are recorded during the iteration aren't included.
      const last = queries.last.first({})?.sequence ?? 0;
      const runs = function* () {
        for (const { run } of rows.eachRun(found.sequence, last, hasFeedback)) yield run;
      };
      return { ...rows.conversation(found.sequence), runs: new LazyList(runs) };
    },
    giveFeedback(run, input, reviewer) {
      flush();
      return feedback.giveFeedback(run, input, reviewer);
    },
    hasRun(run) {
      flush();
      return feedback.hasRun(run);
    },
    listFeedback(run) {
      flush();
      return feedback.listFeedback(run);
    },
    async search({ snapshot, filter, sort, ...position }, { signal }) {
      const key = { filter: significant(filter), sort };
      const last = snapshot === undefined ? null : snapshots.read(key, snapshot);
      flush();
      const { last: newest, ...page } = await client.call('search', { ...position, ...key, last }, { signal });
      return { ...page, snapshot: snapshots.write(key, newest) };
    },
    async select(filter, { signal, last = null }) {
      flush();
      return client.call('select', { filter: significant(filter), last }, { signal });
    },
    async summarize({ filter, bucketSize }, { signal }) {
      flush();
      return client.call('summarize', { filter: significant(filter), bucketSize }, { signal });
    },
    async countFacets({ filter }, { signal }) {
      flush();
      return client.call('countFacets', { filter: significant(filter) }, { signal });
    },
    async facets({ signal }) {
      flush();
      const facets = await client.call('facets', null, { signal });
      const names = new Map(queries.callers.all({}).map((key) => [key.caller_id, key.name]));
      return {
        ...facets,
        windowCallerId,
        callers: facets.callers.map((caller) => ({ ...caller, name: names.get(caller.callerId) ?? null })),
      };
    },
  };

  const { noteRuns, noteChanges, noteRemovals, close } = client;
  return { store, noteRuns, noteChanges, noteRemovals, close };
}

function auditStoreQueries(database: Database.Database) {
  return {
    find: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('conversations').select('sequence').where('id', '=', input.id),
    ),
    last: prepareQuery(database, (tables) =>
      tables.selectFrom('runs').select('sequence').orderBy('sequence', 'desc').limit(1),
    ),
    callers: prepareQuery(database, (tables) => tables.selectFrom('api_keys').select(['caller_id', 'name'])),
  };
}
