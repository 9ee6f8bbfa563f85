import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createBackup, listBackups, readHost, restoreBackup } from '../../shared/contract/settings.ts';
import { useHost } from '../host/host-context.tsx';

export const hostKey = ['host'] as const;
export const backupsKey = ['backups'] as const;

/** How often the status bar looks at the number of runs and the size of the database, in milliseconds. */
const renewalMilliseconds = 30_000;

export function useHostState() {
  const { client } = useHost();
  return useQuery({
    queryKey: hostKey,
    queryFn: ({ signal }) => client.call(readHost, { signal }),
    refetchInterval: renewalMilliseconds,
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
