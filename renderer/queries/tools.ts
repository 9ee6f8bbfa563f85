import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createTool,
  createToolVersion,
  deleteTool,
  listTools,
  listToolUses,
  listToolVersions,
  readToolVersion,
  type Tool,
  type ToolInput,
  type ToolVersion,
} from '../../shared/contract/tool-library.ts';
import { useHost } from '../host/host-context.tsx';

const toolsKey = ['tools'] as const;
const pageSize = 50;

/** The tools that match, newest first, page by page. */
export function useToolList(search: string) {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: [...toolsKey, 'list', search],
    initialPageParam: null as string | null,
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam }) =>
      client.call(listTools, {
        signal,
        query: {
          pageSize,
          ...(search.trim() !== '' && { search }),
          ...(pageParam && { continuationToken: pageParam }),
        },
      }),
    getNextPageParam: (page) => page.continuationToken,
  });
}

/** The newest versions of a tool, with their schemas and mocks. */
export function useToolVersions(toolId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...toolsKey, 'versions', toolId],
    enabled: toolId !== null,
    queryFn: ({ signal }) =>
      client.call(listToolVersions, { signal, parameters: { id: toolId! }, query: { pageSize } }),
  });
}

/** The prompt versions and agents with a tool, newest first, page by page. Read whenever it is shown: other screens change it. */
export function useToolUses(toolId: string) {
  const { client } = useHost();
  return useInfiniteQuery({
    queryKey: [...toolsKey, 'uses', toolId],
    initialPageParam: null as string | null,
    staleTime: 0,
    queryFn: ({ signal, pageParam }) =>
      client.call(listToolUses, {
        signal,
        parameters: { id: toolId },
        query: { pageSize, ...(pageParam && { continuationToken: pageParam }) },
      }),
    getNextPageParam: (page) => page.continuationToken,
  });
}

/** Reads the newest version of a tool, to copy it. */
export function useReadTool(): (tool: Pick<Tool, 'id' | 'latestVersionId'>) => Promise<ToolVersion> {
  const { client } = useHost();
  return ({ id, latestVersionId }) => client.call(readToolVersion, { parameters: { id, versionId: latestVersionId } });
}

/** Saves a new tool, or a version of one. The caller shows why it couldn't. */
export function useSaveTool() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: async ({ toolId, body }: { toolId: string | null; body: ToolInput }): Promise<ToolVersion> => {
      if (toolId !== null) return client.call(createToolVersion, { parameters: { id: toolId }, body });
      const { id, latestVersionId } = await client.call(createTool, { body });
      return client.call(readToolVersion, { parameters: { id, versionId: latestVersionId } });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: toolsKey }),
  });
}

export function useDeleteTool() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.call(deleteTool, { parameters: { id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: toolsKey }),
  });
}
