import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import {
  createReplay,
  deleteReplay,
  followReplays,
  listReplays,
  readReplayResults,
  resumeReplay,
  retryReplay,
  stopReplay,
  type ReplayInput,
} from '../../shared/contract/audit-replay.ts';
import { useHost } from '../host/host-context.tsx';
import { auditFacetsKey, auditSummaryKey } from './audit.ts';
import { useFollowedList } from './follow.ts';
import { auditListKey } from './audit-list.ts';
import { hostKey } from './host-state.ts';
import { runsKey } from './runs.ts';

const replaysKey = ['audit', 'replays'] as const;

/** Pairs that are read at once. */
export const pairsPerPage = 100;

/** Replays, newest first, with the progress of those under way. */
export function useReplays() {
  return useFollowedList(replaysKey, (client, signal) => client.call(listReplays, { signal }), followReplays);
}

/** Before and after of one page of pairs. `progress` tells one state of the replay from the next. */
export function useReplayResults(id: string, page: number, progress: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['audit', 'replay-results', id, page, progress],
    queryFn: ({ signal }) =>
      client.call(readReplayResults, {
        signal,
        parameters: { id },
        query: { offset: page * pairsPerPage, limit: pairsPerPage },
      }),
    placeholderData: keepPreviousData,
  });
}

function useRenewReplays() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: replaysKey });
}

export function useCreateReplay() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ReplayInput) => client.call(createReplay, { body }),
    onSettled: useRenewReplays(),
  });
}

export type ReplayChange = 'stop' | 'resume' | 'retry' | 'delete';

export function useChangeReplay() {
  const { client } = useHost();
  return useMutation({
    mutationFn: async ({ id, change }: { id: string; change: ReplayChange }): Promise<void> => {
      const parameters = { id };
      if (change === 'stop') await client.call(stopReplay, { parameters });
      else if (change === 'resume') await client.call(resumeReplay, { parameters });
      else if (change === 'retry') await client.call(retryReplay, { parameters });
      else await client.call(deleteReplay, { parameters });
    },
    onSettled: useRenewReplays(),
  });
}

/** Everything that shows runs is read anew. */
export function useRenewRuns() {
  const queryClient = useQueryClient();
  return useCallback(() => {
    for (const queryKey of [auditListKey, auditSummaryKey, auditFacetsKey, runsKey, hostKey])
      void queryClient.invalidateQueries({ queryKey });
  }, [queryClient]);
}
