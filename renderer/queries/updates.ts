import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { checkForUpdates, downloadUpdate, installUpdate, readUpdates } from '../../shared/contract/updates.ts';
import { useCapability, useHost } from '../host/host-context.tsx';
import { useSettings } from './settings.ts';

const updatesKey = ['updates'] as const;

/** How often a running check or download is looked at, in milliseconds. */
const changeMilliseconds = 500;
/** The same otherwise: the host checks once a day. */
const calmMilliseconds = 60_000;

/** Where the search for a newer version stands. Asks only the host, and only one that can update itself. */
export function useUpdates() {
  const { client } = useHost();
  const isEnabled = useSettings().data?.updates.isEnabled;
  return useQuery({
    // The host starts or stops the check with the setting.
    queryKey: [...updatesKey, isEnabled],
    queryFn: ({ signal }) => client.call(readUpdates, { signal }),
    enabled: useCapability('updates') && isEnabled !== undefined,
    refetchInterval: ({ state: { data } }) => {
      const isWaiting = isEnabled === true && data?.host !== null && data?.status === 'off';
      const isChanging = isWaiting || data?.status === 'checking' || data?.status === 'downloading';
      return isChanging ? changeMilliseconds : calmMilliseconds;
    },
  });
}

const calls = { check: checkForUpdates, download: downloadUpdate } as const;

/** Checks again, or downloads what was found. */
export function useUpdateStep() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (step: keyof typeof calls) => client.call(calls[step]),
    onSettled: () => queryClient.invalidateQueries({ queryKey: updatesKey }),
  });
}

export function useInstallUpdate() {
  const { client } = useHost();
  return useMutation({ mutationFn: () => client.call(installUpdate) });
}
