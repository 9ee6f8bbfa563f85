import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  checkText,
  createBatch,
  explainText,
  exportBatch,
  followBatches,
  listBatches,
  readBatchResults,
  readBatchText,
  readGuardCosts,
  readPresets,
  stopBatch,
  type Batch,
  type BatchInput,
  type BatchResult,
  type CategoryScores,
} from '../../shared/contract/moderation-window.ts';
import type { Highlight, ModerationClassifier } from '../../shared/contract/moderation.ts';
import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';
import type { CheckedInput } from '../stores/moderation.ts';
import { useFollowedList } from './follow.ts';

const batchesKey = ['moderation', 'batches'] as const;
const pageSize = 2000;

/** Scores of one text. A provider may charge for it, so a failed check is not retried. */
export function useCheck(input: CheckedInput | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['moderation', 'check', input],
    meta: { mayCost: true },
    enabled: input !== null,
    staleTime: Infinity,
    retry: false,
    queryFn: ({ signal }) =>
      client.call(checkText, {
        signal,
        body: { text: input!.text, classifiers: [...input!.classifiers] },
        isLasting: true,
      }),
  });
}

/** Passages of a text above the given thresholds. Only the on-device classifier reports passages, at no cost. */
export function useHighlights(text: string | null, thresholds: CategoryScores | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['moderation', 'highlights', text, thresholds],
    enabled: text !== null && text !== '' && thresholds !== null,
    staleTime: Infinity,
    placeholderData: (before: readonly Highlight[] | undefined, query) =>
      query?.queryKey[2] === text ? before : undefined,
    queryFn: async ({ signal }): Promise<readonly Highlight[]> => {
      const body = { text: text!, classifiers: [{ kind: 'on-device' as const }], thresholds: thresholds! };
      const { results } = await client.call(checkText, { signal, body });
      return results[0]!.highlights;
    },
  });
}

/** On-device scores of a text without each of its passages; stops when the screen no longer shows it. */
export function useExplanation(text: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['moderation', 'explanation', text],
    enabled: text !== null && text !== '',
    staleTime: Infinity,
    queryFn: ({ signal }) => client.call(explainText, { signal, body: { text: text! }, isLasting: true }),
  });
}

export function usePresets(classifier: ModerationClassifier | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['moderation', 'presets', classifier],
    enabled: classifier !== null,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await client.call(readPresets, { signal, body: { classifier: classifier! } })).presets,
  });
}

/** Batches, newest first, with the progress of active ones. */
export function useBatches() {
  return useFollowedList(batchesKey, (client, signal) => client.call(listBatches, { signal }), followBatches);
}

/** How many texts all active classifiers have finished. */
function finishedTexts({ total, classifiers }: Batch): number {
  return Math.min(total, ...classifiers.map(({ done, failure }) => (failure ? total : done)));
}

/** Every text of a batch. The first `settled` texts are final. */
interface FinishedResults {
  settled: number;
  results: readonly BatchResult[];
}

async function readResults(
  client: Client,
  batch: Batch,
  known: readonly BatchResult[],
  settled: number,
  signal: AbortSignal,
): Promise<FinishedResults> {
  const results = known.slice(0, settled);
  while (results.length < batch.total) {
    const query = { offset: String(results.length), limit: String(pageSize) };
    const page = await client.call(readBatchResults, { signal, parameters: { id: batch.id }, query });
    if (page.results.length === 0) break;
    results.push(...page.results);
  }
  return { settled: finishedTexts(batch), results };
}

/** Scores of every text; while the batch runs, only new ones are fetched. */
export function useBatchResults(batch: Batch | undefined) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const progress = batch ? batch.classifiers.map(({ done, failure }) => `${done} ${failure?.code ?? ''}`) : [];
  const family = ['moderation', 'results', batch?.id ?? null];
  return useQuery({
    queryKey: [...family, progress, batch?.state ?? null],
    enabled: batch !== undefined,
    staleTime: Infinity,
    gcTime: 5_000,
    placeholderData: (before: FinishedResults | undefined, query) =>
      query?.queryKey[2] === batch?.id ? before : undefined,
    queryFn: async ({ signal }): Promise<FinishedResults> => {
      const earlier = queryClient
        .getQueriesData<FinishedResults>({ queryKey: family })
        .map(([, data]) => data)
        .filter((data) => data !== undefined)
        .toSorted((one, other) => other.settled - one.settled)[0];
      return readResults(client, batch!, earlier?.results ?? [], earlier?.settled ?? 0, signal);
    },
  });
}

export function useBatchText(id: string | null, index: number | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['moderation', 'text', id, index],
    enabled: id !== null && index !== null,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const parameters = { id: id!, index: String(index!) };
      return (await client.call(readBatchText, { signal, parameters })).text;
    },
  });
}

export function useCreateBatch() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: BatchInput) => client.call(createBatch, { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: batchesKey }),
  });
}

export function useStopBatch() {
  const { client } = useHost();
  return useMutation({ mutationFn: (id: string) => client.call(stopBatch, { parameters: { id } }) });
}

export interface ExportRequest {
  id: string;
  format: 'csv' | 'jsonl';
  thresholds: CategoryScores;
}

export function useExportBatch() {
  const { client } = useHost();
  return useMutation({
    mutationFn: ({ id, format, thresholds }: ExportRequest) =>
      client.call(exportBatch, { parameters: { id }, body: { format, thresholds: [thresholds] } }),
  });
}

/** The guard's costs so far, refetched while they are shown. */
export function useGuardCosts(isShown: boolean) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['moderation', 'guard'],
    enabled: isShown,
    refetchInterval: 3000,
    queryFn: ({ signal }) => client.call(readGuardCosts, { signal }),
  });
}
