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

/** A provider or an endpoint that has an address and perhaps a key: `OpenAi`, `endpoint:<name>`. */
export type Account = KeyedProvider | `endpoint:${string}`;

export interface EndpointAddress {
  readonly name: string;
  readonly baseAddress: string;
}

type KeySource = ProviderState['keySource'];

interface FoundKey {
  readonly key: string;
  readonly source: KeySource;
  /** The only origins that it may be sent to, the one that it was entered for first. */
  readonly origins: readonly string[];
}

export interface AccountsOptions {
  readonly memory: ProviderCache;
  readonly keyStore: KeyStore;
  /** Where keys come from that the key store does not have. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Base addresses by provider name, for this start only; they win over those that are remembered. */
  readonly baseOverrides: Readonly<Record<string, string>>;
  /** Endpoints of this start only; they win over remembered ones of the same name. */
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

/** Keys, addresses and the providers made from them. Keys are read once and leave this folder only towards their provider. */
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

  /** Remembered endpoints and those of this start, by name. */
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

  /** Where the key comes from that is sent; null without one, and for one that may not be sent to the present address. */
  keySource(account: Account): KeySource {
    return this.confirmation(account) === null ? (this.#key(account)?.source ?? null) : null;
  }

  /** Whether it can be asked now. */
  isReady(account: Account): boolean {
    return isKeyedProvider(account) ? this.keySource(account) !== null : this.confirmation(account) === null;
  }

  /**
   * What has to be confirmed before anything is sent. The address may have been changed, or come with a database from somebody else,
   * while keys are the same for every data folder. Addresses of the command line are those of the person who started this.
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

  /** Throws `conflict` when the account has another origin by now: the person has seen `origin`. */
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

  /** The person has entered the address of an endpoint: prompts may go there. A stored key still needs its own confirmation. */
  addressEntered(account: Account): void {
    const origin = originOf(this.#address(account));
    if (!isLoopback(origin)) this.#origins.add(origin);
  }

  /** Forgets that an address was confirmed once no endpoint has it. */
  addressLeft(address: string): void {
    const origin = originOf(address);
    if (!this.endpoints().some(({ baseAddress }) => originOf(baseAddress) === origin)) this.#origins.remove(origin);
  }

  /** Saves a key for the account's present address: it is sent to no other origin. */
  setKey(account: Account, key: string): void {
    addKnownSecret(key);
    try {
      this.#options.keyStore.write(account, key);
      // Only now: if the key couldn't be saved, the one before it must not get the new origin.
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

  /** The provider of an account; throws `provider_not_configured` with where to set its key. */
  provider(account: Account): Provider {
    let provider = this.#providers.get(account);
    if (!provider) this.#providers.set(account, (provider = this.#create(account)));
    return provider;
  }

  /** Forgets what was made from an account's key and address. */
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

  /** Whether the address comes from the command line of this start, which only its owner writes. */
  #isAddressOfThisStart(account: Account): boolean {
    if (isKeyedProvider(account)) return this.#baseOverrides.has(account);
    return this.isOfThisStart(account.slice('endpoint:'.length));
  }

  #readKey(account: Account): FoundKey | null {
    const { keyStore, environment } = this.#options;
    const stored = keyStore.read(account);
    if (stored) {
      addKnownSecret(stored);
      // Keys of earlier versions have no origin. Those of providers were hardly ever for another address.
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

/** The origin of a provider itself; endpoints have none. */
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
