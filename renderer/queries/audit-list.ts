import {
  keepPreviousData,
  type QueryClient,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { AppError } from '../../shared/app-error.ts';
import {
  type AuditFilter,
  type AuditPage,
  type AuditRow,
  type AuditSort,
  type AuditSource,
  searchAudit,
} from '../../shared/contract/audit.ts';
import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';
import {
  type AuditViewInput,
  createAuditView,
  deleteAuditView,
  listAuditViews,
  updateAuditView,
} from '../../shared/contract/audit-views.ts';

export const auditListKey = ['audit', 'list'] as const;
export const auditRowsKey = ['audit', 'rows'] as const;

/** Rows of one page. A page is read by its offset in the list, so any page can be the next one. */
export const rowsPerPage = 100;

/**
 * How long a page stays cached when its rows are no longer near, in milliseconds: scrolling through a million rows needs limited
 * memory.
 */
const cacheMilliseconds = 60_000;

interface AuditSearchKey {
  filter: AuditFilter;
  sort: AuditSort;
  source: AuditSource;
}

/** The first page of a list, with the key of the list. */
export interface AuditListHead extends AuditPage, AuditSearchKey {
  /** From the request to the response. */
  milliseconds: number;
}

function headKey({ filter, sort, source }: AuditSearchKey) {
  return [...auditListKey, filter, sort, source] as const;
}

/** The list for a filter and a sort. While it loads, the previous list stays as a placeholder. */
export function useAuditHead(search: AuditSearchKey) {
  const { client } = useHost();
  return useQuery({
    queryKey: headKey(search),
    queryFn: async ({ signal }): Promise<AuditListHead> => {
      const startedAt = performance.now();
      const page = await client.call(searchAudit, { signal, body: { ...search, offset: 0, limit: rowsPerPage } });
      return { ...page, ...search, milliseconds: performance.now() - startedAt };
    },
    // A list that refetched automatically would move the rows while a person works on them.
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

function readPage(
  client: Client,
  { filter, sort, source, snapshot }: AuditListHead,
  page: number,
  signal: AbortSignal,
) {
  return client.call(searchAudit, {
    signal,
    body: { filter, sort, source, snapshot, offset: page * rowsPerPage, limit: rowsPerPage },
  });
}

function isSnapshotExpired(error: unknown): boolean {
  return error instanceof AppError && error.details.some(({ field }) => field === 'snapshot');
}

interface AuditRows {
  /** Undefined while its page loads, and beyond the end. */
  rowAt: (index: number) => AuditRow | undefined;
  /** The error of a page in view; null if there is none. */
  error: Error | null;
  retry: () => void;
  /** The newest count of the list. */
  total: number;
  isTotalExact: boolean;
}

/** Rows of a list from the requested pages; a page that is no longer requested is aborted. */
export function useAuditRows(head: AuditListHead, pages: readonly number[]): AuditRows {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const further = pages.filter((page) => page > 0);
  const results = useQueries({
    queries: further.map((page) => ({
      queryKey: [...auditRowsKey, head.snapshot, page],
      queryFn: ({ signal }: { signal: AbortSignal }) => readPage(client, head, page, signal),
      staleTime: Infinity,
      gcTime: cacheMilliseconds,
    })),
  });
  const read = new Map(results.map(({ data }, index) => [further[index], data?.rows]));
  const failed = results.find(({ isError }) => isError);
  const newest = results.findLast(({ data }) => data)?.data ?? head;
  const hasExpired = results.some(({ error }) => isSnapshotExpired(error));
  useEffect(() => {
    if (hasExpired) void queryClient.invalidateQueries({ queryKey: headKey(head) });
  }, [hasExpired, head, queryClient]);
  return {
    rowAt(index) {
      const page = Math.floor(index / rowsPerPage);
      return (page === 0 ? head.rows : read.get(page))?.[index % rowsPerPage];
    },
    error: failed?.error ?? null,
    retry: () => results.forEach(({ isError, refetch }) => isError && void refetch()),
    total: newest.total,
    isTotalExact: newest.isTotalExact,
  };
}

/**
 * Reads rows by index, from the cache if present: for ranges beyond the rendered rows. A page has another key than in the list,
 * which aborts its request when the person scrolls on.
 */
export async function readAuditRows(
  { client, queryClient }: { client: Client; queryClient: QueryClient },
  head: AuditListHead,
  { first, last }: { first: number; last: number },
): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  const read = (page: number): Promise<AuditPage> =>
    queryClient.fetchQuery({
      queryKey: [...auditRowsKey, head.snapshot, page, 'range'],
      queryFn: ({ signal }) => readPage(client, head, page, signal),
      staleTime: Infinity,
      gcTime: cacheMilliseconds,
    });
  for (let page = Math.floor(first / rowsPerPage); page <= Math.floor(last / rowsPerPage); page += 1) {
    const listed = queryClient.getQueryData<AuditPage>([...auditRowsKey, head.snapshot, page]);
    const { rows: found } = page === 0 ? head : (listed ?? (await read(page)));
    const start = page * rowsPerPage;
    rows.push(...found.slice(Math.max(0, first - start), last - start + 1));
  }
  return rows;
}

/** The index of a conversation in a list; null if the filter leaves it out. */
export function useAuditIndex(head: AuditListHead | undefined, conversationId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['audit', 'place', head?.snapshot, conversationId],
    enabled: head !== undefined && conversationId !== null,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<number | null> => {
      const { filter, sort, source, snapshot } = head as AuditListHead;
      const body = { filter, sort, source, snapshot, around: conversationId as string, limit: 1 };
      const { rows, offset } = await client.call(searchAudit, { signal, body });
      const index = rows.findIndex((row) => row.conversationId === conversationId);
      return index < 0 ? null : offset + index;
    },
  });
}

/** The index of a moment in a list that is sorted by time. */
export async function findAuditMoment(client: Client, head: AuditListHead, at: string): Promise<number> {
  const { filter, sort, source, snapshot } = head;
  return (await client.call(searchAudit, { body: { filter, sort, source, snapshot, at, limit: 1 } })).offset;
}

const auditViewsKey = ['audit', 'views'] as const;

/** Saved filters with their sort orders. */
export function useAuditViews({ isEnabled = true } = {}) {
  const { client } = useHost();
  return useQuery({
    queryKey: auditViewsKey,
    enabled: isEnabled,
    queryFn: ({ signal }) => client.call(listAuditViews, { signal }),
  });
}

function useRenewViews() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: auditViewsKey });
}

export function useCreateAuditView() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (body: AuditViewInput) => client.call(createAuditView, { body }),
    onSettled: useRenewViews(),
  });
}

export function useUpdateAuditView() {
  const { client } = useHost();
  return useMutation({
    mutationFn: ({ id, ...body }: Partial<AuditViewInput> & { id: string }) =>
      client.call(updateAuditView, { parameters: { id }, body }),
    onSettled: useRenewViews(),
  });
}

export function useDeleteAuditView() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (id: string) => client.call(deleteAuditView, { parameters: { id } }),
    onSettled: useRenewViews(),
  });
}
