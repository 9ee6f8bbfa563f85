import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type DatasetFormat,
  type DatasetJob,
  importDataset,
  listDatasetJobs,
  previewDatasetImport,
  type RunDatasetInput,
  startDatasetJob,
  stopDatasetJob,
} from '../../shared/contract/dataset-import.ts';
import type { DatasetColumn } from '../../shared/contract/datasets.ts';
import { useHost } from '../host/host-context.tsx';
import { useRenewDatasets } from './datasets.ts';

/** A file that becomes a dataset, and how it is read. */
export interface DatasetFile {
  readonly file: File;
  readonly format?: DatasetFormat;
  readonly sheet?: string | null;
}

interface Upload {
  readonly signal: AbortSignal;
}

const readingOf = ({ format, sheet }: DatasetFile) => ({ ...(format && { format }), ...(sheet && { sheet }) });

/** What an import of a file would store. The caller shows the error. */
export function usePreviewDataset() {
  const { client } = useHost();
  return useMutation({
    meta: { isOnlyForCaller: true },
    mutationFn: ({ signal, ...source }: DatasetFile & Upload) =>
      client.upload(previewDatasetImport, { fields: readingOf(source), file: source.file, signal }),
  });
}

interface Import extends DatasetFile, Upload {
  readonly name: string;
  /** New names of columns; null leaves one out. */
  readonly names: Readonly<Record<string, string | null>>;
  readonly types: Readonly<Record<string, DatasetColumn['type']>>;
  readonly onProgress: (fraction: number) => void;
}

/** Makes a dataset of a file. The caller shows the error. */
export function useImportDataset() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ name, names, types, signal, onProgress, ...source }: Import) =>
      client.upload(importDataset, {
        fields: { ...readingOf(source), name, names: JSON.stringify(names), types: JSON.stringify(types) },
        file: source.file,
        signal,
        onProgress,
      }),
    onSettled: useRenewDatasets(),
  });
}

const jobsKey = ['dataset-jobs'] as const;
const jobRefetchMs = 300;

/** The jobs that make datasets of recorded runs, newest first. The lists of datasets follow when one ends. */
export function useDatasetJobs() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const renew = useRenewDatasets();
  return useQuery({
    queryKey: jobsKey,
    queryFn: async ({ signal }) => {
      const before = queryClient.getQueryData<DatasetJob[]>(jobsKey) ?? [];
      const { data } = await client.call(listDatasetJobs, { signal });
      const isRunning = (id: string, jobs: readonly DatasetJob[]) =>
        jobs.some((job) => job.id === id && job.state === 'running');
      if (before.some(({ id }) => isRunning(id, before) && !isRunning(id, data))) void renew();
      return data;
    },
    refetchInterval: ({ state }) => (state.data?.some((job) => job.state === 'running') ? jobRefetchMs : false),
  });
}

/** Starts a job that makes a dataset of recorded runs. The caller shows the error. */
export function useStartDatasetJob() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: RunDatasetInput) => client.call(startDatasetJob, { body }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: jobsKey }),
  });
}

export function useStopDatasetJob() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.call(stopDatasetJob, { parameters: { id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: jobsKey }),
  });
}
