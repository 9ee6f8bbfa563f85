import { isLoopback, originOf } from '../../shared/address-safety.ts';
import { AppError } from '../../shared/app-error.ts';
import { keyedProviders, type KeyedProvider } from '../../shared/contract/common.ts';
import type { AddressConfirmation, ProviderState } from '../../shared/contract/providers.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import { addKnownSecret } from '../log.ts';
import type { ProviderCache } from '../storage/storage.ts';
import { ConfirmedOrigins, unconfirmedAddress } from './confirmed-origins.ts';
import { settingsPlace } from './provider-error.ts';
import type { ProviderFetch } from './provider-fetch.ts';
import type { Provider } from './provider.ts';
import { createEndpointProvider, registry } from './registry.ts';

/** A provider or an endpoint, which has an address and may have a key: `OpenAi`, `endpoint:<name>`. */
export type Account = KeyedProvider | `endpoint:${string}`;

export interface EndpointAddress {
  readonly name: string;
  readonly baseAddress: string;
}

type KeySource = ProviderState['keySource'];

interface FoundKey {
  readonly key: string;
  readonly source: KeySource;
  /** The only origins that it may be sent to. The first is the one that it was entered for. */
  readonly origins: readonly string[];
}

export interface AccountsOptions {
  readonly memory: ProviderCache;
  readonly keyStore: KeyStore;
  /** Environment variables. They supply the keys that the key store doesn't have. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Base addresses by provider name from the command line. They replace stored ones and aren't stored. */
  readonly baseOverrides: Readonly<Record<string, string>>;
  /** Endpoints from the command line. They replace stored ones of the same name and aren't stored. */
  readonly endpointOverrides: readonly EndpointAddress[];
  readonly transport: ProviderFetch;
  /** Called after every change of a key, an address or an endpoint. */
  readonly onChange: () => void;
}

export function isKeyedProvider(name: string): name is KeyedProvider {
  return (keyedProviders as readonly string[]).includes(name);
}

export function endpointAccount(name: string): Account {
  return `endpoint:${name}`;
}

function withoutEndSlash(address: string): string {
  let end = address.length;
  while (address[end - 1] === '/') end -= 1;
  return address.slice(0, end);
}

function checkOverrides(overrides: Readonly<Record<string, string>>): Map<string, string> {
  for (const name of Object.keys(overrides)) {
    if (!isKeyedProvider(name)) {
      throw new AppError(
        'invalid_request',
        `Unknown provider ${name}. Providers with a base address: ${keyedProviders.join(', ')}.`,
      );
    }
  }
  return new Map(Object.entries(overrides).map(([name, address]) => [name, withoutEndSlash(address)]));
}

/** Keys, addresses, and the providers made from them. Each key is read once, and only its provider gets it. */
export class Accounts {
  readonly #options: AccountsOptions;
  readonly #baseOverrides: ReadonlyMap<string, string>;
  readonly #keys = new Map<Account, FoundKey | null>();
  readonly #providers = new Map<Account, Provider>();
  readonly #origins: ConfirmedOrigins;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#origins = new ConfirmedOrigins(options.keyStore);
    this.#baseOverrides = checkOverrides(options.baseOverrides);
  }

  /** Stored endpoints and those of the command line, by name. */
  endpoints(): EndpointAddress[] {
    const overrides = this.#options.endpointOverrides;
    const isOverridden = (name: string) => overrides.some((override) => isSameName(override.name, name));
    return [...overrides, ...this.#options.memory.endpoints().filter(({ name }) => !isOverridden(name))]
      .map(({ name, baseAddress }) => ({ name, baseAddress: withoutEndSlash(baseAddress) }))
      .sort((first, second) => (first.name.toLowerCase() < second.name.toLowerCase() ? -1 : 1));
  }

  findEndpoint(name: string): EndpointAddress | null {
    return this.endpoints().find((endpoint) => isSameName(endpoint.name, name)) ?? null;
  }

  isOfThisStart(name: string): boolean {
    return this.#options.endpointOverrides.some((override) => isSameName(override.name, name));
  }

  baseAddress(provider: KeyedProvider): { address: string; isDefault: boolean } {
    const own = registry[provider].baseAddress;
    const address = this.#baseOverrides.get(provider) ?? this.#options.memory.baseAddress(provider) ?? own;
    return { address: withoutEndSlash(address), isDefault: withoutEndSlash(address) === own };
  }

  setBaseAddress(provider: KeyedProvider, baseAddress: string | null): void {
    this.#options.memory.setBaseAddress(provider, baseAddress && withoutEndSlash(baseAddress));
    this.changed(provider);
  }

  /** Where the key comes from. Null if there is none, or if it may not be sent to the current address. */
  keySource(account: Account): KeySource {
    return this.confirmation(account) === null ? (this.#key(account)?.source ?? null) : null;
  }

  /** Whether requests can be sent now. */
  isReady(account: Account): boolean {
    return isKeyedProvider(account) ? this.keySource(account) !== null : this.confirmation(account) === null;
  }

  /**
   * What the user has to confirm before anything is sent. Keys are the same for every data folder, but a database from someone else can
   * bring other addresses. Addresses of the command line need no confirmation: whoever started the host chose them.
   */
  confirmation(account: Account): AddressConfirmation | null {
    if (this.#isAddressOfThisStart(account)) return null;
    const origin = originOf(this.#address(account));
    const found = this.#key(account);
    if (found !== null) {
      const { origins, source } = found;
      return origins.includes(origin) ? null : { origin, keyOrigin: origins[0] ?? null, keySource: source };
    }
    const isSafe = isKeyedProvider(account) || isLoopback(origin) || this.#origins.has(origin);
    return isSafe ? null : { origin, keyOrigin: null, keySource: null };
  }

  /** Throws `conflict` if the origin is no longer `origin`, which is the one that the user saw. */
  confirm(account: Account, origin: string): void {
    const asked = this.confirmation(account);
    if (asked?.origin !== origin) {
      if (asked === null && originOf(this.#address(account)) === origin) return;
      throw new AppError('conflict', 'The address has changed. Check it and try again.');
    }
    if (asked.keySource === null) this.#origins.add(origin);
    else this.#origins.setOfKey(account, asked.keySource, origin);
    this.changed(account);
  }

  /** The user entered the address, so prompts may be sent there. A stored key still needs its own confirmation. */
  addressEntered(account: Account): void {
    const origin = originOf(this.#address(account));
    if (!isLoopback(origin)) this.#origins.add(origin);
  }

  /** Forgets that an address was confirmed if no endpoint has it any more. */
  addressLeft(address: string): void {
    const origin = originOf(address);
    if (!this.endpoints().some(({ baseAddress }) => originOf(baseAddress) === origin)) this.#origins.remove(origin);
  }

  /** Saves a key for the current address. It is sent to no other origin. */
  setKey(account: Account, key: string): void {
    addKnownSecret(key);
    try {
      this.#options.keyStore.write(account, key);
      // After the key: if it couldn't be saved, the previous key must not get the new origin.
      this.#origins.setOfKey(account, 'keychain', originOf(this.#address(account)));
    } finally {
      this.changed(account);
    }
  }

  removeKey(account: Account): void {
    this.#options.keyStore.remove(account);
    this.#origins.removeOfKey(account);
    this.changed(account);
  }

  /** Throws `provider_not_configured` if the key is missing. The message says where to set it. */
  provider(account: Account): Provider {
    let provider = this.#providers.get(account);
    if (!provider) this.#providers.set(account, (provider = this.#create(account)));
    return provider;
  }

  /** Drops the cached key and the provider made from it. */
  changed(account: Account): void {
    this.#keys.delete(account);
    this.#providers.delete(account);
    this.#options.onChange();
  }

  #key(account: Account) {
    let found = this.#keys.get(account);
    if (found === undefined) this.#keys.set(account, (found = this.#readKey(account)));
    return found;
  }

  #address(account: Account): string {
    if (isKeyedProvider(account)) return this.baseAddress(account).address;
    return this.findEndpoint(account.slice('endpoint:'.length))?.baseAddress ?? '';
  }

  /** Whether the address comes from the command line, which only the user writes. */
  #isAddressOfThisStart(account: Account): boolean {
    if (isKeyedProvider(account)) return this.#baseOverrides.has(account);
    return this.isOfThisStart(account.slice('endpoint:'.length));
  }

  #readKey(account: Account): FoundKey | null {
    const { keyStore, environment } = this.#options;
    const stored = keyStore.read(account);
    if (stored) {
      addKnownSecret(stored);
      // Keys of earlier versions have no origin. Nearly all of them were for the provider's own address.
      const origin = this.#origins.ofKey(account, keyStore.source) ?? ownOrigin(account);
      return { key: stored, source: keyStore.source, origins: origin === null ? [] : [origin] };
    }
    if (!isKeyedProvider(account)) return null;
    const key = environment[registry[account].environmentVariable]?.trim();
    if (!key) return null;
    addKnownSecret(key);
    const origins = [ownOrigin(account), this.#origins.ofKey(account, 'environment')].filter(
      (origin) => origin !== null,
    );
    return { key, source: 'environment', origins };
  }

  #create(account: Account): Provider {
    const { transport } = this.#options;
    const asked = this.confirmation(account);
    if (asked !== null) throw unconfirmedAddress(...titleAndPlace(account), asked);
    const key = this.#key(account)?.key ?? null;
    if (!isKeyedProvider(account)) {
      const endpoint = this.findEndpoint(account.slice('endpoint:'.length));
      if (!endpoint) throw new AppError('not_found', 'Endpoint not found.');
      return createEndpointProvider({ title: endpoint.name, baseAddress: endpoint.baseAddress, key, transport });
    }
    const { title, environmentVariable, create } = registry[account];
    if (key === null) {
      throw new AppError(
        'provider_not_configured',
        `${title} has no API key. Add one in ${settingsPlace}, or set the environment variable ${environmentVariable}.`,
      );
    }
    return create({ title, baseAddress: this.baseAddress(account).address, key, transport });
  }
}

/** The default origin of a provider; endpoints have none. */
function ownOrigin(account: Account): string | null {
  return isKeyedProvider(account) ? originOf(registry[account].baseAddress) : null;
}

function titleAndPlace(account: Account): [string, string] {
  if (isKeyedProvider(account)) return [registry[account].title, settingsPlace];
  return [`"${account.slice('endpoint:'.length)}"`, 'Settings, Compatible endpoints'];
}

function isSameName(first: string, second: string): boolean {
  return first.toLowerCase() === second.toLowerCase();
}
