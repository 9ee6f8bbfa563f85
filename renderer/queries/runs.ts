import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQueries,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query';
import { listRuns, readRun, type RunDetail } from '../../shared/contract/runs.ts';
import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';
import { checkRunAnswer, checkRunToolCalls } from '../../shared/contract/schemas.ts';
import { readProviderExchanges } from '../../shared/contract/provider-exchanges.ts';
import { type GroundedRequest, previewGrounding } from '../../shared/contract/grounding.ts';

export const runsKey = ['runs'] as const;
const pageSize = 50;

/** Stored runs, newest first, page by page; with `draftId`, the runs of one draft. */
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

/** One complete run. A finished run never changes, so it is fetched once. */
export function runQuery(client: Client, runId: string | null) {
  return queryOptions({
    queryKey: [...runsKey, 'one', runId],
    enabled: runId !== null,
    queryFn: ({ signal }) => client.call(readRun, { signal, parameters: { id: runId ?? '' } }),
    staleTime: ({ state }) => (state.data && state.data.status !== 'Running' ? Infinity : 0),
  });
}

export function useRun(runId: string | null) {
  const { client } = useHost();
  return useQuery(runQuery(client, runId));
}

const runsOf = (results: readonly UseQueryResult<RunDetail>[]): RunDetail[] =>
  results.flatMap(({ data }) => data ?? []);

/** The runs with these ids that are read already. */
export function useRunsById(ids: readonly string[]): readonly RunDetail[] {
  const { client } = useHost();
  return useQueries({ queries: ids.map((id) => runQuery(client, id)), combine: runsOf });
}

/** The requests of an ended run to the provider, and the raw responses. */
export function useProviderExchanges(runId: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...runsKey, 'exchanges', runId],
    queryFn: ({ signal }) => client.call(readProviderExchanges, { signal, parameters: { id: runId } }),
    // Up to 2 MB per call: too much to cache after the view is closed.
    gcTime: 30_000,
  });
}

/** The check of a run's stored answer against its schema. It never changes, so it is read once. */
export function useAnswerCheck(runId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...runsKey, 'schema-check', runId],
    enabled: runId !== null,
    staleTime: Infinity,
    queryFn: ({ signal }) => client.call(checkRunAnswer, { signal, parameters: { id: runId ?? '' } }),
  });
}

/** The checks of a run's stored tool calls, in their order. They never change, so they are read once. */
export function useToolCallChecks(runId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...runsKey, 'tool-call-checks', runId],
    enabled: runId !== null,
    staleTime: Infinity,
    queryFn: ({ signal }) => client.call(checkRunToolCalls, { signal, parameters: { id: runId ?? '' } }),
    select: ({ calls }) => calls,
  });
}

/** The passages that a run would send; null while there is nothing to ground. */
export function useGroundingPreview(request: GroundedRequest | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['knowledge', 'grounding', request],
    enabled: request !== null,
    // Sources change and each key press is a new request, so nothing is cached.
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.call(previewGrounding, { signal, body: request! }),
  });
}
