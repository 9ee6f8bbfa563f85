import { type Accounts, endpointAccount, type EndpointAddress } from './accounts.ts';
import type { ProviderFetch } from './provider-fetch.ts';
import { createEndpointProvider } from './registry.ts';
import { AppError } from '../../shared/app-error.ts';
import type { CompatibleEndpoint } from '../../shared/contract/providers.ts';
import type { ProviderCache, SettingsStore } from '../storage/storage.ts';
import { testAccount } from './provider-tests.ts';

/** The default addresses of local model servers. */
export const wellKnownEndpoints: readonly EndpointAddress[] = [
  { name: 'ollama', baseAddress: 'http://127.0.0.1:11434/v1' },
  { name: 'lm-studio', baseAddress: 'http://127.0.0.1:1234/v1' },
  { name: 'llama.cpp', baseAddress: 'http://127.0.0.1:8080/v1' },
  { name: 'vllm', baseAddress: 'http://127.0.0.1:8000/v1' },
];

/** A local model server responds well within this time. */
const longestProbeMilliseconds = 1_000;

export interface FoundEndpoint extends EndpointAddress {
  readonly models: number;
}

/** The addresses that respond with a list of models. All are tried at the same time, without a key. */
export async function findEndpoints(
  candidates: readonly EndpointAddress[],
  transport: ProviderFetch,
  { signal }: { signal: AbortSignal },
): Promise<FoundEndpoint[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestProbeMilliseconds)]);
  const answers = await Promise.all(
    candidates.map(async ({ name, baseAddress }) => {
      const provider = createEndpointProvider({ title: name, baseAddress, key: null, transport });
      const models = await provider.listModels({ signal: limit }).catch(() => null);
      return models && { name, baseAddress, models: models.length };
    }),
  );
  signal.throwIfAborted();
  return answers.filter((answer) => answer !== null);
}

export interface EndpointsOptions {
  readonly memory: ProviderCache;
  readonly accounts: Accounts;
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
export function createEndpoints({ memory, accounts, settings, onChange }: EndpointsOptions): Endpoints {
  function stateOf({ name, baseAddress }: EndpointAddress): CompatibleEndpoint {
    const account = endpointAccount(name);
    return {
      name,
      baseAddress,
      keySource: accounts.keySource(account),
      confirmation: accounts.confirmation(account),
      lastTest: memory.lastTest(account),
    };
  }

  function find(name: string): EndpointAddress {
    const endpoint = accounts.findEndpoint(name);
    if (!endpoint) throw new AppError('not_found', `Endpoint "${name}" not found.`);
    return endpoint;
  }

  function refuseIfOfThisStart(name: string): void {
    if (!accounts.isOfThisStart(name)) return;
    throw new AppError('conflict', `Endpoint "${name}" was set on the command line. Change it there.`);
  }

  function forgetAnswers(name: string): void {
    const account = endpointAccount(name);
    memory.setLastTest(account, null);
    memory.setListedModels(account, []);
    accounts.changed(account);
  }

  function setKey(name: string, key: string | null | undefined): void {
    if (key === null) accounts.removeKey(endpointAccount(name));
    else if (key !== undefined) accounts.setKey(endpointAccount(name), key);
  }

  return {
    endpoints: () => accounts.endpoints().map(stateOf),

    addEndpoint({ name, baseAddress, key }) {
      if (accounts.findEndpoint(name)) throw new AppError('conflict', `Endpoint "${name}" already exists.`);
      memory.addEndpoint({ name, baseAddress });
      // Null removes the key of an earlier endpoint of this name.
      setKey(name, key ?? null);
      accounts.addressEntered(endpointAccount(name));
      forgetAnswers(name);
      return stateOf(find(name));
    },

    updateEndpoint(name, { baseAddress, key }) {
      const endpoint = find(name);
      if (baseAddress !== undefined) {
        refuseIfOfThisStart(endpoint.name);
        memory.setEndpointAddress(endpoint.name, baseAddress);
        accounts.addressEntered(endpointAccount(endpoint.name));
        accounts.addressLeft(endpoint.baseAddress);
        forgetAnswers(endpoint.name);
      }
      setKey(endpoint.name, key);
      return stateOf(find(name));
    },

    removeEndpoint(name) {
      const endpoint = find(name);
      refuseIfOfThisStart(endpoint.name);
      accounts.removeKey(endpointAccount(endpoint.name));
      forgetAnswers(endpoint.name);
      for (const { aiSystem, model } of memory.userModels()) {
        const isItsOwn = aiSystem === 'OpenAiCompatible' && model.startsWith(`${endpoint.name}/`);
        if (isItsOwn) memory.removeUserModel(aiSystem, model);
      }
      // A later endpoint of the same name must not get these prices.
      const { endpointPrices } = settings.read();
      const remaining = endpointPrices.filter(({ model }) => !model.startsWith(`${endpoint.name}/`));
      if (remaining.length < endpointPrices.length) settings.update({ endpointPrices: remaining });
      memory.removeEndpoint(endpoint.name);
      accounts.addressLeft(endpoint.baseAddress);
      onChange();
    },

    confirmEndpoint(name, origin) {
      const endpoint = find(name);
      accounts.confirm(endpointAccount(endpoint.name), origin);
      return stateOf(endpoint);
    },

    async testEndpoint(name, { signal }) {
      const endpoint = find(name);
      const account = endpointAccount(endpoint.name);
      memory.setLastTest(account, await testAccount(account, accounts, memory, { signal }));
      onChange();
      return stateOf(endpoint);
    },
  };
}
