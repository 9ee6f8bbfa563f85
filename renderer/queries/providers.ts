import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AiSystem, KeyedProvider } from '../../shared/contract/common.ts';
import {
  addEndpoint,
  addModel,
  confirmEndpointAddress,
  confirmProviderAddress,
  listEndpoints,
  listModels,
  listProviders,
  removeEndpoint,
  removeModel,
  removeProviderKey,
  setProviderKey,
  testEndpoint,
  testProvider,
  updateEndpoint,
  updateProvider,
} from '../../shared/contract/providers.ts';
import { useHost } from '../host/host-context.tsx';
import type { Client } from '../host/client.ts';
import { settingsKey } from './query-client.ts';

export const modelsKey = ['models'] as const;
/** Milliseconds from one read of the models to the next, by the number of reads so far. */
const listReads: readonly (number | undefined)[] = [undefined, 2_000, 15_000];

/** Every model of every provider, with its details and whether it is ready. */
export function useModels() {
  const { client } = useHost();
  return useQuery({
    queryKey: modelsKey,
    queryFn: ({ signal }) => client.call(listModels, { signal }),
    // After the first read, the host fetches the lists of providers and endpoints. They arrive within 15 seconds, mostly at once.
    refetchInterval: ({ state }) => listReads[state.dataUpdateCount] ?? false,
  });
}

interface ModelName {
  aiSystem: AiSystem;
  model: string;
}

export function useAddModel() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ModelName) => client.call(addModel, { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: modelsKey }),
  });
}

export function useRemoveModel() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: ModelName) => client.call(removeModel, { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: modelsKey }),
  });
}

const providersKey = ['providers'] as const;

export function useProviders() {
  const { client } = useHost();
  return useQuery({ queryKey: providersKey, queryFn: ({ signal }) => client.call(listProviders, { signal }) });
}

/** Whether a model is ready depends on its provider's key, so both are refetched together. */
function useRenewProviders() {
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: providersKey }),
      queryClient.invalidateQueries({ queryKey: modelsKey }),
    ]);
}

/** Saves a key and tests it at once. The key is sent to the host only, and no cache keeps it afterwards. */
export function useSetProviderKey(aiSystem: KeyedProvider) {
  const { client } = useHost();
  const renew = useRenewProviders();
  return useMutation({
    meta: { isFailureShown: true },
    // The variables of a mutation stay in the cache until it is collected; a key must not.
    gcTime: 0,
    mutationFn: async (key: string) => {
      await client.call(setProviderKey, { parameters: { aiSystem }, body: { key } });
      return client.call(testProvider, { parameters: { aiSystem } });
    },
    onSettled: renew,
  });
}

/** Allows sending to the confirmed address, and tests a key that is stored for it at once. */
export function useConfirmProviderAddress(aiSystem: KeyedProvider) {
  const { client } = useHost();
  const renew = useRenewProviders();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: async (origin: string) => {
      const confirmed = await client.call(confirmProviderAddress, { parameters: { aiSystem }, body: { origin } });
      return confirmed.keySource === null ? confirmed : client.call(testProvider, { parameters: { aiSystem } });
    },
    onSettled: renew,
  });
}

export function useTestProvider(aiSystem: KeyedProvider) {
  const { client } = useHost();
  const renew = useRenewProviders();
  return useMutation({
    meta: { isOnlyForCaller: true },
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

/** Sets the base address; null restores the provider's own. */
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

const endpointsKey = ['endpoints'] as const;

/** Compatible endpoints, and detected local servers that weren't added. */
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
  /** Undefined leaves the key unchanged, null removes it. */
  key?: string | null | undefined;
}

export interface EndpointChange extends Pick<EndpointInput, 'name' | 'key'> {
  /** Undefined leaves it unchanged. */
  baseAddress: string | undefined;
}

/** Saves an endpoint with `keep` and tests it at once. The typed values, above all the key, are dropped with the response. */
function useKeepEndpoint<Input extends EndpointChange>(keep: (client: Client, input: Input) => Promise<unknown>) {
  const { client } = useHost();
  const renew = useRenewEndpoints();
  return useMutation({
    meta: { isFailureShown: true },
    gcTime: 0,
    mutationFn: async (input: Input) => {
      await keep(client, input);
      return client.call(testEndpoint, { parameters: { name: input.name } });
    },
    onSettled: renew,
  });
}

/** Adds an endpoint and tests it at once. */
export function useAddEndpoint() {
  return useKeepEndpoint((client, { name, baseAddress, key }: EndpointInput) =>
    client.call(addEndpoint, { body: { name, baseAddress, key } }),
  );
}

/** Changes address or key and tests at once. */
export function useUpdateEndpoint() {
  return useKeepEndpoint((client, { name, baseAddress, key }: EndpointChange) => {
    const body = { ...(baseAddress !== undefined && { baseAddress }), ...(key !== undefined && { key }) };
    return client.call(updateEndpoint, { parameters: { name }, body });
  });
}

/** Allows sending prompts and the key to the confirmed address, and tests it at once. */
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
    meta: { isOnlyForCaller: true },
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
