import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  addEndpoint,
  confirmEndpointAddress,
  listEndpoints,
  removeEndpoint,
  testEndpoint,
  updateEndpoint,
} from '../../shared/contract/providers.ts';
import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';
import { modelsKey } from './models.ts';
import { settingsKey } from './query-keys.ts';

export const endpointsKey = ['endpoints'] as const;

/** Compatible endpoints, and local ones that were found but not added. */
export function useEndpoints() {
  const { client } = useHost();
  return useQuery({ queryKey: endpointsKey, queryFn: ({ signal }) => client.call(listEndpoints, { signal }) });
}

function useRenewEndpoints() {
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: endpointsKey }),
      queryClient.invalidateQueries({ queryKey: modelsKey }),
      // Removing an endpoint removes its prices.
      queryClient.invalidateQueries({ queryKey: settingsKey }),
    ]);
}

export interface EndpointInput {
  name: string;
  baseAddress: string;
  /** Undefined leaves the key as it is, null removes it. */
  key?: string | null | undefined;
}

/** Keeps an endpoint by `keep` and tests it at once. What was typed, the key above all, is forgotten with its answer. */
function useKeepEndpoint(keep: (client: Client, input: EndpointInput) => Promise<unknown>) {
  const { client } = useHost();
  const renew = useRenewEndpoints();
  return useMutation({
    meta: { isFailureShown: true },
    gcTime: 0,
    mutationFn: async (input: EndpointInput) => {
      await keep(client, input);
      return client.call(testEndpoint, { parameters: { name: input.name } });
    },
    onSettled: renew,
  });
}

/** Adds an endpoint and tests it at once. */
export function useAddEndpoint() {
  return useKeepEndpoint((client, { name, baseAddress, key }) =>
    client.call(addEndpoint, { body: { name, baseAddress, key } }),
  );
}

/** Changes address or key and tests at once. */
export function useUpdateEndpoint() {
  return useKeepEndpoint((client, { name, baseAddress, key }) => {
    const body = key === undefined ? { baseAddress } : { baseAddress, key };
    return client.call(updateEndpoint, { parameters: { name }, body });
  });
}

/** Lets prompts and the key be sent to the address that the person has seen, and tests it at once. */
export function useConfirmEndpointAddress(name: string) {
  const { client } = useHost();
  const renew = useRenewEndpoints();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: async (origin: string) => {
      await client.call(confirmEndpointAddress, { parameters: { name }, body: { origin } });
      return client.call(testEndpoint, { parameters: { name } });
    },
    onSettled: renew,
  });
}

export function useTestEndpoint() {
  const { client } = useHost();
  const renew = useRenewEndpoints();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (name: string) => client.call(testEndpoint, { parameters: { name } }),
    onSettled: renew,
  });
}

export function useRemoveEndpoint() {
  const { client } = useHost();
  const renew = useRenewEndpoints();
  return useMutation({
    mutationFn: (name: string) => client.call(removeEndpoint, { parameters: { name } }),
    onSettled: renew,
  });
}
