import { useMutation, useQueries, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import {
  createFile,
  readFile,
  readFileDetails,
  type StoredFile,
  storeSourceFile,
} from '../../shared/contract/files.ts';
import { useHost } from '../host/host-context.tsx';
import type { Client } from '../host/client.ts';

const filesKey = ['files'] as const;

/** By id. A file that is still loading is absent; null is one that isn't stored any more. */
export type KnownFiles = Readonly<Record<string, StoredFile | null>>;

function detailsQuery(client: Client, id: string) {
  return {
    queryKey: [...filesKey, 'details', id],
    queryFn: ({ signal }: { signal: AbortSignal }) => client.call(readFileDetails, { signal, parameters: { id } }),
    // The ID is the hash of the content, so only its removal changes a file.
    staleTime: Infinity,
    retry: false,
    meta: { isFailureShown: true },
  };
}

function combine(results: readonly UseQueryResult<StoredFile>[], ids: readonly string[]): KnownFiles {
  return Object.fromEntries(
    results.flatMap(({ data, isError }, index) => (data || isError ? [[ids[index]!, data ?? null]] : [])),
  );
}

/** The details of files by their ids. */
export function useFiles(ids: readonly string[]): KnownFiles {
  const { client } = useHost();
  const unique = [...new Set(ids)];
  return useQueries({
    queries: unique.map((id) => detailsQuery(client, id)),
    combine: (results) => combine(results, unique),
  });
}

/** The content of a stored file. */
export function useFileContent(id: string, { isEnabled = true } = {}) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...filesKey, 'content', id],
    enabled: isEnabled,
    queryFn: ({ signal }) => client.download(readFile, { signal, parameters: { id } }),
    staleTime: Infinity,
    // Up to 20 MB: not worth holding on to once nothing shows it.
    gcTime: 10_000,
    retry: false,
  });
}

export interface FileUpload {
  readonly file: File;
  readonly signal: AbortSignal;
  readonly onProgress: (fraction: number) => void;
}

/** Stores a file. The caller shows why it could not be stored. */
export function useStoreFile() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isOnlyForCaller: true },
    mutationFn: (upload: FileUpload) => client.upload(createFile, { fields: {}, ...upload }),
    onSuccess: (file) => queryClient.setQueryData([...filesKey, 'details', file.id], file),
  });
}

/** Stores the original of a source as a file. The caller shows why it could not be stored. */
export function useStoreSource() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (sourceId: string) => client.call(storeSourceFile, { body: { sourceId } }),
    onSuccess: (file) => queryClient.setQueryData([...filesKey, 'details', file.id], file),
  });
}
