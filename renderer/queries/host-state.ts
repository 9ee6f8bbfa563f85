import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { readPrivacy } from '../../shared/contract/privacy.ts';
import { createBackup, listBackups, readHost, restoreBackup, type Settings } from '../../shared/contract/settings.ts';
import { useHost } from '../host/host-context.tsx';
import { settingsKey } from './query-keys.ts';
import { serverState } from './server-state.ts';

export const hostKey = ['host'] as const;
export const backupsKey = ['backups'] as const;

/** How often the status bar looks at the number of runs and the size of the database, in milliseconds. */
const renewalMilliseconds = 30_000;
/** The same until there is a first run, which a program may start: the window says that there are none. */
const firstRunMilliseconds = 3_000;
/** The same while the local server starts, moves or stops. */
const changeMilliseconds = 300;

export function useHostState() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useQuery({
    queryKey: hostKey,
    queryFn: ({ signal }) => client.call(readHost, { signal }),
    refetchInterval: ({ state: { data } }) => {
      const wanted = queryClient.getQueryData<Settings>(settingsKey)?.localServer;
      if (data && serverState(data, wanted) === 'changing') return changeMilliseconds;
      return data?.runs === 0 ? firstRunMilliseconds : renewalMilliseconds;
    },
  });
}

/** Depends on keys, endpoints, linked folders and the network: read whenever the page is opened. */
export function usePrivacy() {
  const { client } = useHost();
  return useQuery({
    queryKey: ['privacy'],
    queryFn: ({ signal }) => client.call(readPrivacy, { signal }),
    refetchOnMount: 'always',
  });
}

export function useBackups() {
  const { client } = useHost();
  return useQuery({ queryKey: backupsKey, queryFn: ({ signal }) => client.call(listBackups, { signal }) });
}

export function useCreateBackup() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: () => client.call(createBackup),
    onSettled: () => queryClient.invalidateQueries({ queryKey: backupsKey }),
  });
}

export function useRestoreBackup() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (fileName: string) => client.call(restoreBackup, { parameters: { fileName } }),
  });
}
