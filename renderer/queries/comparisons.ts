import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
} from '@tanstack/react-query';
import { useState } from 'react';
import { type ComparisonEstimateInput, estimateComparison } from '../../shared/contract/comparison-estimates.ts';
import { readComparisonReport } from '../../shared/contract/comparison-results.ts';
import {
  retryComparison,
  type RetryInput,
  startComparison,
  type StartInput,
  stopComparison,
  type StopInput,
} from '../../shared/contract/comparison-runs.ts';
import {
  type Comparison,
  type ComparisonInput,
  type ComparisonItem,
  createComparison,
  deleteComparison,
  followComparisons,
  listComparisons,
  readComparison,
} from '../../shared/contract/comparisons.ts';
import { judgePairs, type JudgedPairsInput } from '../../shared/contract/judged-pairs.ts';
import { judgeComparison } from '../../shared/contract/votes.ts';
import { useHost } from '../host/host-context.tsx';
import { useFollow } from './follow.ts';

const comparisonsKey = ['comparisons'] as const;
const listKey = [...comparisonsKey, 'list'] as const;
const oneKey = (id: string | null) => [...comparisonsKey, 'one', id] as const;
const pageSize = 50;

interface Page {
  data: ComparisonItem[];
  continuationToken: string | null;
}

/** The comparisons, newest first, page by page. */
export function useComparisons({ isEnabled = true } = {}) {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: listKey,
    enabled: isEnabled,
    // Other programs create comparisons, too.
    refetchOnMount: 'always',
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      client.call(listComparisons, { signal, query: { pageSize, ...(pageParam && { continuationToken: pageParam }) } }),
    getNextPageParam: (page) => page.continuationToken,
    select: ({ pages }) => pages.flatMap((page) => page.data),
  });
}

/** A comparison with its variants and checks. `useFollowComparisons` keeps its state and counts fresh. */
export function useComparison(id: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: oneKey(id),
    enabled: id !== null,
    queryFn: ({ signal }) => client.call(readComparison, { signal, parameters: { id: id! } }),
  });
}

/** The statistics. `progress` distinguishes states of the comparison: another one fetches the report again. */
export function useComparisonReport(id: string, progress: string, { isEnabled = true } = {}) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...comparisonsKey, 'report', id, progress],
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.call(readComparisonReport, { signal, parameters: { id } }),
  });
}

/** Keeps the list and the open comparisons fresh while one runs. The screen mounts it once. */
export function useFollowComparisons(): void {
  const queryClient = useQueryClient();
  useFollow(followComparisons, ({ data }, isFirst) => {
    const items = new Map(data.map((item) => [item.id, item]));
    const pages = queryClient.getQueryData<InfiniteData<Page>>(listKey)?.pages ?? [];
    const listed = new Set(pages.flatMap((page) => page.data.map(({ id }) => id)));
    queryClient.setQueryData<InfiniteData<Page>>(
      listKey,
      (list) =>
        list && {
          ...list,
          pages: list.pages.map((page) => ({ ...page, data: page.data.map((item) => items.get(item.id) ?? item) })),
        },
    );
    // After the change, which would mark the list as fresh.
    if (isFirst || data.some(({ id }) => !listed.has(id))) void queryClient.invalidateQueries({ queryKey: listKey });
    for (const item of data) {
      const queryKey = oneKey(item.id);
      const before = queryClient.getQueryData<Comparison>(queryKey);
      if (!before) continue;
      queryClient.setQueryData<Comparison>(queryKey, { ...before, ...item });
      // A response that is on its way may be older than this event.
      if (before.state !== item.state) void queryClient.invalidateQueries({ queryKey });
    }
  });
}

/** Comparisons that run, newest first. Call it once: each call reads a stream of its own. */
export function useRunningComparisons(): readonly ComparisonItem[] {
  const [running, setRunning] = useState<readonly ComparisonItem[]>([]);
  useFollow(followComparisons, ({ data }) => {
    const found = data.filter(({ state }) => state === 'Running');
    setRunning((before) => (before.length + found.length === 0 ? before : found));
  });
  return running;
}

/** What a comparison would take: `body` is its request as JSON; null asks nothing. */
export function useComparisonEstimate(body: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...comparisonsKey, 'estimate', body],
    enabled: body !== null,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) =>
      client.call(estimateComparison, { signal, body: JSON.parse(body!) as ComparisonEstimateInput }),
  });
}

function useShowComparison(): (comparison: Comparison) => Promise<void> {
  const queryClient = useQueryClient();
  return async (comparison) => {
    const queryKey = oneKey(comparison.id);
    queryClient.setQueryData(queryKey, comparison);
    // A short comparison has ended, and its last event has come, before the response to its start.
    void queryClient.invalidateQueries({ queryKey });
    await queryClient.invalidateQueries({ queryKey: listKey });
  };
}

/** The caller shows the error. */
export function useCreateComparison() {
  const { client } = useHost();
  return useMutation({
    meta: { isOnlyForCaller: true },
    mutationFn: (body: ComparisonInput) => client.call(createComparison, { body }),
    onSuccess: useShowComparison(),
  });
}

/** Starts or resumes a comparison. The caller shows the error. */
export function useStartComparison() {
  const { client } = useHost();
  return useMutation({
    meta: { isOnlyForCaller: true },
    mutationFn: ({ id, ...body }: StartInput & { id: string }) =>
      client.call(startComparison, { parameters: { id }, body }),
    onSuccess: useShowComparison(),
  });
}

/** Stops a comparison, a variant or a cell. */
export function useStopComparison() {
  const { client } = useHost();
  return useMutation({
    mutationFn: ({ id, ...body }: StopInput & { id: string }) =>
      client.call(stopComparison, { parameters: { id }, body }),
    onSuccess: useShowComparison(),
  });
}

/** Lets judges look again at cells without a current verdict. */
export function useJudgeComparison() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (id: string) => client.call(judgeComparison, { parameters: { id } }),
    onSuccess: useShowComparison(),
  });
}

/** Has a judge of preferences compare two variants. The caller shows the error. */
export function useJudgePairs() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, ...body }: JudgedPairsInput & { id: string }) =>
      client.call(judgePairs, { parameters: { id }, body }),
    onSuccess: useShowComparison(),
  });
}

/** Runs failed cells again: all, those of a variant, or one. */
export function useRetryComparison() {
  const { client } = useHost();
  return useMutation({
    mutationFn: ({ id, ...body }: RetryInput & { id: string }) =>
      client.call(retryComparison, { parameters: { id }, body }),
    onSuccess: useShowComparison(),
  });
}

/** Deletes a comparison at once; `deleteWithUndo` waits until Undo is over. */
export function useRemoveComparison(): (id: string) => Promise<void> {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return async (id) => {
    await client.call(deleteComparison, { parameters: { id } });
    await queryClient.invalidateQueries({ queryKey: listKey });
    queryClient.removeQueries({ queryKey: oneKey(id) });
  };
}
