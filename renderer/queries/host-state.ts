import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createBackup,
  type HostState,
  listBackups,
  readHost,
  restoreBackup,
  type Settings,
} from '../../shared/contract/settings.ts';
import { readPrivacy } from '../../shared/contract/privacy.ts';
import { useHost } from '../host/host-context.tsx';
import { settingsKey } from './query-client.ts';

/** The state of the local server compared with the settings. */
type ServerState = 'off' | 'changing' | 'on' | 'failed';

function matchesSettings(address: string, { port, isTls }: Settings['localServer']): boolean {
  const { protocol, port: actualPort } = new URL(address);
  return (protocol === 'https:') === isTls && (port === 0 || Number(actualPort) === port);
}

/**
 * The host starts and moves its listener after it has responded to the change of settings, and may have to create a certificate
 * first. Until both agree, the state is `changing`. A host without a switch always listens as it was started.
 */
export function serverState(host: HostState, requested: Settings['localServer'] | undefined): ServerState {
  if (host.serverFailure !== null) return 'failed';
  const canSwitch = host.capabilities.includes('local-server-switch');
  if (host.serverAddress === null) return canSwitch && requested?.isEnabled ? 'changing' : 'off';
  if (!canSwitch || !requested) return 'on';
  return requested.isEnabled && matchesSettings(host.serverAddress, requested) ? 'on' : 'changing';
}

export const hostKey = ['host'] as const;
const backupsKey = ['backups'] as const;

/** How often the status bar refetches the number of runs and the size of the database, in milliseconds. */
const renewalMilliseconds = 30_000;
/** The same until the first run, which an API client may start: the window shows that there are none. */
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
      const requested = queryClient.getQueryData<Settings>(settingsKey)?.localServer;
      if (data && serverState(data, requested) === 'changing') return changeMilliseconds;
      return data?.runs === 0 ? firstRunMilliseconds : renewalMilliseconds;
    },
  });
}

/** Depends on keys, endpoints, linked folders and the network: refetched whenever the page opens. */
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
