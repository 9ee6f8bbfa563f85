import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { readSettings, updateSettings, type Settings } from '../../shared/contract/settings.ts';
import { useHost } from '../host/host-context.tsx';
import { hostKey } from './host-state.ts';
import { modelsKey } from './models.ts';
import { settingsKey } from './query-keys.ts';

export function useSettings() {
  const { client } = useHost();
  return useQuery({ queryKey: settingsKey, queryFn: ({ signal }) => client.call(readSettings, { signal }) });
}

/** Replaces whole groups of settings. The change is shown at once and taken back if the host refuses it. */
export function useUpdateSettings(meta: { isFailureShown?: boolean } = {}) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta,
    mutationFn: (body: Partial<Settings>) => client.call(updateSettings, { body }),
    onMutate: async (change) => {
      await queryClient.cancelQueries({ queryKey: settingsKey });
      const before = queryClient.getQueryData<Settings>(settingsKey);
      if (before) queryClient.setQueryData<Settings>(settingsKey, { ...before, ...change });
      return { before };
    },
    onError: (_error, _change, context) => {
      if (context?.before) queryClient.setQueryData(settingsKey, context.before);
    },
    onSuccess: (settings) => queryClient.setQueryData(settingsKey, settings),
    onSettled: (_settings, _error, change) =>
      Promise.all([
        change.localServer && queryClient.invalidateQueries({ queryKey: hostKey }),
        change.serviceRoutes && queryClient.invalidateQueries({ queryKey: modelsKey }),
      ]),
  });
}
