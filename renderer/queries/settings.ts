import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { readSettings, type Settings, updateSettings } from '../../shared/contract/settings.ts';
import { confirmTraceCollector, readTraceExport } from '../../shared/contract/trace-export.ts';
import { useCapability, useHost } from '../host/host-context.tsx';
import { hostKey } from './host-state.ts';
import { modelsKey } from './providers.ts';
import { settingsKey } from './query-client.ts';
import { checkForUpdates, downloadUpdate, installUpdate, readUpdates } from '../../shared/contract/host-specific.ts';
import {
  type ApiKeyInput,
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  updateApiKey,
} from '../../shared/contract/api-keys.ts';

export function useSettings() {
  const { client } = useHost();
  return useQuery({ queryKey: settingsKey, queryFn: ({ signal }) => client.call(readSettings, { signal }) });
}

const traceExportKey = ['trace-export'] as const;

/** How many runs were sent to the trace collector, read again every two seconds. */
export function useTraceExport() {
  const { client } = useHost();
  return useQuery({
    queryKey: traceExportKey,
    queryFn: ({ signal }) => client.call(readTraceExport, { signal }),
    refetchInterval: 2000,
  });
}

/** Allows sending runs to the confirmed origin. */
export function useConfirmTraceCollector() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (origin: string) => client.call(confirmTraceCollector, { body: { origin } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: traceExportKey }),
  });
}

/** Replaces whole groups of settings. The change shows immediately and is reverted if the host rejects it. */
export function useUpdateSettings(meta: { isFailureShown?: boolean } = {}) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  // The host's response to one change is older than the next change, which is on the screen already and queued.
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
      // The rollback may contain an earlier change that was rejected too. Without cached settings, the first fetch was cancelled
      // for this change.
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

const updatesKey = ['updates'] as const;

/** How often an active check or download is refetched, in milliseconds. */
const changeMilliseconds = 500;
/** The same otherwise: the host checks once a day. */
const calmMilliseconds = 60_000;

/** State of the search for a newer version. Fetched only from a host that can update itself. */
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

/** Checks again, or downloads the version that was found. */
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

const apiKeysKey = ['api-keys'] as const;

export function useApiKeys({ isEnabled = true } = {}) {
  const { client } = useHost();
  return useQuery({
    queryKey: apiKeysKey,
    enabled: isEnabled,
    queryFn: ({ signal }) => client.call(listApiKeys, { signal }),
  });
}

function useRenewApiKeys() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: apiKeysKey });
}

/** The response is the only place with the key. Reset the mutation after showing it. */
export function useIssueApiKey() {
  const { client } = useHost();
  const renew = useRenewApiKeys();
  return useMutation({
    meta: { isFailureShown: true },
    gcTime: 0,
    mutationFn: (body: ApiKeyInput) => client.call(issueApiKey, { body }),
    onSettled: renew,
  });
}

export function useUpdateApiKey() {
  const { client } = useHost();
  const renew = useRenewApiKeys();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, ...body }: { id: string } & Partial<ApiKeyInput>) =>
      client.call(updateApiKey, { parameters: { id }, body }),
    onSettled: renew,
  });
}

export function useRevokeApiKey() {
  const { client } = useHost();
  const renew = useRenewApiKeys();
  return useMutation({
    mutationFn: (id: string) => client.call(revokeApiKey, { parameters: { id } }),
    onSettled: renew,
  });
}
