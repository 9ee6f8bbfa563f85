import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  countDraftRuns,
  listPromptLabelChanges,
  listPromptUsage,
  type PromptLabelInput,
  type PromptVersionUsage,
  removePromptLabel,
  setPromptLabel,
} from '../../shared/contract/prompt-library.ts';
import { useHost } from '../host/host-context.tsx';
import { pageSize, promptsKey, useRenewPrompts } from './prompts.ts';
import { auditKey } from './audit.ts';
import { runsKey } from './runs.ts';

/** The newest hundred moves of a prompt's labels. */
export function usePromptLabelChanges(promptId: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...promptsKey, 'label-changes', promptId],
    queryFn: async ({ signal }) =>
      (await client.call(listPromptLabelChanges, { signal, parameters: { id: promptId }, query: { pageSize: 100 } }))
        .data,
  });
}

/** Points a label at a version. The caller shows the error. */
export function useSetLabel() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ promptId, label, ...body }: PromptLabelInput & { promptId: string; label: string }) =>
      client.call(setPromptLabel, { parameters: { id: promptId, label }, body }),
    onSettled: useRenewPrompts(),
  });
}

/** The caller shows the error. */
export function useRemoveLabel() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ promptId, label }: { promptId: string; label: string }) =>
      client.call(removePromptLabel, { parameters: { id: promptId, label } }),
    onSettled: useRenewPrompts(),
  });
}

/** Refetches the library's data that a run changes. */
export const promptUsageKey = [...promptsKey, 'usage'] as const;

const countAgainMilliseconds = 5_000;

/** Runs and results of a prompt's versions, by version: as many as the list of versions has. */
export function usePromptUsage(promptId: string, versionPages: number) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...promptUsageKey, promptId, versionPages],
    // API clients run versions at any time, and the host doesn't notify the window.
    staleTime: 0,
    refetchInterval: countAgainMilliseconds,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, PromptVersionUsage>> => {
      const usage = new Map<string, PromptVersionUsage>();
      let continuationToken: string | null = null;
      for (let page = 0; page === 0 || (page < versionPages && continuationToken !== null); page += 1) {
        const query = { pageSize: pageSize.versions, ...(continuationToken !== null && { continuationToken }) };
        const parameters = { id: promptId };
        const read: { data: PromptVersionUsage[]; continuationToken: string | null } = await client.call(
          listPromptUsage,
          { signal, parameters, query },
        );
        for (const one of read.data) usage.set(one.promptVersionId, one);
        continuationToken = read.continuationToken;
      }
      return usage;
    },
  });
}

/** Counts the runs of a draft before it was saved for the version that it became. */
export function useCountDraftRuns() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ promptId, versionId, draftId }: { promptId: string; versionId: string; draftId: string }) =>
      client.call(countDraftRuns, { parameters: { id: promptId, versionId }, body: { draftId } }),
    onSuccess: ({ runs }) =>
      runs > 0 &&
      Promise.all([promptUsageKey, runsKey, auditKey].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}
