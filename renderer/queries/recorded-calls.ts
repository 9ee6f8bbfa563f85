import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { searchAudit } from '../../shared/contract/audit.ts';
import { originApis } from '../../shared/contract/conversations.ts';
import {
  type AddedRunsInput,
  addRunsToDataset,
  createRunDataset,
  type RunDatasetInput,
} from '../../shared/contract/dataset-import.ts';
import { readRecorder } from '../../shared/contract/passthrough.ts';
import { useHost } from '../host/host-context.tsx';
import { useRenewDatasets } from './datasets.ts';

/** The APIs through which other programs call. */
const recordedApis = originApis.filter((api) => api !== 'completions' && api !== 'import');

/** How soon a call appears, in milliseconds. A search of the audit takes a few milliseconds of its thread. */
const refetchMilliseconds = 1500;
const recorderRefetchMilliseconds = 5000;

/** The newest calls of other programs, one row per conversation. They are read again while something shows them. */
export function useRecordedCalls() {
  const { client } = useHost();
  return useQuery({
    queryKey: ['audit', 'recorded-calls'],
    queryFn: ({ signal }) =>
      client.call(searchAudit, { signal, body: { filter: { origins: recordedApis }, sort: 'newest', limit: 100 } }),
    refetchInterval: refetchMilliseconds,
    placeholderData: keepPreviousData,
  });
}

/** What the recorder did since the host started. It is read again while something shows it. */
export function useRecorderState() {
  const { client } = useHost();
  return useQuery({
    queryKey: ['recorder'],
    queryFn: ({ signal }) => client.call(readRecorder, { signal }),
    refetchInterval: recorderRefetchMilliseconds,
  });
}

/** Makes a dataset of a few runs at once. The caller shows the error. */
export function useCreateRunDataset() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: RunDatasetInput) => client.call(createRunDataset, { body }),
    onSettled: useRenewDatasets(),
  });
}

/** Adds a few runs to a dataset, as a new version. The caller shows the error. */
export function useAddRunsToDataset() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, ...body }: AddedRunsInput & { id: string }) =>
      client.call(addRunsToDataset, { parameters: { id }, body }),
    onSettled: useRenewDatasets(),
  });
}
