import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  createPrompt,
  createPromptVersion,
  deletePrompt,
  listPrompts,
  listPromptVersions,
  readPrompt,
  readPromptVersion,
  updatePrompt,
  type Prompt,
  type PromptChange,
  type PromptInput,
  type PromptVersion,
  type PromptVersionInput,
} from '../../shared/contract/prompts.ts';
import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';

const promptsKey = ['prompts'] as const;
const listKey = [...promptsKey, 'list'] as const;
const versionKey = (versionId: string) => ['prompt-versions', versionId] as const;
const versionPageSize = 30;

/** More calls at once than this only wait for each other. */
const callsAtOnce = 8;

async function readAll(client: Client, signal: AbortSignal): Promise<Prompt[]> {
  const prompts: Prompt[] = [];
  let continuationToken: string | null = null;
  do {
    const query: { pageSize: number; continuationToken?: string } = { pageSize: 100 };
    if (continuationToken !== null) query.continuationToken = continuationToken;
    const page: { data: Prompt[]; continuationToken: string | null } = await client.call(listPrompts, {
      signal,
      query,
    });
    prompts.push(...page.data);
    continuationToken = page.continuationToken;
  } while (continuationToken !== null);
  return prompts;
}

/** Every prompt of the library, newest first, without its texts. */
export function usePrompts({ isEnabled = true } = {}) {
  const { client } = useHost();
  return useQuery({ queryKey: listKey, enabled: isEnabled, queryFn: ({ signal }) => readAll(client, signal) });
}

function versionOptions(client: Client, promptId: string, versionId: string) {
  return {
    queryKey: versionKey(versionId),
    // A version never changes.
    staleTime: Infinity,
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<PromptVersion> =>
      client.call(readPromptVersion, { signal, parameters: { id: promptId, versionId } }),
  };
}

/** One version, also of a deleted prompt. */
export function usePromptVersion(promptId: string | null, versionId: string | null) {
  const { client } = useHost();
  return useQuery({
    ...versionOptions(client, promptId ?? '', versionId ?? ''),
    enabled: promptId !== null && versionId !== null,
  });
}

/** The newest version of each prompt, for search and marks in the list. Those that were read before are not read again. */
export function useNewestVersions(prompts: readonly Prompt[], isEnabled: boolean) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  // Whatever is added, changed or taken away changes one of the two; the ids of ten thousand versions would be a slow key.
  const changedAt = useMemo(
    () => prompts.reduce((at, { updatedAt }) => (updatedAt > at ? updatedAt : at), ''),
    [prompts],
  );
  return useQuery({
    queryKey: [...promptsKey, 'newest', prompts.length, changedAt],
    enabled: isEnabled && prompts.length > 0,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, PromptVersion>> => {
      const versions = new Map<string, PromptVersion>();
      for (let start = 0; start < prompts.length; start += callsAtOnce) {
        signal.throwIfAborted();
        const batch = prompts.slice(start, start + callsAtOnce);
        const read = await Promise.all(
          batch.map(({ id, latestVersionId }) => queryClient.fetchQuery(versionOptions(client, id, latestVersionId))),
        );
        for (const version of read) versions.set(version.promptId, version);
      }
      return versions;
    },
  });
}

/** Versions of a prompt, newest first, page by page. */
export function usePromptVersions(promptId: string) {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: [...promptsKey, 'versions', promptId],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      client.call(listPromptVersions, {
        signal,
        parameters: { id: promptId },
        query: { pageSize: versionPageSize, ...(pageParam && { continuationToken: pageParam }) },
      }),
    getNextPageParam: (page) => page.continuationToken,
  });
}

function useRenewPrompts() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: promptsKey });
}

/** Keeps a prompt with its first version. The caller shows why it could not be kept. */
export function useCreatePrompt() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: PromptInput) => client.call(createPrompt, { body }),
    onSettled: useRenewPrompts(),
  });
}

/** Adds a version, which becomes the newest one. The caller shows why it could not be kept. */
export function useAddVersion() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ promptId, ...body }: PromptVersionInput & { promptId: string }) =>
      client.call(createPromptVersion, { parameters: { id: promptId }, body }),
    onSettled: useRenewPrompts(),
  });
}

export function useUpdatePrompt() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, ...body }: PromptChange & { id: string }) =>
      client.call(updatePrompt, { parameters: { id }, body }),
    onSettled: useRenewPrompts(),
  });
}

/** Deletes a prompt at once; `deleteWithUndo` waits for the time to take it back. */
export function useRemovePrompt(): (promptId: string) => Promise<unknown> {
  const { client } = useHost();
  const renew = useRenewPrompts();
  return async (id) => {
    await client.call(deletePrompt, { parameters: { id } });
    await renew();
  };
}

/** What makes a version, without what the host gave it. */
export function versionInput({ promptText, systemMessage, aiSystem, model, configuration, variables }: PromptVersion) {
  return { promptText, systemMessage, aiSystem, model, configuration, variables } satisfies PromptVersionInput;
}

/** A prompt of its own with the newest version of another one. */
export function useDuplicatePrompt() {
  const { client } = useHost();
  return useMutation({
    mutationFn: async ({ id }: Pick<Prompt, 'id'>) => {
      const prompt = await client.call(readPrompt, { parameters: { id } });
      const parameters = { id, versionId: prompt.latestVersionId };
      const version = await client.call(readPromptVersion, { parameters });
      const { name, folder, tags, description } = prompt;
      const note = `Copy of "${name}", version ${version.number}`;
      return client.call(createPrompt, {
        body: { name: `${name.slice(0, 290)}, copy`, folder, tags, description, ...versionInput(version), note },
      });
    },
    onSettled: useRenewPrompts(),
  });
}
