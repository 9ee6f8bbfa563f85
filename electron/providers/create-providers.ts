import { type AiSystem, type KeyedProvider, keyedProviders } from '../../shared/contract/common.ts';
import type { Configuration, Usage, Warning } from '../../shared/contract/completions.ts';
import type { ProviderState } from '../../shared/contract/providers.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import type { ProviderCache, SettingsStore } from '../storage/storage.ts';
import { Accounts, type AccountsOptions, endpointAccount, type EndpointAddress } from './accounts.ts';
import { createEndpoints, type Endpoints, findEndpoints, type FoundEndpoint, wellKnownEndpoints } from './endpoints.ts';
import { ModelDirectory } from './model-directory.ts';
import { applyFacts } from './model-facts.ts';
import { costOf, type RunCost } from './model-prices.ts';
import { createModelList, type ModelList } from './model-list.ts';
import { createModelResolver, type ResolvedModel } from './model-resolver.ts';
import { createProviderFetch } from './provider-fetch.ts';
import { testAccount } from './provider-tests.ts';
import type { Provider, RawUsage } from './provider.ts';
import { registry } from './registry.ts';

export interface ProvidersOptions extends Pick<AccountsOptions, 'environment' | 'baseOverrides' | 'endpointOverrides'> {
  readonly memory: ProviderCache;
  readonly keyStore: KeyStore;
  readonly settings: SettingsStore;
  readonly onDevice: OnDeviceLanguageModels;
  /** Where local model servers are looked for; their default ports by default. */
  readonly wellKnownEndpoints?: readonly EndpointAddress[];
}

export interface Providers extends Endpoints, ModelList {
  /**
   * Which provider answers for a model; a few microseconds. Throws 400 for an unknown model, naming the nearest ones, and
   * 503 `provider_not_configured` when a key is missing.
   */
  resolve(aiSystem: AiSystem, model: string): ResolvedModel;
  /**
   * Whose model a name is: the given provider's, or the first that has it. Throws 400 for an unknown model; that its provider
   * has no key yet is no error here.
   */
  systemOf(aiSystem: AiSystem | null, model: string): AiSystem;
  /** A provider itself, for what is not a completion. Throws 503 `provider_not_configured` when its key is missing. */
  provider(aiSystem: KeyedProvider): Provider;
  /** The same of a compatible endpoint; null where there is none of this name, which compares without case. */
  endpointProvider(name: string): Provider | null;
  /** What of a configuration the model takes, with warnings for what it does not and for a model that ends. */
  applicableConfiguration(
    target: Pick<ResolvedModel, 'facts'>,
    configuration: Configuration,
  ): { configuration: Configuration; warnings: Warning[] };
  /** Null when a price is unknown. `rawUsage` is the provider's own usage object. */
  cost(target: Pick<ResolvedModel, 'facts'>, usage: Usage, rawUsage: RawUsage | null): RunCost | null;

  providerStates(): ProviderState[];
  /** Name of the keychain for people; null when keys live in memory. */
  keychainTitle(): string | null;
  setKey(aiSystem: KeyedProvider, key: string): ProviderState;
  removeKey(aiSystem: KeyedProvider): void;
  setBaseAddress(aiSystem: KeyedProvider, baseAddress: string | null): ProviderState;
  /** Lets the key go to this origin. Throws `conflict` when the provider has another one by now. */
  confirmAddress(aiSystem: KeyedProvider, origin: string): ProviderState;
  /** Throws 503 when there is no key to test; every other outcome is in the state. */
  test(aiSystem: KeyedProvider, options: { signal: AbortSignal }): Promise<ProviderState>;

  /** Model servers on this machine that answer and are no endpoint yet; about a second at most. */
  findLocalEndpoints(options: { signal: AbortSignal }): Promise<FoundEndpoint[]>;

  /** Ends active calls and closes every connection. */
  close(): Promise<void>;
}

export function createProviders(options: ProvidersOptions): Providers {
  const { memory, keyStore, settings, onDevice } = options;
  const transport = createProviderFetch({
    timeLimits: () => settings.read().timeLimits,
    environment: options.environment,
  });
  const accounts = new Accounts({ ...options, transport, onChange: () => resolver.forget() });
  const directory = new ModelDirectory(memory, accounts, settings);
  const resolver = createModelResolver({ settings, onDevice, accounts, directory });
  const { resolve, systemOf, forget } = resolver;
  const unsubscribe = settings.subscribe(forget);
  const closing = new AbortController();

  function stateOf(aiSystem: KeyedProvider): ProviderState {
    const { address, isDefault } = accounts.baseAddress(aiSystem);
    return {
      aiSystem,
      keySource: accounts.keySource(aiSystem),
      confirmation: accounts.confirmation(aiSystem),
      baseAddress: address,
      isBaseAddressDefault: isDefault,
      keyPage: registry[aiSystem].keyPage,
      lastTest: memory.lastTest(aiSystem),
    };
  }

  const modelList = createModelList({ ...options, accounts, directory, onChange: forget, signal: closing.signal });
  return {
    resolve,
    systemOf,
    provider: (aiSystem) => accounts.provider(aiSystem),
    endpointProvider(name) {
      const endpoint = accounts.findEndpoint(name);
      return endpoint && accounts.provider(endpointAccount(endpoint.name));
    },
    applicableConfiguration: ({ facts }, configuration) => applyFacts(facts, configuration),
    cost: ({ facts }, usage, rawUsage) => costOf(facts.prices, usage, rawUsage),

    providerStates: () => keyedProviders.map(stateOf),
    keychainTitle: () => keyStore.title,
    setKey(aiSystem, key) {
      accounts.setKey(aiSystem, key);
      memory.setLastTest(aiSystem, null);
      return stateOf(aiSystem);
    },
    removeKey(aiSystem) {
      accounts.removeKey(aiSystem);
      memory.setLastTest(aiSystem, null);
    },
    setBaseAddress(aiSystem, baseAddress) {
      accounts.setBaseAddress(aiSystem, baseAddress);
      memory.setLastTest(aiSystem, null);
      return stateOf(aiSystem);
    },
    confirmAddress(aiSystem, origin) {
      accounts.confirm(aiSystem, origin);
      return stateOf(aiSystem);
    },
    async test(aiSystem, { signal }) {
      memory.setLastTest(aiSystem, await testAccount(aiSystem, accounts, memory, { signal }));
      forget();
      return stateOf(aiSystem);
    },

    ...createEndpoints({ memory, accounts, settings, onChange: forget }),
    findLocalEndpoints({ signal }) {
      const taken = new Set(accounts.endpoints().map(({ baseAddress }) => baseAddress));
      const candidates = (options.wellKnownEndpoints ?? wellKnownEndpoints).filter(
        ({ baseAddress }) => !taken.has(baseAddress),
      );
      return findEndpoints(candidates, transport, { signal });
    },

    ...modelList,

    async close() {
      unsubscribe();
      closing.abort();
      await transport.close();
    },
  };
}
