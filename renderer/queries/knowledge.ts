import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type QueryClient,
} from '@tanstack/react-query';
import { useCallback } from 'react';
import {
  createDataspace,
  deleteDataspace,
  deleteSource,
  reindexSource,
  searchDataspace,
} from '../../shared/contract/dataspaces.ts';
import {
  followKnowledge,
  listDataspaceSources,
  listDataspaceSummaries,
  listSourcePassages,
  readSourceDetail,
  readSourceText,
  reindexDataspace,
  renameDataspace,
  stopDataspace,
  stopSource,
  type DataspaceSummary,
  type KnowledgeChange,
  type SourceDetail,
  type SourcePassage,
} from '../../shared/contract/knowledge-window.ts';
import { useHost } from '../host/host-context.tsx';
import { recountSources, uncount, useDeletions } from '../stores/deletions.ts';
import { readAgain, showNewer, useFollow } from './follow.ts';

const dataspacesKey = ['knowledge', 'dataspaces'] as const;
const sourcesKey = ['knowledge', 'sources'] as const;
const sourceKey = ['knowledge', 'source'] as const;
const textKey = ['knowledge', 'text'] as const;

/** Sources per page. */
const sourcePage = 200;

interface SourceRange {
  data: SourceDetail[];
  total: number;
}
type SourceRanges = InfiniteData<SourceRange, number>;

/** The counts of a dataspace without these sources. */
function countsWithout(dataspace: DataspaceSummary, removed: readonly SourceDetail[]): DataspaceSummary {
  const own = removed.filter(({ dataspaceId }) => dataspaceId === dataspace.id);
  const number = (isCounted: (source: SourceDetail) => boolean) => own.filter(isCounted).length;
  const sum = (valueOf: (source: SourceDetail) => number) => own.reduce((total, source) => total + valueOf(source), 0);
  return {
    ...dataspace,
    sources: dataspace.sources - own.length,
    processing: dataspace.processing - number(({ status }) => status === 'Processing'),
    failed: dataspace.failed - number(({ status }) => status === 'Failed'),
    outdated: dataspace.outdated - number(({ isOutdated }) => isOutdated),
    bytes: dataspace.bytes - sum(({ bytes }) => bytes),
    passages: dataspace.passages - sum(({ passages }) => passages ?? 0),
  };
}

/** Every dataspace with its counts, newest first; sources whose deletion can be undone don't count. */
export function useDataspaces({ isEnabled = true } = {}) {
  const { client } = useHost();
  const counted = useDeletions((state) => state.counted);
  return useQuery({
    queryKey: dataspacesKey,
    enabled: isEnabled,
    queryFn: async ({ signal }) => (await client.call(listDataspaceSummaries, { signal })).data,
    select: useCallback(
      (dataspaces: DataspaceSummary[]) => {
        const removed = [...counted.values()].flatMap((object) => ('source' in object ? [object.source] : []));
        return removed.length === 0 ? dataspaces : dataspaces.map((dataspace) => countsWithout(dataspace, removed));
      },
      [counted],
    ),
  });
}

/** Whether a shown list gains or loses a source when its status changes. */
function isFilteredByStatus(queryClient: QueryClient): boolean {
  const shown = queryClient.getQueriesData({ queryKey: sourcesKey, type: 'active' });
  return shown.some(([queryKey]) => queryKey.at(-1) !== 'all');
}

/** A deleted source is never shown from the cache: an open one is refetched and not found. */
function forgetSources(queryClient: QueryClient, ids: readonly string[]): void {
  for (const id of ids) void queryClient.resetQueries({ queryKey: [...sourceKey, id] });
}

/** Writes a change into the shown data; lists that may be older than the change are refetched. */
function takeChange(queryClient: QueryClient, change: KnowledgeChange, isFirst: boolean): void {
  showNewer(queryClient, dataspacesKey, change.dataspaces);
  uncount(change.removedSourceIds);
  forgetSources(queryClient, change.removedSourceIds);
  recountSources(change.sources);
  const changed = new Map(change.sources.map((source) => [source.id, source]));
  for (const source of change.sources) {
    const queryKey = [...sourceKey, source.id];
    if (queryClient.getQueryState(queryKey)) showNewer(queryClient, queryKey, source);
    // Text and passages of the previous indexing must not be shown for the new one.
    if (source.progress === null) void queryClient.invalidateQueries({ queryKey: [...textKey, source.id] });
  }
  const lists = queryClient.getQueriesData<SourceRanges>({ queryKey: sourcesKey });
  const known = new Set(lists.flatMap(([, list]) => list?.pages.flatMap(({ data }) => data.map(({ id }) => id)) ?? []));
  queryClient.setQueriesData<SourceRanges>({ queryKey: sourcesKey }, (list) => {
    if (!list) return list;
    const pages = list.pages.map((page) => ({
      ...page,
      data: page.data.map((source) => changed.get(source.id) ?? source),
    }));
    return { ...list, pages };
  });
  const hasGained = change.sources.some(({ id }) => !known.has(id));
  const hasLost = change.removedSourceIds.some((id) => known.has(id));
  // A request from before the change may return the state before it.
  const isBeingRead = queryClient.isFetching({ queryKey: sourcesKey }) > 0;
  const hasMoved = change.sources.length > 0 && isFilteredByStatus(queryClient);
  if (isFirst || hasGained || hasLost || hasMoved || isBeingRead) readAgain(queryClient, sourcesKey);
}

/** Keeps dataspaces and sources fresh while the screen is open. */
export function useFollowKnowledge(): void {
  const queryClient = useQueryClient();
  useFollow(followKnowledge, (change, isFirst) => takeChange(queryClient, change, isFirst));
}

export interface SourceFilter {
  /** Part of a name; empty matches all. */
  text: string;
  status: SourceDetail['status'] | 'all';
}

/** The sources of a dataspace, newest first. */
export function useSources(dataspaceId: string, { text, status }: SourceFilter) {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: [...sourcesKey, dataspaceId, text, status],
    initialPageParam: 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam }) =>
      client.call(listDataspaceSources, {
        signal,
        parameters: { id: dataspaceId },
        query: {
          offset: pageParam,
          limit: sourcePage,
          ...(text === '' ? {} : { text }),
          ...(status === 'all' ? {} : { status }),
        },
      }),
    getNextPageParam: ({ total }, pages) => {
      const read = pages.reduce((sum, { data }) => sum + data.length, 0);
      return read < total && pages.at(-1)!.data.length > 0 ? read : null;
    },
  });
}

/** A search by name covers this many dataspaces, the newest ones; each takes one request. */
const maxSearchedDataspaces = 20;

/** Sources of all dataspaces whose name or file name contains the words, for the command palette. */
export function useSourcesNamed(words: string) {
  const { client } = useHost();
  const text = words.trim().slice(0, 300);
  const dataspaces = useDataspaces({ isEnabled: text !== '' }).data;
  return useQuery({
    queryKey: ['knowledge', 'sources-named', text, dataspaces?.length],
    enabled: text !== '' && dataspaces !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { offset: 0, limit: 12, text };
      const searched = (dataspaces ?? []).filter(({ sources }) => sources > 0).slice(0, maxSearchedDataspaces);
      const lists = await Promise.all(
        searched.map(({ id }) => client.call(listDataspaceSources, { signal, parameters: { id }, query })),
      );
      return lists.flatMap(({ data }) => data);
    },
  });
}

export function useSource(id: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...sourceKey, id],
    enabled: id !== null,
    retry: false,
    queryFn: ({ signal }) => client.call(readSourceDetail, { signal, parameters: { id: id! } }),
  });
}

/** A passage with its neighbours, for navigation. */
export interface PassagePosition {
  passage: SourcePassage;
  before: SourcePassage | null;
  after: SourcePassage | null;
  total: number;
}

/** The passage of a source that starts at or before an offset of its text; null for a source without passages. */
export function useSourcePassage(id: string, start: number) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...textKey, id, 'passage', start],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<PassagePosition | null> => {
      const read = (offset: number, limit: number) =>
        client.call(listSourcePassages, { signal, parameters: { id }, query: { offset, limit } });
      const { total } = await read(0, 1);
      let low = 0;
      let high = total - 1;
      // Passages are sorted by start.
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        const [passage] = (await read(middle, 1)).data;
        if (passage && passage.start <= start) low = middle;
        else high = middle - 1;
      }
      const first = Math.max(0, low - 1);
      const around = (await read(first, 3)).data;
      const passage = around[low - first];
      if (!passage) return null;
      return { passage, before: around[low - first - 1] ?? null, after: around[low - first + 1] ?? null, total };
    },
  });
}

/** Part of the extracted text of a source, with context around it. */
export function useSourceText(id: string, range: { start: number; end: number; context: number }) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...textKey, id, range],
    retry: false,
    queryFn: ({ signal }) => client.call(readSourceText, { signal, parameters: { id }, query: range }),
  });
}

export interface SearchQuery {
  dataspaceId: string;
  query: string;
}

/** Passages of a dataspace for a query, best first. */
export function useKnowledgeSearch(question: SearchQuery | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['knowledge', 'search', question],
    enabled: question !== null,
    gcTime: 0,
    retry: false,
    queryFn: async ({ signal }) => {
      const body = { query: question!.query, limit: 20 };
      return (await client.call(searchDataspace, { signal, parameters: { id: question!.dataspaceId }, body })).data;
    },
  });
}

function useRenew() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['knowledge'] });
}

/** The caller shows the error. */
export function useCreateDataspace() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (name: string) => client.call(createDataspace, { body: { name } }),
    onSettled: useRenew(),
  });
}

/** The name of the dataspace for sources that name none. */
export const defaultDataspace = 'Default';

export function useCreateDefaultDataspace() {
  const { client } = useHost();
  return useMutation({
    mutationFn: () => client.call(createDataspace, { body: { name: defaultDataspace } }),
    onSettled: useRenew(),
  });
}

/** The caller shows the error. */
export function useRenameDataspace() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, name }: { id: string; name: string }) =>
      client.call(renameDataspace, { parameters: { id }, body: { name } }),
    onSettled: useRenew(),
  });
}

export function useRemoveDataspace() {
  const { client } = useHost();
  return useMutation({
    mutationFn: (id: string) => client.call(deleteDataspace, { parameters: { id } }),
    onSettled: useRenew(),
  });
}

/** Deletes a source at once; `deleteWithUndo` waits until Undo is over. */
export function useRemoveSource(): (id: string) => Promise<unknown> {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const renew = useRenew();
  return async (id) => {
    await client.call(deleteSource, { parameters: { id } });
    const counted = useDeletions.getState().counted.get(id);
    // Unless the stream of changes brought the new counts first.
    if (counted && 'source' in counted) {
      queryClient.setQueryData<DataspaceSummary[]>(dataspacesKey, (dataspaces) =>
        dataspaces?.map((dataspace) => countsWithout(dataspace, [counted.source])),
      );
      uncount([id]);
    }
    forgetSources(queryClient, [id]);
    await renew();
  };
}

/** An action on one source: `stop` or `reindex`. The stream shows the result. */
export function useChangeSource() {
  const { client } = useHost();
  return useMutation({
    mutationFn: async ({ id, act }: { id: string; act: 'stop' | 'reindex' }) => {
      await client.call(act === 'stop' ? stopSource : reindexSource, { parameters: { id } });
    },
  });
}

/** An action on many sources of a dataspace. */
export function useChangeDataspace() {
  const { client } = useHost();
  return useMutation({
    mutationFn: async ({ id, act }: { id: string; act: 'stop' | 'failed' | 'outdated' | 'all' }) => {
      const parameters = { id };
      if (act === 'stop') await client.call(stopDataspace, { parameters });
      else await client.call(reindexDataspace, { parameters, body: { which: act } });
    },
  });
}
