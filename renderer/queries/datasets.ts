import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { compareDatasetVersions, editDataset } from '../../shared/contract/dataset-edits.ts';
import {
  createDataset,
  createDatasetVersion,
  type Dataset,
  type DatasetInput,
  type DatasetRows,
  type DatasetVersionInput,
  deleteDataset,
  listDatasets,
  listDatasetVersions,
  readDataset,
  readDatasetRows,
  renameDataset,
} from '../../shared/contract/datasets.ts';
import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';

const datasetsKey = ['datasets'] as const;
const pageSize = 100;

/** All datasets, newest first, page by page. */
export function useDatasetList() {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: [...datasetsKey, 'list'],
    initialPageParam: null as string | null,
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam }) =>
      client.call(listDatasets, { signal, query: { pageSize, ...(pageParam && { continuationToken: pageParam }) } }),
    getNextPageParam: (page) => page.continuationToken,
  });
}

/** A dataset with one of its versions, the latest one unless given. Null reads nothing. */
export function useDataset(id: string | null, version?: number | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...datasetsKey, 'one', id, version ?? null],
    enabled: id !== null,
    // Another window or a program may save a version.
    refetchOnWindowFocus: true,
    queryFn: ({ signal }) =>
      client.call(readDataset, { signal, parameters: { id: id! }, query: version ? { version } : {} }),
  });
}

/** Up to 1,000 rows of a version from an offset; fewer if they are large. */
export function datasetRowsOptions(
  client: Client,
  id: string,
  { version, offset, limit }: { version: number; offset: number; limit: number },
) {
  return queryOptions({
    queryKey: [...datasetsKey, 'rows', id, version, offset, limit],
    // A version never changes.
    staleTime: Infinity,
    queryFn: ({ signal }): Promise<DatasetRows> =>
      client.call(readDatasetRows, { signal, parameters: { id }, query: { version, offset, limit } }),
  });
}

/** The first rows of a version, for a preview. */
export function useDatasetRows(dataset: Pick<Dataset, 'id' | 'version'> | null, limit: number) {
  const { client } = useHost();
  const page = { version: dataset?.version ?? 1, offset: 0, limit };
  return useQuery({ ...datasetRowsOptions(client, dataset?.id ?? '', page), enabled: dataset !== null });
}

/** The versions of a dataset, newest first, page by page. */
export function useDatasetVersions(id: string, { isEnabled = true } = {}) {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: [...datasetsKey, 'versions', id],
    enabled: isEnabled,
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      client.call(listDatasetVersions, {
        signal,
        parameters: { id },
        query: { pageSize: 20, ...(pageParam && { continuationToken: pageParam }) },
      }),
    getNextPageParam: (page) => page.continuationToken,
  });
}

/** What a version changed. */
export function useDatasetDifference(id: string, version: number) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...datasetsKey, 'difference', id, version],
    staleTime: Infinity,
    queryFn: ({ signal }) => client.call(compareDatasetVersions, { signal, parameters: { id, version: `${version}` } }),
  });
}

/** Refetches the lists and the datasets on the screen; rows of versions never change. */
export function useRenewDatasets() {
  const queryClient = useQueryClient();
  return () =>
    Promise.all(
      ['list', 'one', 'versions'].map((part) => queryClient.invalidateQueries({ queryKey: [...datasetsKey, part] })),
    );
}

export function useCreateDataset() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: DatasetInput) => client.call(createDataset, { body }),
    onSettled: useRenewDatasets(),
  });
}

/** Adds a version from changes that fit into one request. The caller shows the error. */
export function useAddDatasetVersion() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, ...body }: DatasetVersionInput & { id: string }) =>
      client.call(createDatasetVersion, { parameters: { id }, body }),
    onSettled: useRenewDatasets(),
  });
}

export interface DatasetEdit {
  readonly id: string;
  readonly baseVersion: number;
  /** Absent to save although a later version exists. */
  readonly latestVersion?: number;
  readonly note: string;
  readonly file: File;
  readonly signal?: AbortSignal;
  readonly onProgress?: (fraction: number) => void;
}

/** Saves a version from a file of edits. The caller shows the error. */
export function useEditDataset() {
  const { client } = useHost();
  return useMutation({
    meta: { isOnlyForCaller: true },
    mutationFn: ({ id, baseVersion, latestVersion, note, ...upload }: DatasetEdit) =>
      client.upload(editDataset, {
        parameters: { id },
        fields: {
          baseVersion: `${baseVersion}`,
          ...(latestVersion !== undefined && { latestVersion: `${latestVersion}` }),
          ...(note !== '' && { note }),
        },
        ...upload,
      }),
    onSettled: useRenewDatasets(),
  });
}

export function useRenameDataset() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, name }: Pick<Dataset, 'id' | 'name'>) =>
      client.call(renameDataset, { parameters: { id }, body: { name } }),
    onSettled: useRenewDatasets(),
  });
}

/** Deletes a dataset at once; `deleteWithUndo` waits until Undo is over. */
export function useDeleteDataset(): (id: string) => Promise<unknown> {
  const { client } = useHost();
  const renew = useRenewDatasets();
  return async (id) => {
    await client.call(deleteDataset, { parameters: { id } });
    await renew();
  };
}
