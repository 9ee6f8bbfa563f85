import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { listRuns, readRun } from '../../shared/contract/runs.ts';
import { useHost } from '../host/host-context.tsx';

export const runsKey = ['runs'] as const;
const pageSize = 50;

/** Runs that are kept, newest first, page by page; with `draftId` those of one of the window's prompts. */
export function useRuns({ draftId }: { draftId?: string } = {}) {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: [...runsKey, 'list', draftId ?? null],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      client.call(listRuns, {
        signal,
        query: { pageSize, ...(draftId && { draftId }), ...(pageParam && { continuationToken: pageParam }) },
      }),
    getNextPageParam: (page) => page.continuationToken,
  });
}

/** One run, whole. What is finished never changes, so it is read once. */
export function useRun(runId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...runsKey, 'one', runId],
    enabled: runId !== null,
    queryFn: ({ signal }) => client.call(readRun, { signal, parameters: { id: runId ?? '' } }),
    staleTime: ({ state }) => (state.data && state.data.status !== 'Running' ? Infinity : 0),
  });
}
