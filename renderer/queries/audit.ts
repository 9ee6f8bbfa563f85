import { keepPreviousData, type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import {
  type AuditFilter,
  type AuditPage,
  countAuditFacets,
  readAuditFacets,
  summarizeAudit,
} from '../../shared/contract/audit.ts';
import {
  type ConversationDetail,
  type Feedback,
  type FeedbackInput,
  giveFeedback,
  listFeedback,
  readConversation,
} from '../../shared/contract/conversations.ts';
import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';
import { feedbackInput } from '../stores/audit.ts';
import { auditListKey, auditRowsKey } from './audit-list.ts';
import { runsKey } from './runs.ts';
import {
  loadAuditSamples,
  previewRetention,
  readAuditSamples,
  readRetention,
  removeAuditSamples,
  type Retention,
} from '../../shared/contract/audit-data.ts';
import { hostKey } from './host-state.ts';
import { useUpdateSettings } from './settings.ts';
import { useAuditSource } from './team.ts';

export const auditKey = ['audit'] as const;
export const auditFacetsKey = ['audit', 'facets'] as const;
export const auditSummaryKey = ['audit', 'summary'] as const;

/** Statistics of all runs that match a filter, also over time. */
export function useAuditSummary(filter: AuditFilter) {
  const source = useAuditSource();
  const { client } = useHost();
  return useQuery({
    queryKey: [...auditSummaryKey, filter, source],
    queryFn: ({ signal }) => client.call(summarizeAudit, { signal, body: { filter, source } }),
    placeholderData: keepPreviousData,
  });
}

/** All existing models, callers, tags and headers. */
export function useAuditFacets() {
  const source = useAuditSource();
  const { client } = useHost();
  return useQuery({
    queryKey: [...auditFacetsKey, 'all', source],
    queryFn: ({ signal }) => client.call(readAuditFacets, { signal, query: { source } }),
  });
}

/** How many runs each value would match, with the rest of the filter. */
export function useAuditFacetCounts(filter: AuditFilter) {
  const source = useAuditSource();
  const { client } = useHost();
  return useQuery({
    queryKey: [...auditFacetsKey, filter, source],
    queryFn: ({ signal }) => client.call(countAuditFacets, { signal, body: { filter, source } }),
    placeholderData: keepPreviousData,
  });
}

const feedbackKey = ['feedback'] as const;

export function conversationKey(conversationId: string | null) {
  return ['audit', 'conversation', conversationId] as const;
}

/** Drops cached conversations that nothing shows: opened from the cache, one would show what the host has changed since. */
export function forgetHiddenConversations(queryClient: QueryClient): void {
  queryClient.removeQueries({ queryKey: [...auditKey, 'conversation'], type: 'inactive' });
}

/**
 * Reads again what shows feedback, after reviews that may have become feedback. Feedback is saved as a whole: a comment on a cached run
 * without its new score would delete the score.
 */
export async function renewFeedback(queryClient: QueryClient): Promise<void> {
  forgetHiddenConversations(queryClient);
  await Promise.all(
    // The playground's history shows scores.
    [auditKey, [...runsKey, 'list']].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  );
}

function readOne(client: Client, id: string, signal: AbortSignal): Promise<ConversationDetail> {
  return client.call(readConversation, { signal, parameters: { id } });
}

/** Prefetches a conversation that is likely to be the next one. */
export function useReadAhead(): (conversationId: string) => void {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useCallback(
    (id) =>
      void queryClient.prefetchQuery({
        queryKey: conversationKey(id),
        queryFn: ({ signal }) => readOne(client, id, signal),
      }),
    [client, queryClient],
  );
}

/** One conversation with its runs. The previous one stays until it has loaded. */
export function useConversation(conversationId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: conversationKey(conversationId),
    enabled: conversationId !== null,
    queryFn: ({ signal }) => readOne(client, conversationId ?? '', signal),
    placeholderData: keepPreviousData,
  });
}

/** All feedback on a run, newest first; read when `isEnabled`, and again after each change. */
export function useFeedbackHistory(conversationId: string, runId: string, isEnabled: boolean) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...conversationKey(conversationId), 'feedback', runId],
    enabled: isEnabled,
    queryFn: ({ signal }) => client.call(listFeedback, { signal, parameters: { conversationId, runId } }),
  });
}

interface RunFeedback {
  conversationId: string;
  runId: string;
  feedback: FeedbackInput;
}

function showFeedback(queryClient: QueryClient, { conversationId, runId, feedback }: RunFeedback): void {
  const { score = null, scoreText = null, scoreTags = null } = feedback;
  const isEmpty = score === null && scoreText === null && scoreTags === null;
  const shown: Feedback | null = isEmpty ? null : { score, scoreText, scoreTags, updatedAt: new Date().toISOString() };
  queryClient.setQueryData<ConversationDetail>(
    conversationKey(conversationId),
    (known) =>
      known && {
        ...known,
        runs: known.runs.map((run) => (run.conversationRunId === runId ? { ...run, feedback: shown } : run)),
      },
  );
  const inPage = <Page extends AuditPage>(page: Page | undefined): Page | undefined =>
    page?.rows.some(({ run }) => run.runId === runId)
      ? {
          ...page,
          rows: page.rows.map((row) =>
            row.run.runId === runId ? { ...row, run: { ...row.run, feedback: shown } } : row,
          ),
        }
      : page;
  queryClient.setQueriesData<AuditPage>({ queryKey: auditListKey }, inPage);
  queryClient.setQueriesData<AuditPage>({ queryKey: auditRowsKey }, inPage);
}

function knownFeedback(queryClient: QueryClient, conversationId: string, runId: string): FeedbackInput {
  const known = queryClient.getQueryData<ConversationDetail>(conversationKey(conversationId));
  return feedbackInput(known?.runs.find(({ conversationRunId }) => conversationRunId === runId)?.feedback);
}

/** Saves feedback on a run. It shows immediately, also in the list, and is refetched if the host rejects it. */
export function useGiveFeedback() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const mutation = useMutation({
    mutationKey: feedbackKey,
    // One after the other, so that the last change wins.
    scope: { id: 'feedback' },
    mutationFn: ({ conversationId, runId, feedback }: RunFeedback) =>
      client.call(giveFeedback, { parameters: { conversationId, runId }, body: feedback }),
    onError: () => queryClient.invalidateQueries({ queryKey: auditListKey }),
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: auditFacetsKey }),
        queryClient.invalidateQueries({ queryKey: auditSummaryKey }),
        // The history shows scores.
        queryClient.invalidateQueries({ queryKey: [...runsKey, 'list'] }),
      ]),
    // Saved or rejected, the host's state is older than a change that is still pending and already on the screen.
    onSettled: (_saved, _error, { conversationId }) => {
      const activeMutations = queryClient.isMutating({
        mutationKey: feedbackKey,
        predicate: ({ state }) => (state.variables as RunFeedback | undefined)?.conversationId === conversationId,
      });
      return activeMutations > 1
        ? undefined
        : queryClient.invalidateQueries({ queryKey: conversationKey(conversationId) });
    },
  });
  /**
   * Changes one part of the feedback, leaves the others unchanged, and returns the previous feedback. The cache changes before the
   * next key press, so that two quick changes never overwrite each other.
   */
  const give = (conversationId: string, runId: string, part: FeedbackInput): FeedbackInput => {
    const before = knownFeedback(queryClient, conversationId, runId);
    const change = { conversationId, runId, feedback: { ...before, ...part } };
    // An active request began before the change: its response would overwrite the change on the screen.
    void queryClient.cancelQueries({ queryKey: conversationKey(conversationId) });
    showFeedback(queryClient, change);
    mutation.mutate(change);
    return before;
  };
  return { give, error: mutation.error, isSuccess: mutation.isSuccess };
}

const samplesKey = ['audit', 'samples'] as const;

/** Whether the sample data is loaded. */
export function useAuditSamples() {
  const { client } = useHost();
  return useQuery({ queryKey: samplesKey, queryFn: ({ signal }) => client.call(readAuditSamples, { signal }) });
}

/** Loads or removes the sample data only. All queries of runs are refetched. */
export function useChangeAuditSamples() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (change: 'load' | 'remove') =>
      change === 'load' ? client.call(loadAuditSamples) : client.call(removeAuditSamples),
    onSettled: () =>
      Promise.all([auditKey, runsKey, hostKey].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}

const retentionKey = ['audit', 'retention'] as const;

/** The current retention and when it was last applied. */
export function useRetention() {
  const { client } = useHost();
  return useQuery({
    queryKey: retentionKey,
    queryFn: ({ signal }) => client.call(readRetention, { signal }),
    refetchInterval: ({ state }) => (state.data?.isRunning ? 1_000 : false),
  });
}

/** The runs that a retention would remove now. */
export function useRetentionPreview(change: { mode: 'delete' | 'anonymise'; days: number } | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...retentionKey, 'preview', change],
    enabled: change !== null,
    queryFn: ({ signal }) =>
      client.call(previewRetention, { signal, body: change as { mode: 'delete' | 'anonymise'; days: number } }),
    placeholderData: keepPreviousData,
  });
}

/** Sets the retention; it is a group of the settings. */
export function useChangeRetention() {
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useUpdateSettings({ isFailureShown: true });
  const change = (retention: Retention) =>
    mutate({ retention }, { onSettled: () => void queryClient.invalidateQueries({ queryKey: retentionKey }) });
  return { change, error, isPending };
}
