import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { KeyedProvider } from '../../shared/contract/common.ts';
import {
  confirmProviderAddress,
  listProviders,
  removeProviderKey,
  setProviderKey,
  testProvider,
  updateProvider,
} from '../../shared/contract/providers.ts';
import { useHost } from '../host/host-context.tsx';
import { modelsKey } from './models.ts';

export const providersKey = ['providers'] as const;

export function useProviders() {
  const { client } = useHost();
  return useQuery({ queryKey: providersKey, queryFn: ({ signal }) => client.call(listProviders, { signal }) });
}

/** Models are ready or not by their provider's key, so both are renewed together. */
function useRenewProviders() {
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: providersKey }),
      queryClient.invalidateQueries({ queryKey: modelsKey }),
    ]);
}

/** Keeps a key and tests it at once. The key is on its way to the host only; no cache holds it afterwards. */
export function useSetProviderKey(aiSystem: KeyedProvider) {
  const { client } = useHost();
  const renew = useRenewProviders();
  return useMutation({
    meta: { isFailureShown: true },
    // The variables of a mutation stay in its cache until it is collected; a key must not.
    gcTime: 0,
    mutationFn: async (key: string) => {
      await client.call(setProviderKey, { parameters: { aiSystem }, body: { key } });
      return client.call(testProvider, { parameters: { aiSystem } });
    },
    onSettled: renew,
  });
}

/** Lets the key be sent to the address that the person has seen, and tests it at once. */
export function useConfirmProviderAddress(aiSystem: KeyedProvider) {
  const { client } = useHost();
  const renew = useRenewProviders();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: async (origin: string) => {
      await client.call(confirmProviderAddress, { parameters: { aiSystem }, body: { origin } });
      return client.call(testProvider, { parameters: { aiSystem } });
    },
    onSettled: renew,
  });
}

export function useTestProvider(aiSystem: KeyedProvider) {
  const { client } = useHost();
  const renew = useRenewProviders();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: () => client.call(testProvider, { parameters: { aiSystem } }),
    onSettled: renew,
  });
}

export function useRemoveProviderKey(aiSystem: KeyedProvider) {
  const { client } = useHost();
  const renew = useRenewProviders();
  return useMutation({
    mutationFn: () => client.call(removeProviderKey, { parameters: { aiSystem } }),
    onSettled: renew,
  });
}

/** Sets the base address; null goes back to the provider's own. */
export function useUpdateProvider(aiSystem: KeyedProvider) {
  const { client } = useHost();
  const renew = useRenewProviders();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (baseAddress: string | null) =>
      client.call(updateProvider, { parameters: { aiSystem }, body: { baseAddress } }),
    onSettled: renew,
  });
}
