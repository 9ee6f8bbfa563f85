import type { Credentials } from './credentials.ts';
import { endpointId, type EndpointAddress } from './provider-addresses.ts';
import type { ProviderFetch } from './provider-fetch.ts';
import { createEndpointProvider } from './registry.ts';
import { AppError } from '../../shared/app-error.ts';
import type { CompatibleEndpoint } from '../../shared/contract/providers.ts';
import type { ProviderCache, SettingsStore } from '../storage/storage.ts';
import { testProvider } from './provider-tests.ts';

/** The default addresses of local model servers. */
export const wellKnownEndpoints: readonly EndpointAddress[] = [
  { name: 'ollama', baseAddress: 'http://127.0.0.1:11434/v1' },
  { name: 'lm-studio', baseAddress: 'http://127.0.0.1:1234/v1' },
  { name: 'llama.cpp', baseAddress: 'http://127.0.0.1:8080/v1' },
  { name: 'vllm', baseAddress: 'http://127.0.0.1:8000/v1' },
];

/** A local model server responds well within this time. */
const probeTimeoutMs = 1_000;

export interface DetectedEndpoint extends EndpointAddress {
  readonly models: number;
}

/** The addresses that respond with a list of models. All are tried at the same time, without a key. */
export async function detectEndpoints(
  candidates: readonly EndpointAddress[],
  transport: ProviderFetch,
  { signal }: { signal: AbortSignal },
): Promise<DetectedEndpoint[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(probeTimeoutMs)]);
  const detected = await Promise.all(
    candidates.map(async ({ name, baseAddress }) => {
      const provider = createEndpointProvider({ title: name, baseAddress, key: null, transport });
      const models = await provider.listModels({ signal: limit }).catch(() => null);
      return models && { name, baseAddress, models: models.length };
    }),
  );
  signal.throwIfAborted();
  return detected.filter((endpoint) => endpoint !== null);
}

export interface EndpointsOptions {
  readonly cache: ProviderCache;
  readonly credentials: Credentials;
  readonly settings: SettingsStore;
  readonly onChange: () => void;
}

export interface Endpoints {
  endpoints(): CompatibleEndpoint[];
  /** Throws `conflict` if the name is taken. */
  addEndpoint(endpoint: EndpointAddress & { key?: string | null | undefined }): CompatibleEndpoint;
  /** A null key removes it. Throws `not_found`, and `conflict` for an endpoint of the command line. */
  updateEndpoint(
    name: string,
    change: { baseAddress?: string | undefined; key?: string | null | undefined },
  ): CompatibleEndpoint;
  removeEndpoint(name: string): void;
  /** Allows prompts and the key to be sent to this origin. Throws `not_found`, and `conflict` if the endpoint's origin has changed. */
  confirmEndpoint(name: string, origin: string): CompatibleEndpoint;
  testEndpoint(name: string, options: { signal: AbortSignal }): Promise<CompatibleEndpoint>;
}

/** The OpenAI-compatible endpoints that users add. */
export function createEndpoints({ cache, credentials, settings, onChange }: EndpointsOptions): Endpoints {
  function stateOf({ name, baseAddress }: EndpointAddress): CompatibleEndpoint {
    const providerId = endpointId(name);
    return {
      name,
      baseAddress,
      keySource: credentials.keySource(providerId),
      keyFailure: credentials.keyFailure(providerId),
      confirmation: credentials.confirmation(providerId),
      lastTest: cache.lastTest(providerId),
    };
  }

  function find(name: string): EndpointAddress {
    const endpoint = credentials.findEndpoint(name);
    if (!endpoint) throw new AppError('not_found', `Endpoint "${name}" not found.`);
    return endpoint;
  }

  function rejectIfFromCommandLine(name: string): void {
    if (!credentials.isFromCommandLine(endpointId(name))) return;
    throw new AppError('conflict', `Endpoint "${name}" was set on the command line. Change it there.`);
  }

  function clearCache(name: string): void {
    const providerId = endpointId(name);
    cache.setLastTest(providerId, null);
    cache.setListedModels(providerId, []);
    credentials.invalidate(providerId);
  }

  function setKey(name: string, key: string | null | undefined): void {
    if (key === null) credentials.removeKey(endpointId(name));
    else if (key !== undefined) credentials.setKey(endpointId(name), key);
  }

  return {
    endpoints: () => credentials.endpoints().map(stateOf),

    addEndpoint({ name, baseAddress, key }) {
      if (credentials.findEndpoint(name)) throw new AppError('conflict', `Endpoint "${name}" already exists.`);
      credentials.confirmEnteredAddress(endpointId(name), baseAddress);
      cache.addEndpoint({ name, baseAddress });
      try {
        // Null removes the key of an earlier endpoint of this name.
        setKey(name, key ?? null);
      } catch (error) {
        cache.removeEndpoint(name);
        credentials.forgetUnusedOrigin(baseAddress);
        throw error;
      } finally {
        clearCache(name);
      }
      return stateOf(find(name));
    },

    updateEndpoint(name, { baseAddress, key }) {
      const endpoint = find(name);
      if (baseAddress !== undefined) {
        rejectIfFromCommandLine(endpoint.name);
        credentials.confirmEnteredAddress(endpointId(endpoint.name), baseAddress);
        cache.setEndpointAddress(endpoint.name, baseAddress);
        credentials.forgetUnusedOrigin(endpoint.baseAddress);
        clearCache(endpoint.name);
      }
      setKey(endpoint.name, key);
      return stateOf(find(name));
    },

    removeEndpoint(name) {
      const endpoint = find(name);
      rejectIfFromCommandLine(endpoint.name);
      credentials.removeKey(endpointId(endpoint.name));
      clearCache(endpoint.name);
      for (const { aiSystem, model } of cache.userModels()) {
        const isItsOwn = aiSystem === 'OpenAiCompatible' && model.startsWith(`${endpoint.name}/`);
        if (isItsOwn) cache.removeUserModel(aiSystem, model);
      }
      // A later endpoint of the same name must not get these prices.
      const { endpointPrices } = settings.read();
      const remaining = endpointPrices.filter(({ model }) => !model.startsWith(`${endpoint.name}/`));
      if (remaining.length < endpointPrices.length) settings.update({ endpointPrices: remaining });
      cache.removeEndpoint(endpoint.name);
      credentials.forgetUnusedOrigin(endpoint.baseAddress);
      onChange();
    },

    confirmEndpoint(name, origin) {
      const endpoint = find(name);
      credentials.confirm(endpointId(endpoint.name), origin);
      return stateOf(endpoint);
    },

    async testEndpoint(name, { signal }) {
      const endpoint = find(name);
      const providerId = endpointId(endpoint.name);
      cache.setLastTest(providerId, await testProvider(providerId, credentials, cache, { signal }));
      onChange();
      return stateOf(endpoint);
    },
  };
}
