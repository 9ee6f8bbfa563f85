import { isLoopback, originOf } from '../../shared/address-safety.ts';
import { AppError } from '../../shared/app-error.ts';
import { keyedProviders } from '../../shared/contract/common.ts';
import type { AddressConfirmation, ProviderState } from '../../shared/contract/providers.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import { addKnownSecret } from '../log.ts';
import { type ConfirmedOrigins, createConfirmedOrigins, unconfirmedAddress } from './confirmed-origins.ts';
import {
  type AddressOptions,
  createProviderAddresses,
  endpointId,
  endpointName,
  isKeyedProvider,
  type ProviderAddresses,
  type ProviderId,
} from './provider-addresses.ts';
import { settingsPage } from './provider-error.ts';
import type { ProviderFetch } from './provider-fetch.ts';
import type { Provider } from './provider.ts';
import { createEndpointProvider, type RegisteredProvider, registry } from './registry.ts';

type KeySource = ProviderState['keySource'];

interface ApiKey {
  readonly key: string;
  readonly source: KeySource;
  /** The only origins that it may be sent to. The first is the one that it was entered for. */
  readonly origins: readonly string[];
}

export interface CredentialsOptions extends AddressOptions {
  readonly keyStore: KeyStore;
  /** Environment variables. They supply the keys that the key store doesn't have. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly transport: ProviderFetch;
  /** Called after every change of a key, an address or an endpoint. */
  readonly onChange: () => void;
}

/**
 * Keys, addresses, and the providers made from them. Each key is read once, and only its provider gets it. For `keySource`, `isReady` and
 * `confirmation`, a key that the keychain doesn't let us read is missing; `provider` and `destination` throw.
 */
export interface Credentials extends ProviderAddresses {
  /** Where the key comes from. Null if there is none, or if it may not be sent to the current address. */
  keySource(providerId: ProviderId): KeySource;
  /** Why the keychain didn't let us read the key or its addresses, and how to fix it; null if it did. */
  keyFailure(providerId: ProviderId): string | null;
  /** Whether requests can be sent now. */
  isReady(providerId: ProviderId): boolean;
  /**
   * What the user has to confirm before anything is sent. Keys are the same for every data folder, but a database from someone else can
   * bring other addresses. Addresses of the command line need no confirmation: whoever started the host chose them.
   */
  confirmation(providerId: ProviderId): AddressConfirmation | null;
  /** Throws `conflict` if the origin is no longer `origin`, which is the one that the user saw. */
  confirm(providerId: ProviderId, origin: string): void;
  /**
   * The user entered the address, so prompts may be sent there. A stored key still needs its own confirmation. Call it before the address
   * is stored: the keychain may fail.
   */
  confirmEnteredAddress(providerId: ProviderId, address: string): void;
  /** Forgets that an address was confirmed if nothing has it any more. */
  forgetUnusedOrigin(address: string): void;
  /** Saves a key for the current address. It is sent to no other origin. */
  setKey(providerId: ProviderId, key: string): void;
  removeKey(providerId: ProviderId): void;
  /** Throws `provider_not_configured` if the key is missing. The message says where to set it. */
  provider(providerId: ProviderId): Provider;
  /**
   * Where another program's request goes, and the key for it. Throws as `provider` does; with `hasOwnKey`, the program brings its own key
   * and the one that is stored here is not needed.
   */
  destination(
    providerId: ProviderId,
    options: { readonly hasOwnKey: boolean },
  ): { address: string; key: string | null };
  /** Drops the cached key and the provider made from it. */
  invalidate(providerId: ProviderId): void;
}

export function createCredentials(options: CredentialsOptions): Credentials {
  const { keyStore, transport, onChange } = options;
  const addresses = createProviderAddresses(options);
  const origins = createConfirmedOrigins(keyStore);
  const keys = new Map<ProviderId, ApiKey | null>();
  const providers = new Map<ProviderId, Provider>();
  const entered = createEnteredAddresses(addresses, origins);
  const currentOrigin = (providerId: ProviderId) => originOf(addresses.addressOf(providerId));

  function invalidate(providerId: ProviderId): void {
    keys.delete(providerId);
    listed.retry(providerId);
    providers.delete(providerId);
    onChange();
  }

  function keyOf(providerId: ProviderId): ApiKey | null {
    let apiKey = keys.get(providerId);
    if (apiKey === undefined) {
      apiKey = listed.attempt(providerId, () => readKey(providerId, options, origins));
      keys.set(providerId, apiKey);
    }
    return apiKey;
  }

  function confirmation(providerId: ProviderId): AddressConfirmation | null {
    if (addresses.isFromCommandLine(providerId)) return null;
    const origin = currentOrigin(providerId);
    const apiKey = keyOf(providerId);
    if (apiKey !== null) {
      if (apiKey.origins.includes(origin)) return null;
      return { origin, keyOrigin: apiKey.origins[0] ?? null, keySource: apiKey.source };
    }
    const isSafe = needsNoConfirmation(providerId, origin) || origins.has(origin);
    return isSafe ? null : { origin, keyOrigin: null, keySource: null };
  }

  const listed = createListedStates(confirmation, keyOf);

  function createProvider(providerId: ProviderId): Provider {
    const required = confirmation(providerId);
    if (required !== null) throw unconfirmedAddress(...titleAndPage(providerId), required);
    const key = keyOf(providerId)?.key ?? null;
    if (isKeyedProvider(providerId)) {
      if (key === null) throw missingKey(registry[providerId]);
      const { title, create } = registry[providerId];
      return create({ title, baseAddress: addresses.addressOf(providerId), key, transport });
    }
    const endpoint = addresses.findEndpoint(endpointName(providerId));
    if (!endpoint) throw new AppError('not_found', 'Endpoint not found.');
    return createEndpointProvider({ title: endpoint.name, baseAddress: endpoint.baseAddress, key, transport });
  }

  return {
    ...addresses,
    ...listed.states,
    invalidate,
    ...entered,

    setBaseAddress(provider, baseAddress) {
      const before = addresses.addressOf(provider);
      if (baseAddress !== null) entered.confirmEnteredAddress(provider, baseAddress);
      addresses.setBaseAddress(provider, baseAddress);
      try {
        entered.forgetUnusedOrigin(before);
      } finally {
        invalidate(provider);
      }
    },

    confirm(providerId, origin) {
      const required = confirmation(providerId);
      if (required?.origin !== origin) {
        if (required === null && currentOrigin(providerId) === origin) return;
        throw new AppError('conflict', 'The address has changed. Check it and try again.');
      }
      if (required.keySource === null) origins.add(origin);
      else origins.setOfKey(providerId, required.keySource, origin);
      invalidate(providerId);
    },

    setKey(providerId, key) {
      addKnownSecret(key);
      try {
        keyStore.write(providerId, key);
        // After the key: if it couldn't be saved, the previous key must not get the new origin.
        origins.setOfKey(providerId, 'keychain', currentOrigin(providerId));
      } finally {
        invalidate(providerId);
      }
    },

    removeKey(providerId) {
      keyStore.remove(providerId);
      origins.removeOfKey(providerId);
      invalidate(providerId);
    },

    destination(providerId, { hasOwnKey }) {
      const required = confirmation(providerId);
      if (required !== null) throw unconfirmedAddress(...titleAndPage(providerId), required);
      const key = hasOwnKey ? null : (keyOf(providerId)?.key ?? null);
      if (key === null && !hasOwnKey && isKeyedProvider(providerId)) throw missingKey(registry[providerId]);
      return { address: addresses.addressOf(providerId), key };
    },

    provider(providerId) {
      let provider = providers.get(providerId);
      if (!provider) providers.set(providerId, (provider = createProvider(providerId)));
      return provider;
    },
  };
}

/** Lists read an unreadable entry again after this time: a silent keychain takes seconds, and another may open a dialog. */
const unreadableMilliseconds = 10_000;

/** What lists show. A keychain entry that can't be read must not take the others out of the list. */
function createListedStates(
  confirmation: Credentials['confirmation'],
  keyOf: (providerId: ProviderId) => ApiKey | null,
) {
  const failures = new Map<ProviderId, { readonly since: number; readonly message: string }>();

  /** Notes for the lists whether the keychain let us read. */
  function attempt<Value>(providerId: ProviderId, read: () => Value): Value {
    try {
      const value = read();
      failures.delete(providerId);
      return value;
    } catch (error) {
      if (error instanceof AppError) failures.set(providerId, { since: performance.now(), message: error.message });
      throw error;
    }
  }

  function readOr<Value>(otherwise: Value, read: (providerId: ProviderId) => Value): (providerId: ProviderId) => Value {
    return (providerId) => {
      const since = failures.get(providerId)?.since ?? -Infinity;
      if (performance.now() - since < unreadableMilliseconds) return otherwise;
      try {
        return attempt(providerId, () => read(providerId));
      } catch (error) {
        if (error instanceof AppError) return otherwise;
        throw error;
      }
    };
  }

  const keySource = (providerId: ProviderId): KeySource =>
    confirmation(providerId) === null ? (keyOf(providerId)?.source ?? null) : null;
  const isReady = (providerId: ProviderId): boolean =>
    isKeyedProvider(providerId) ? keySource(providerId) !== null : confirmation(providerId) === null;
  const listedConfirmation = readOr(null, confirmation);
  return {
    states: {
      keySource: readOr(null, keySource),
      confirmation: listedConfirmation,
      isReady: readOr(false, isReady),
      keyFailure(providerId: ProviderId): string | null {
        listedConfirmation(providerId);
        return failures.get(providerId)?.message ?? null;
      },
    },
    attempt,
    retry: (providerId: ProviderId) => void failures.delete(providerId),
  };
}

function createEnteredAddresses(
  addresses: ProviderAddresses,
  origins: ConfirmedOrigins,
): Pick<Credentials, 'confirmEnteredAddress' | 'forgetUnusedOrigin'> {
  function confirmEnteredAddress(providerId: ProviderId, address: string): void {
    const origin = originOf(address);
    const isSafe = addresses.isFromCommandLine(providerId) || needsNoConfirmation(providerId, origin);
    if (!isSafe) origins.add(origin);
  }

  function forgetUnusedOrigin(address: string): void {
    const origin = originOf(address);
    const providerIds = [...keyedProviders, ...addresses.endpoints().map(({ name }) => endpointId(name))];
    if (!providerIds.some((providerId) => originOf(addresses.addressOf(providerId)) === origin)) origins.remove(origin);
  }

  return { confirmEnteredAddress, forgetUnusedOrigin };
}

/** Null if there is no key. */
function readKey(
  providerId: ProviderId,
  { keyStore, environment }: CredentialsOptions,
  origins: ConfirmedOrigins,
): ApiKey | null {
  const stored = keyStore.read(providerId);
  if (stored) {
    addKnownSecret(stored);
    // Keys of earlier versions have no origin. Nearly all of them were for the provider's own address.
    const origin = origins.ofKey(providerId, keyStore.source) ?? defaultOrigin(providerId);
    return { key: stored, source: keyStore.source, origins: origin === null ? [] : [origin] };
  }
  if (!isKeyedProvider(providerId)) return null;
  const key = environment[registry[providerId].environmentVariable]?.trim();
  if (!key) return null;
  addKnownSecret(key);
  const allowed = [defaultOrigin(providerId), origins.ofKey(providerId, 'environment')];
  return { key, source: 'environment', origins: allowed.filter((origin) => origin !== null) };
}

function missingKey({ title, environmentVariable }: RegisteredProvider): AppError {
  return new AppError(
    'provider_not_configured',
    `${title} has no API key. Add one in ${settingsPage}, or set the environment variable ${environmentVariable}.`,
  );
}

/** The default origin of a provider; endpoints have none. */
function defaultOrigin(providerId: ProviderId): string | null {
  return isKeyedProvider(providerId) ? originOf(registry[providerId].baseAddress) : null;
}

/** Prompts, and keys of other programs, may always be sent to this device and to the provider's own address. */
function needsNoConfirmation(providerId: ProviderId, origin: string): boolean {
  return isLoopback(origin) || origin === defaultOrigin(providerId);
}

function titleAndPage(providerId: ProviderId): [string, string] {
  if (isKeyedProvider(providerId)) return [registry[providerId].title, settingsPage];
  return [`"${endpointName(providerId)}"`, 'Settings, Compatible endpoints'];
}
