import { type AiSystem, type KeyedProvider, keyedProviders } from '../../shared/contract/common.ts';
import type { Configuration, Usage, Warning } from '../../shared/contract/completions.ts';
import type { ProviderState } from '../../shared/contract/providers.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import type { OutgoingNetwork } from '../outgoing-network.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import type { ProviderCache, SettingsStore } from '../storage/storage.ts';
import { createCredentials, type CredentialsOptions } from './credentials.ts';
import {
  endpointId,
  endpointName,
  type EndpointAddress,
  isKeyedProvider,
  type ProviderId,
} from './provider-addresses.ts';
import { toProviderError } from './provider-error.ts';
import {
  createEndpoints,
  type Endpoints,
  detectEndpoints,
  type DetectedEndpoint,
  wellKnownEndpoints,
} from './endpoints.ts';
import { type ForwardedCall, forwardCall } from './forwarded-call.ts';
import { createModelDirectory, type KnownModel } from './model-directory.ts';
import { filterConfiguration } from './model-metadata.ts';
import { costOf, type ModelPrices, type RunCost } from './model-prices.ts';
import { createModelList, type ModelList } from './model-list.ts';
import { createModelResolver, type ResolvedModel } from './model-resolver.ts';
import { createProviderFetch } from './provider-fetch.ts';
import { testProvider } from './provider-tests.ts';
import type { Provider, RawUsage } from './provider.ts';
import { registry } from './registry.ts';
import type { ResponseReceiver } from './response-receiver.ts';

export interface ProvidersOptions
  extends OutgoingNetwork, Pick<CredentialsOptions, 'baseOverrides' | 'endpointOverrides'> {
  readonly cache: ProviderCache;
  readonly keyStore: KeyStore;
  readonly settings: SettingsStore;
  readonly onDevice: OnDeviceLanguageModels;
  /** Addresses where local model servers are detected; their usual ports by default. */
  readonly wellKnownEndpoints?: readonly EndpointAddress[];
}

export interface Providers extends Endpoints, ModelList {
  /**
   * The provider of a model. Takes a few microseconds. Throws 400 with similar names for an unknown model, and 503
   * `provider_not_configured` if a key is missing.
   */
  resolve(aiSystem: AiSystem, model: string): ResolvedModel;
  /**
   * The system that has a model: the given one, or else the first that has it. Throws 400 for an unknown model. A missing key is no
   * error here.
   */
  systemOf(aiSystem: AiSystem | null, model: string): AiSystem;
  /** A provider, for calls other than completions. Throws 503 `provider_not_configured` if its key is missing. */
  provider(aiSystem: KeyedProvider): Provider;
  /** The provider of a compatible endpoint. Null if there is none of this name, ignoring case. */
  endpointProvider(name: string): Provider | null;
  /** The part of a configuration that the model supports, with warnings for the rest and for a model that will be shut down. */
  applicableConfiguration(
    target: Pick<ResolvedModel, 'metadata'>,
    configuration: Configuration,
  ): { configuration: Configuration; warnings: Warning[] };
  /** Null when a price is unknown. `rawUsage` is the provider's own usage object. */
  cost(target: Pick<ResolvedModel, 'metadata'>, usage: Usage, rawUsage: RawUsage | null): RunCost | null;

  /** For another program's call; null if a price is unknown. */
  pricesOf(aiSystem: KnownModel['aiSystem'], model: string): ModelPrices | null;
  /**
   * Sends another program's request to its provider, and returns its keys in each form in which the provider may repeat them. Throws 503 if
   * the key is missing or the address isn't confirmed.
   */
  pass(call: ForwardedCall, receiver: ResponseReceiver): readonly string[];
  /** The error for a call that got no response. */
  callFailure(providerId: ProviderId, error: unknown, signal: AbortSignal): Error;
  /** Ignores case. */
  findEndpoint(name: string): EndpointAddress | null;

  providerStates(): ProviderState[];
  /** The name of the keychain that users see. Null if keys are only in memory. */
  keychainTitle(): string | null;
  setKey(aiSystem: KeyedProvider, key: string): ProviderState;
  removeKey(aiSystem: KeyedProvider): void;
  setBaseAddress(aiSystem: KeyedProvider, baseAddress: string | null): ProviderState;
  /** Allows the key to be sent to this origin. Throws `conflict` if the provider's origin has changed. */
  confirmAddress(aiSystem: KeyedProvider, origin: string): ProviderState;
  /** Throws 503 if there is no key to test. Every other outcome is in the state. */
  test(aiSystem: KeyedProvider, options: { signal: AbortSignal }): Promise<ProviderState>;

  /** Model servers on this machine that aren't endpoints yet. Takes at most about a second. */
  findLocalEndpoints(options: { signal: AbortSignal }): Promise<DetectedEndpoint[]>;

  /** Aborts active calls and closes every connection. */
  close(): Promise<void>;
}

export function createProviders(options: ProvidersOptions): Providers {
  const { cache, keyStore, settings, onDevice } = options;
  const transport = createProviderFetch({ ...options, timeLimits: () => settings.read().timeLimits });
  const credentials = createCredentials({ ...options, transport, onChange: () => resolver.forget() });
  const directory = createModelDirectory(cache, credentials, settings);
  const resolver = createModelResolver({ settings, onDevice, credentials, directory });
  const { resolve, systemOf, forget } = resolver;
  const unsubscribe = settings.subscribe(forget);
  const closing = new AbortController();

  function stateOf(aiSystem: KeyedProvider): ProviderState {
    const { address, isDefault } = credentials.baseAddress(aiSystem);
    return {
      aiSystem,
      keySource: credentials.keySource(aiSystem),
      keyFailure: credentials.keyFailure(aiSystem),
      confirmation: credentials.confirmation(aiSystem),
      baseAddress: address,
      isBaseAddressDefault: isDefault,
      keyPage: registry[aiSystem].keyPage,
      lastTest: cache.lastTest(aiSystem),
    };
  }

  const modelList = createModelList({ ...options, credentials, directory, onChange: forget, signal: closing.signal });
  return {
    resolve,
    systemOf,
    provider: (aiSystem) => credentials.provider(aiSystem),
    endpointProvider(name) {
      const endpoint = credentials.findEndpoint(name);
      return endpoint && credentials.provider(endpointId(endpoint.name));
    },
    applicableConfiguration: ({ metadata }, configuration) => filterConfiguration(metadata, configuration),
    cost: ({ metadata }, usage, rawUsage) => costOf(metadata.prices, usage, rawUsage),
    pricesOf: (aiSystem, model) => directory.metadataOf(aiSystem, model)?.prices ?? null,
    pass: (call, receiver) => forwardCall(call, receiver, credentials, transport),
    callFailure: (providerId, error, signal) => {
      const title = isKeyedProvider(providerId) ? registry[providerId].title : endpointName(providerId);
      return toProviderError(error, { title, baseAddress: credentials.addressOf(providerId), key: null }, signal);
    },
    findEndpoint: credentials.findEndpoint,

    providerStates: () => keyedProviders.map(stateOf),
    keychainTitle: () => keyStore.title,
    setKey(aiSystem, key) {
      credentials.setKey(aiSystem, key);
      cache.setLastTest(aiSystem, null);
      return stateOf(aiSystem);
    },
    removeKey(aiSystem) {
      credentials.removeKey(aiSystem);
      cache.setLastTest(aiSystem, null);
    },
    setBaseAddress(aiSystem, baseAddress) {
      credentials.setBaseAddress(aiSystem, baseAddress);
      cache.setLastTest(aiSystem, null);
      return stateOf(aiSystem);
    },
    confirmAddress(aiSystem, origin) {
      credentials.confirm(aiSystem, origin);
      return stateOf(aiSystem);
    },
    async test(aiSystem, { signal }) {
      cache.setLastTest(aiSystem, await testProvider(aiSystem, credentials, cache, { signal }));
      forget();
      return stateOf(aiSystem);
    },

    ...createEndpoints({ cache, credentials, settings, onChange: forget }),
    findLocalEndpoints({ signal }) {
      const taken = new Set(credentials.endpoints().map(({ baseAddress }) => baseAddress));
      const candidates = (options.wellKnownEndpoints ?? wellKnownEndpoints).filter(
        ({ baseAddress }) => !taken.has(baseAddress),
      );
      return detectEndpoints(candidates, transport, { signal });
    },

    ...modelList,

    async close() {
      unsubscribe();
      closing.abort();
      await transport.close();
    },
  };
}
