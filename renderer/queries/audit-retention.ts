import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { previewRetention, readRetention, type Retention } from '../../shared/contract/audit-retention.ts';
import { useHost } from '../host/host-context.tsx';
import { useUpdateSettings } from './settings.ts';

const retentionKey = ['audit', 'retention'] as const;

/** The retention in force and when it was applied last. */
export function useRetention() {
  const { client } = useHost();
  return useQuery({
    queryKey: retentionKey,
    queryFn: ({ signal }) => client.call(readRetention, { signal }),
    refetchInterval: ({ state }) => (state.data?.isRunning ? 1_000 : false),
  });
}

/** What a retention would take away now. */
export function useRetentionPreview(asked: { mode: 'delete' | 'anonymise'; days: number } | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...retentionKey, 'preview', asked],
    enabled: asked !== null,
    queryFn: ({ signal }) =>
      client.call(previewRetention, { signal, body: asked as { mode: 'delete' | 'anonymise'; days: number } }),
    placeholderData: keepPreviousData,
  });
}

/** Sets the retention; it is a group of the settings. */
export function useChangeRetention() {
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useUpdateSettings({ isFailureShown: true });
  const change = (retention: Retention) =>
    mutate({ retention }, { onSettled: () => void queryClient.invalidateQueries({ queryKey: retentionKey }) });
  return { change, error, isPending };
}
