import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query';
import { useCallback } from 'react';
import { followPrompts, readPromptOutline, type PromptOutline } from '../../shared/contract/prompt-library.ts';
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
import { uncount, useDeletions } from '../stores/deletions.ts';
import { readAgain, useFollow } from './follow.ts';
import type { LibraryFilter } from '../stores/prompts.ts';

export const promptsKey = ['prompts'] as const;
const listKey = [...promptsKey, 'list'] as const;
const oneKey = [...promptsKey, 'one'] as const;
/** Separate from the others, because the host pushes it and it is never fetched. */
const changesKey = ['prompt-changes'] as const;
export const pageSize = { prompts: 100, versions: 30 } as const;

function listQueryOf({ query, folder, tags }: LibraryFilter) {
  return {
    pageSize: pageSize.prompts,
    ...(query.trim() !== '' && { search: query }),
    ...(folder !== null && { folder }),
    ...(tags.length > 0 && { tags: tags.map((tag) => tag.replaceAll(',', '\\,')).join(',') }),
  };
}

/** The prompts that match, newest first, page by page. The previous ones stay until the new ones have loaded. */
export function usePromptList(filter: LibraryFilter) {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: [...listKey, filter],
    initialPageParam: null as string | null,
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam }) =>
      client.call(listPrompts, {
        signal,
        query: { ...listQueryOf(filter), ...(pageParam && { continuationToken: pageParam }) },
      }),
    getNextPageParam: (page) => page.continuationToken,
  });
}

async function readMany(client: Client, filter: LibraryFilter, max: number, signal: AbortSignal): Promise<Prompt[]> {
  const prompts: Prompt[] = [];
  let continuationToken: string | null = null;
  do {
    const query = { ...listQueryOf(filter), ...(continuationToken !== null && { continuationToken }) };
    const page: { data: Prompt[]; continuationToken: string | null } = await client.call(listPrompts, {
      signal,
      query,
    });
    prompts.push(...page.data);
    continuationToken = page.continuationToken;
  } while (continuationToken !== null && prompts.length < max);
  return prompts;
}

/** The newest prompts that match, in one request, at most about `max` of them. */
export function usePromptsAtOnce(filter: LibraryFilter, { max, isEnabled }: { max: number; isEnabled: boolean }) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...promptsKey, 'at-once', filter, max],
    enabled: isEnabled,
    queryFn: ({ signal }) => readMany(client, filter, max, signal),
  });
}

/** Prompts with these terms in their names, folders, tags, descriptions or labels; an empty list without terms. */
export function usePromptsNamed(words: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...promptsKey, 'named', words],
    enabled: words.trim() !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { search: words.slice(0, 500), searchIn: 'details', pageSize: pageSize.prompts } as const;
      return (await client.call(listPrompts, { signal, query })).data;
    },
  });
}

const outlineKey = [...promptsKey, 'outline'] as const;

/** The outline without these prompts, and without folders and tags that only they had. */
function outlineWithout(outline: PromptOutline, removed: readonly Prompt[]): PromptOutline {
  if (removed.length === 0) return outline;
  const without = (isIn: (prompt: Prompt) => boolean) => (count: number) => count - removed.filter(isIn).length;
  const isWithin = (folder: string) => (prompt: Prompt) => `${prompt.folder ?? ''}/`.startsWith(`${folder}/`);
  return {
    prompts: without(() => true)(outline.prompts),
    withoutFolder: without(({ folder }) => folder === null)(outline.withoutFolder),
    folders: outline.folders
      .map(({ folder, prompts }) => ({ folder, prompts: without(isWithin(folder))(prompts) }))
      .filter(({ prompts }) => prompts > 0),
    tags: outline.tags
      .map(({ tag, prompts }) => ({ tag, prompts: without(({ tags }) => tags.includes(tag))(prompts) }))
      .filter(({ prompts }) => prompts > 0),
  };
}

/** Folders and tags of the library with their prompt counts; prompts whose deletion can be undone don't count. */
export function usePromptOutline() {
  const { client } = useHost();
  const counted = useDeletions((state) => state.counted);
  return useQuery({
    queryKey: outlineKey,
    queryFn: ({ signal }) => client.call(readPromptOutline, { signal }),
    select: useCallback(
      (outline: PromptOutline) =>
        outlineWithout(
          outline,
          [...counted.values()].flatMap((object) => ('prompt' in object ? [object.prompt] : [])),
        ),
      [counted],
    ),
  });
}

/** Removes deleted prompts from the cached outline, which then no longer has to leave them out. */
function takeRemoved(queryClient: QueryClient, ids: readonly string[]): void {
  const { counted } = useDeletions.getState();
  const removed = ids.flatMap((id) => {
    const object = counted.get(id);
    return object && 'prompt' in object ? [object.prompt] : [];
  });
  if (removed.length === 0) return;
  queryClient.setQueryData<PromptOutline>(outlineKey, (outline) => outline && outlineWithout(outline, removed));
  uncount(ids);
}

/**
 * Keeps the library fresh while the screen is open: an API client, a linked folder or another window may change it. A deleted
 * prompt is never shown from the cache.
 */
export function useFollowPrompts(): void {
  const queryClient = useQueryClient();
  useFollow(followPrompts, ({ changes, removedIds }) => {
    const isKnown = queryClient.getQueryData(changesKey) === changes;
    queryClient.setQueryData(changesKey, changes);
    if (isKnown) return;
    takeRemoved(queryClient, removedIds);
    queryClient.removeQueries({ queryKey: oneKey, type: 'inactive' });
    readAgain(queryClient, promptsKey);
  });
}

/** One prompt; null fetches nothing. */
export function usePrompt(promptId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...oneKey, promptId],
    enabled: promptId !== null,
    queryFn: ({ signal }) => client.call(readPrompt, { signal, parameters: { id: promptId ?? '' } }),
  });
}

/** Reads one version, also of a deleted prompt. */
export function promptVersionOptions(client: Client, promptId: string, versionId: string) {
  return queryOptions({
    queryKey: ['prompt-versions', versionId],
    // A version never changes.
    staleTime: Infinity,
    queryFn: ({ signal }) => client.call(readPromptVersion, { signal, parameters: { id: promptId, versionId } }),
  });
}

/** One version, also of a deleted prompt; null fetches nothing. */
export function usePromptVersion(promptId: string | null, versionId: string | null) {
  const { client } = useHost();
  const isEnabled = promptId !== null && versionId !== null;
  return useQuery({ ...promptVersionOptions(client, promptId ?? '', versionId ?? ''), enabled: isEnabled });
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
        query: { pageSize: pageSize.versions, ...(pageParam && { continuationToken: pageParam }) },
      }),
    getNextPageParam: (page) => page.continuationToken,
  });
}

/** Refetches all visible data of the library. */
export function useRenewPrompts() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: promptsKey });
}

/** Saves a prompt with its first version. The caller shows the error. */
export function useCreatePrompt() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: PromptInput) => client.call(createPrompt, { body }),
    onSettled: useRenewPrompts(),
  });
}

/** Adds a version, which becomes the newest one. The caller shows the error. */
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

/** Deletes a prompt at once; `deleteWithUndo` waits until Undo is over. */
export function useRemovePrompt(): (promptId: string) => Promise<unknown> {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const renew = useRenewPrompts();
  return async (id) => {
    await client.call(deletePrompt, { parameters: { id } });
    takeRemoved(queryClient, [id]);
    await renew();
  };
}

/** The content of a version, without the fields that the host assigns. */
export function versionInput({ promptText, systemMessage, aiSystem, model, configuration, variables }: PromptVersion) {
  return { promptText, systemMessage, aiSystem, model, configuration, variables } satisfies PromptVersionInput;
}

/** Creates a prompt from the newest version of another one. */
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
