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
  // What the host answers to one change is older than the next one, which is on the screen already and waits for its turn.
  const isLast = () => queryClient.isMutating({ mutationKey: settingsKey }) === 1;
  return useMutation({
    meta,
    mutationKey: settingsKey,
    scope: { id: 'settings' },
    mutationFn: (body: Partial<Settings>) => client.call(updateSettings, { body }),
    onMutate: async (change) => {
      await queryClient.cancelQueries({ queryKey: settingsKey });
      const before = queryClient.getQueryData<Settings>(settingsKey);
      if (before) queryClient.setQueryData<Settings>(settingsKey, { ...before, ...change });
      return { before };
    },
    onError: (_error, _change, context) => {
      if (!isLast()) return;
      if (context?.before) queryClient.setQueryData(settingsKey, context.before);
      // An earlier change may have been refused too, and is in what was there before this one; and where nothing was there,
      // the first reading was given up for this change.
      void queryClient.invalidateQueries({ queryKey: settingsKey });
    },
    onSuccess: (settings) => {
      if (isLast()) queryClient.setQueryData(settingsKey, settings);
    },
    onSettled: (_settings, _error, change) =>
      Promise.all([
        change.localServer && queryClient.invalidateQueries({ queryKey: hostKey }),
        (change.serviceRoutes ?? change.endpointPrices) && queryClient.invalidateQueries({ queryKey: modelsKey }),
      ]),
  });
}
