import { keepPreviousData, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import {
  type ComparedRow,
  exportComparison,
  type ExportFormat,
  readComparedRows,
  readComparisonFields,
  readComparisonReport,
  readComparisonTrend,
  type RowFilter,
  type RowSort,
} from '../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../shared/contract/comparisons.ts';
import { readJudgedPairs } from '../../shared/contract/judged-pairs.ts';
import { type CellVoteInput, readMissingVerdicts, voteOnCell } from '../../shared/contract/votes.ts';
import { useHost } from '../host/host-context.tsx';

const resultsKey = (id: string) => ['comparisons', 'results', id] as const;

/** Cells of a page: what one request reads in a few milliseconds, and the window draws in a frame. */
const cellsPerPage = 400;
const maxRowsPerPage = 20;
/** Of an answer in the table. */
const shownCharacters = 400;
/** Of a text in the panel of one row. */
const rowCharacters = 20_000;
/** How long pages stay cached when their rows are no longer near: scrolling through 100,000 rows needs limited memory. */
const cacheMilliseconds = 30_000;
/** Rows in view are fetched again so often while cells are run. */
const rowsMilliseconds = 1000;
/** The report compares all cells, in a thread of the host. */
const reportMilliseconds = 2500;

export interface RowOrder {
  filter: RowFilter;
  sort: RowSort;
}

export function rowsPerPage({
  variants,
  repeats,
}: Pick<Comparison, 'repeats'> & { variants: readonly unknown[] }): number {
  return Math.max(1, Math.min(maxRowsPerPage, Math.floor(cellsPerPage / (variants.length * repeats))));
}

/** A value that follows another one, but changes no more often than the given time. */
export function useThrottled<Value>(value: Value, milliseconds: number): Value {
  const [shown, setShown] = useState({ value, at: 0 });
  useEffect(() => {
    if (Object.is(shown.value, value)) return;
    const timer = setTimeout(
      () => setShown({ value, at: performance.now() }),
      Math.max(0, shown.at + milliseconds - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [value, shown, milliseconds]);
  return shown.value;
}

function progressOf({ state, cells, judging }: Comparison): string {
  return [state, judging?.judged, ...Object.values(cells)].join();
}

const unfinished = new Set(['Waiting', 'Running', 'Stopped']);

function mayChange(data: { data: ComparedRow[] } | undefined): boolean {
  return data?.data.some(({ cells }) => cells.some(({ state }) => unfinished.has(state))) ?? true;
}

/**
 * Fetches the rows in view again as the comparison goes on: only pages whose cells have not all ended, and in any other order than that
 * of the dataset all of them, because rows move. Running cells have more text each time.
 */
function useFollowRows(comparison: Comparison, { filter, sort }: RowOrder): void {
  const queryClient = useQueryClient();
  const progress = useThrottled(progressOf(comparison), rowsMilliseconds);
  const isRunning = comparison.state === 'Running';
  const isEveryPageStale = !isRunning || comparison.judging !== null || filter !== 'all' || sort !== 'row';
  const renew = useEffectEvent(() => {
    const queryKey = [...resultsKey(comparison.id), 'rows'];
    const mayBeStale = ({ state }: { state: { data: unknown } }) =>
      isEveryPageStale || mayChange(state.data as { data: ComparedRow[] });
    // A page that takes long is waited for, or it would never come.
    void queryClient.invalidateQueries({ queryKey, predicate: mayBeStale }, { cancelRefetch: !isRunning });
  });
  const last = useRef(progress);
  useEffect(() => {
    if (last.current === progress) return;
    last.current = progress;
    renew();
  }, [progress]);
  const isStreaming = isRunning && comparison.cells.running > 0;
  useEffect(() => {
    if (!isStreaming) return;
    const timer = setInterval(() => renew(), rowsMilliseconds);
    return () => clearInterval(timer);
  }, [isStreaming]);
}

interface ComparedRows {
  /** Undefined while its page loads. */
  rowAt: (index: number) => ComparedRow | undefined;
  /** Undefined until the first page has loaded. */
  total: number | undefined;
  counts: Readonly<Record<RowFilter, number>> | null;
  error: Error | null;
  retry: () => void;
}

/** The rows of some pages. Only these are fetched, and again while the comparison runs. */
export function useComparedRows(comparison: Comparison, order: RowOrder, pages: readonly number[]): ComparedRows {
  const { client } = useHost();
  useFollowRows(comparison, order);
  const { id } = comparison;
  const limit = rowsPerPage(comparison);
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: [...resultsKey(id), 'rows', order.filter, order.sort, page],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        client.call(readComparedRows, {
          signal,
          parameters: { id },
          query: { ...order, offset: page * limit, limit, characters: shownCharacters },
        }),
      staleTime: Infinity,
      gcTime: cacheMilliseconds,
    })),
  });
  const read = new Map(results.map(({ data }, index) => [pages[index], data]));
  const newest = results.reduce<(typeof results)[number] | undefined>(
    (found, result) => (result.data && result.dataUpdatedAt > (found?.dataUpdatedAt ?? 0) ? result : found),
    undefined,
  )?.data;
  return {
    rowAt: (index) => read.get(Math.floor(index / limit))?.data[index % limit],
    total: newest?.total,
    counts: newest?.counts ?? null,
    error: results.find(({ isError, data }) => isError && !data)?.error ?? null,
    retry: () => results.forEach(({ isError, refetch }) => isError && void refetch()),
  };
}

/** One row with longer texts. */
export function useComparedRow(comparison: Comparison, order: RowOrder, index: number) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...resultsKey(comparison.id), 'rows', 'one', order, index],
    gcTime: cacheMilliseconds,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { ...order, offset: index, limit: 1, characters: rowCharacters };
      return client.call(readComparedRows, { signal, parameters: { id: comparison.id }, query });
    },
  });
}

/** Verdicts that the judges of a comparison owe; undefined until they are counted. Judges may change while the results aren't open. */
export function useMissingVerdicts({ id, state }: Comparison, { isEnabled }: { isEnabled: boolean }) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...resultsKey(id), 'missing-verdicts', state],
    enabled: isEnabled && state !== 'Running',
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => client.call(readMissingVerdicts, { signal, parameters: { id } }),
  });
}

/** Verdicts of a judge come while it judges. */
const pairsMilliseconds = 1000;

/** Which of two variants a judge of preferences prefers so far; null asks nothing. */
export function useJudgedPairs(
  { id, state }: Comparison,
  pair: { judgeId: string; first: string; second: string } | null,
) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...resultsKey(id), 'pairs', pair, state],
    enabled: pair !== null,
    placeholderData: keepPreviousData,
    // The judge may change while this isn't open.
    staleTime: 0,
    refetchInterval: state === 'Running' && pairsMilliseconds,
    queryFn: ({ signal }) => client.call(readJudgedPairs, { signal, parameters: { id }, query: pair! }),
  });
}

/** The statistics so far, against a variant. */
export function useReportSoFar(comparison: Comparison, baseline: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const { id } = comparison;
  const progress = useThrottled(progressOf(comparison), reportMilliseconds);
  const last = useRef(progress);
  useEffect(() => {
    if (last.current === progress) return;
    last.current = progress;
    void queryClient.invalidateQueries({ queryKey: [...resultsKey(id), 'report'] }, { cancelRefetch: false });
  }, [queryClient, id, progress]);
  return useQuery({
    queryKey: [...resultsKey(id), 'report', baseline],
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    // The comparison went on while the results weren't open.
    refetchOnMount: 'always',
    queryFn: ({ signal }) => client.call(readComparisonReport, { signal, parameters: { id }, query: { baseline } }),
  });
}

/** The differences to the comparison that this one repeats. */
export function useComparisonTrend({ id }: Comparison) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...resultsKey(id), 'trend'],
    queryFn: ({ signal }) => client.call(readComparisonTrend, { signal, parameters: { id } }),
  });
}

export function useComparisonFields({ id }: Comparison) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...resultsKey(id), 'fields'],
    queryFn: ({ signal }) => client.call(readComparisonFields, { signal, parameters: { id } }),
  });
}

export function useExportComparison() {
  const { client } = useHost();
  return useMutation({
    mutationFn: ({ id, format }: { id: string; format: ExportFormat }) =>
      client.download(exportComparison, { parameters: { id }, query: { format } }),
  });
}

/** Fetches everything about a comparison again, after a person changed it. */
export function useRenewResults(): (id: string) => void {
  const queryClient = useQueryClient();
  return (id) => void queryClient.invalidateQueries({ queryKey: resultsKey(id) });
}

/** Votes on the answer of a cell, or changes the vote. */
export function useVoteOnCell() {
  const { client } = useHost();
  const renew = useRenewResults();
  return useMutation({
    mutationFn: ({ id, ...body }: CellVoteInput & { id: string }) =>
      client.call(voteOnCell, { parameters: { id }, body }),
    onSuccess: (_, { id }) => renew(id),
  });
}
