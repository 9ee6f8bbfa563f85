import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type AuditFilter, countAuditFacets, searchAudit, summarizeAudit } from '../../shared/contract/audit.ts';
import { originApis } from '../../shared/contract/conversations.ts';
import {
  type AddedRunsInput,
  addRunsToDataset,
  createRunDataset,
  type RunDatasetInput,
} from '../../shared/contract/dataset-import.ts';
import { readRecorder } from '../../shared/contract/passthrough.ts';
import type { Settings } from '../../shared/contract/settings.ts';
import { useHost } from '../host/host-context.tsx';
import { auditFacetsKey } from './audit.ts';
import { useRenewDatasets } from './datasets.ts';

/** The APIs through which other programs call. */
export const recordedApis = originApis.filter((api) => api !== 'completions' && api !== 'import');

/** Whether anything is recorded of calls of other programs. */
export function isRecording({ isPaused, levels }: Settings['recorder']): boolean {
  return !isPaused && Object.values(levels).some((level) => level !== 'none');
}

/** How soon a call appears, in milliseconds. A search of the audit takes a few milliseconds of its thread. */
const refetchMilliseconds = 1500;
const recorderRefetchMilliseconds = 2000;

/** Rows of the list: as many as one search returns. The audit has the others. */
export const maxListedCalls = 200;

/** The newest matching calls, one row per conversation. They are read again while something shows them. */
export function useRecordedCalls(filter: AuditFilter) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['audit', 'recorded-calls', 'list', filter],
    queryFn: ({ signal }) =>
      client.call(searchAudit, { signal, body: { filter, sort: 'newest', limit: maxListedCalls } }),
    refetchInterval: refetchMilliseconds,
    placeholderData: keepPreviousData,
  });
}

/** Has the values of filters read again where they are shown next: the host doesn't notify the window of calls. */
export function useRenewFacets(revision: string): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: auditFacetsKey, refetchType: 'none' });
  }, [queryClient, revision]);
}

/** Counts of the matching calls and of their programs. They are read again when `revision` changes. */
export function useRecordedSummary(filter: AuditFilter, revision: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['audit', 'recorded-calls', 'summary', filter, revision],
    queryFn: async ({ signal }) => {
      const [summary, { clients }] = await Promise.all([
        client.call(summarizeAudit, { signal, body: { filter } }),
        client.call(countAuditFacets, { signal, body: { filter } }),
      ]);
      // A field's own condition doesn't limit its values.
      const programs = clients.filter(({ client: name }) => filter.clients?.includes(name) ?? true).length;
      return { summary, programs };
    },
    gcTime: 30_000,
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
