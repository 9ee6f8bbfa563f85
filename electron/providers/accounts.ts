import { AppError } from '../../shared/app-error.ts';
import { keyedProviders, type KeyedProvider } from '../../shared/contract/common.ts';
import type { ProviderState } from '../../shared/contract/providers.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import { addKnownSecret } from '../known-secrets.ts';
import type { ProviderMemory } from '../storage/storage.ts';
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
  /** The only origin that it may be sent to. */
  readonly origin: string;
}

/** Where the key store keeps the origin that a key was entered for. */
const originAccount = (account: Account) => `${account} origin`;

const originOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : address);

export interface AccountsOptions {
  readonly memory: ProviderMemory;
  readonly keyStore: KeyStore;
  /** Where keys come from that the key store does not have. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Base addresses by provider name, for this start only; they win over those that are remembered. */
  readonly baseOverrides: Readonly<Record<string, string>>;
  /** Endpoints of this start only; they win over remembered ones of the same name. */
  readonly endpointOverrides: readonly EndpointAddress[];
  readonly transport: ProviderFetch;
  /** Told after every change of a key, an address or an endpoint. */
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

  constructor(options: AccountsOptions) {
    this.#options = options;
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

  keySource(account: Account): KeySource {
    return this.#usableKey(account)?.source ?? null;
  }

  /** Saves a key for the account's present address: it is sent to no other origin. */
  setKey(account: Account, key: string): void {
    addKnownSecret(key);
    // The origin first: a key without one could be taken for one of the provider's own address.
    this.#options.keyStore.write(originAccount(account), originOf(this.#address(account)));
    this.#options.keyStore.write(account, key);
    this.changed(account);
  }

  removeKey(account: Account): void {
    this.#options.keyStore.remove(account);
    this.#options.keyStore.remove(originAccount(account));
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

  /**
   * The key, unless it was entered for another origin: the addresses may have been changed, or come with a database from somebody else,
   * while the keychain is the same for every data folder.
   */
  #usableKey(account: Account): FoundKey | null {
    const found = this.#key(account);
    if (found === null || this.#isAddressOfThisStart(account)) return found;
    return found.origin === originOf(this.#address(account)) ? found : null;
  }

  #readKey(account: Account): FoundKey | null {
    const { keyStore, environment } = this.#options;
    const stored = keyStore.read(account);
    if (stored) addKnownSecret(stored);
    if (stored) return { key: stored, source: keyStore.source, origin: this.#originOfKey(account) };
    const variable = isKeyedProvider(account) ? registry[account].environmentVariable : null;
    const key = variable === null ? undefined : environment[variable]?.trim();
    if (key) addKnownSecret(key);
    return key ? { key, source: 'environment', origin: this.#ownOrigin(account) } : null;
  }

  #ownOrigin(account: Account): string {
    return originOf(isKeyedProvider(account) ? registry[account].baseAddress : this.#address(account));
  }

  /** A key of an earlier version has no origin. That of a provider belongs to the provider, that of an endpoint to its present address. */
  #originOfKey(account: Account): string {
    const { keyStore } = this.#options;
    const stored = keyStore.read(originAccount(account));
    if (stored !== null) return stored;
    const own = this.#ownOrigin(account);
    keyStore.write(originAccount(account), own);
    return own;
  }

  #create(account: Account): Provider {
    const { transport } = this.#options;
    const key = this.#usableKey(account)?.key ?? null;
    const other = key === null ? this.#key(account) : null;
    if (other !== null) throw keyForOtherAddress(account, other.origin, this.#address(account));
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

function keyForOtherAddress(account: Account, origin: string, address: string): AppError {
  const title = isKeyedProvider(account) ? registry[account].title : `"${account.slice('endpoint:'.length)}"`;
  const place = isKeyedProvider(account) ? settingsPlace : 'Settings, Compatible endpoints';
  return new AppError(
    'provider_not_configured',
    `The API key of ${title} is for ${origin} and isn't sent to ${originOf(address)}. Check the address and enter the key again in ${place}.`,
  );
}

function isSameName(first: string, second: string): boolean {
  return first.toLowerCase() === second.toLowerCase();
}
