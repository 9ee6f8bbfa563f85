import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  addEndpoint,
  listEndpoints,
  removeEndpoint,
  testEndpoint,
  updateEndpoint,
} from '../../shared/contract/providers.ts';
import { useHost } from '../host/host-context.tsx';
import { modelsKey } from './models.ts';

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
    ]);
}

export interface EndpointInput {
  name: string;
  baseAddress: string;
  /** Undefined leaves the key as it is, null removes it. */
  key?: string | null | undefined;
}

/** Adds an endpoint and tests it at once. */
export function useAddEndpoint() {
  const { client } = useHost();
  const renew = useRenewEndpoints();
  return useMutation({
    meta: { isFailureShown: true },
    gcTime: 0,
    mutationFn: async ({ name, baseAddress, key }: EndpointInput) => {
      await client.call(addEndpoint, { body: { name, baseAddress, key } });
      return client.call(testEndpoint, { parameters: { name } });
    },
    onSettled: renew,
  });
}

/** Changes address or key and tests at once. */
export function useUpdateEndpoint() {
  const { client } = useHost();
  const renew = useRenewEndpoints();
  return useMutation({
    meta: { isFailureShown: true },
    gcTime: 0,
    mutationFn: async ({ name, baseAddress, key }: EndpointInput) => {
      const body = key === undefined ? { baseAddress } : { baseAddress, key };
      await client.call(updateEndpoint, { parameters: { name }, body });
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
