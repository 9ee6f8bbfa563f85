import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { readComparisonCells } from '../../shared/contract/comparison-results.ts';
import {
  calibrateJudge,
  createJudge,
  deleteJudge,
  deleteJudgeLabels,
  type Judge,
  type JudgeInput,
  labelFromVotes,
  listJudges,
  readJudge,
  readJudgeLabels,
  setJudgeLabel,
  updateJudge,
} from '../../shared/contract/judges.ts';
import { listRuns } from '../../shared/contract/runs.ts';
import { useHost } from '../host/host-context.tsx';

const judgesKey = ['judges'] as const;
const oneKey = (id: string) => [...judgesKey, 'one', id] as const;

/** The newest judges. */
export function useJudges() {
  const { client } = useHost();
  return useQuery({
    queryKey: [...judgesKey, 'list'],
    queryFn: ({ signal }) => client.call(listJudges, { signal, query: { pageSize: 100 } }),
    select: ({ data }) => data,
  });
}

export function useJudge(id: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: oneKey(id),
    queryFn: ({ signal }) => client.call(readJudge, { signal, parameters: { id } }),
  });
}

/** The labels by hand, with the verdicts on the same answers. */
export function useJudgeLabels(id: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...judgesKey, 'labels', id],
    queryFn: ({ signal }) => client.call(readJudgeLabels, { signal, parameters: { id } }),
    select: ({ data }) => data,
  });
}

function useShowJudge(): (judge: Judge) => Promise<void> {
  const queryClient = useQueryClient();
  return async (judge) => {
    queryClient.setQueryData(oneKey(judge.id), judge);
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: [...judgesKey, 'list'] }),
      queryClient.invalidateQueries({ queryKey: [...judgesKey, 'labels', judge.id] }),
    ]);
  };
}

/** Creates a judge, or changes one. The caller shows the error. */
export function useSaveJudge(id: string | null) {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: JudgeInput) =>
      id === null ? client.call(createJudge, { body }) : client.call(updateJudge, { parameters: { id }, body }),
    onSuccess: useShowJudge(),
  });
}

export function useDeleteJudge() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.call(deleteJudge, { parameters: { id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: judgesKey }),
  });
}

/** Sets a label by hand; null removes it. */
export function useSetLabel(id: string) {
  const { client } = useHost();
  return useMutation({
    // Labels are set in the order of the keys.
    scope: { id: `labels of ${id}` },
    mutationFn: ({ runId, label }: { runId: string; label: 'pass' | 'fail' | null }) =>
      client.call(setJudgeLabel, { parameters: { id, runId }, body: { label } }),
    onSuccess: useShowJudge(),
  });
}

/** Makes votes of a finished blind vote labels. The caller shows the error. */
export function useLabelFromVotes(id: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (blindVoteId: string) => client.call(labelFromVotes, { parameters: { id }, body: { blindVoteId } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: judgesKey }),
  });
}

export function useDeleteLabels(id: string) {
  const { client } = useHost();
  return useMutation({
    mutationFn: () => client.call(deleteJudgeLabels, { parameters: { id } }),
    onSuccess: useShowJudge(),
  });
}

/** Judges what is labelled and has no verdict. The caller shows the error. */
export function useCalibrate(id: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: () => client.call(calibrateJudge, { parameters: { id } }),
    onSuccess: useShowJudge(),
    // Verdicts are kept if it fails halfway.
    onError: () => queryClient.invalidateQueries({ queryKey: judgesKey }),
  });
}

/** The last digits of a run's id are random, so that labels aren't only of the first rows. */
const shuffled = (runIds: readonly string[]) =>
  runIds.toSorted((one, other) => (one.slice(-12) < other.slice(-12) ? -1 : 1));

/** Completed runs of a comparison, or with null the newest of the audit, in a random order that stays the same. */
export function useRunsToLabel(comparisonId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...judgesKey, 'runs', comparisonId],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      if (comparisonId === null) {
        const { data } = await client.call(listRuns, { signal, query: { pageSize: 100 } });
        return shuffled(data.filter(({ status }) => status === 'Completed').map(({ runId }) => runId));
      }
      const query = { state: 'Completed', limit: 1000 } as const;
      const { data } = await client.call(readComparisonCells, { signal, parameters: { id: comparisonId }, query });
      return shuffled(data.flatMap(({ runId }) => runId ?? []));
    },
  });
}
