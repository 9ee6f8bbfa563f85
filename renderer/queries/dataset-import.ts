import { useMutation } from '@tanstack/react-query';
import {
  createRunDataset,
  type DatasetFormat,
  importDataset,
  previewDatasetImport,
  type RunDatasetInput,
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
    meta: { isFailureShown: true },
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

/** Makes a dataset of recorded runs. The caller shows the error. */
export function useCreateRunDataset() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: RunDatasetInput) => client.call(createRunDataset, { body }),
    onSettled: useRenewDatasets(),
  });
}
