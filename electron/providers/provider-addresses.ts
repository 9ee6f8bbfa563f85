import { AppError } from '../../shared/app-error.ts';
import { keyedProviders, type KeyedProvider } from '../../shared/contract/common.ts';
import type { ProviderCache } from '../storage/storage.ts';
import { registry } from './registry.ts';

/** A provider or an endpoint, which has an address and may have a key: `OpenAi`, `endpoint:<name>`. */
export type ProviderId = KeyedProvider | `endpoint:${string}`;

export interface EndpointAddress {
  readonly name: string;
  readonly baseAddress: string;
}

export interface AddressOptions {
  readonly cache: ProviderCache;
  /** Base addresses by provider name from the command line. They replace stored ones and aren't stored. */
  readonly baseOverrides: Readonly<Record<string, string>>;
  /** Endpoints from the command line. They replace stored ones of the same name and aren't stored. */
  readonly endpointOverrides: readonly EndpointAddress[];
}

export interface ProviderAddresses {
  /** Stored endpoints and those of the command line, by name. */
  endpoints(): EndpointAddress[];
  findEndpoint(name: string): EndpointAddress | null;
  baseAddress(provider: KeyedProvider): { address: string; isDefault: boolean };
  setBaseAddress(provider: KeyedProvider, baseAddress: string | null): void;
  /** The address that requests are sent to; empty for an unknown endpoint. */
  addressOf(providerId: ProviderId): string;
  /** Whether the address comes from the command line, which only the user writes. */
  isFromCommandLine(providerId: ProviderId): boolean;
}

export function isKeyedProvider(name: string): name is KeyedProvider {
  return (keyedProviders as readonly string[]).includes(name);
}

export function endpointId(name: string): ProviderId {
  return `endpoint:${name}`;
}

export function endpointName(providerId: ProviderId): string {
  return providerId.slice('endpoint:'.length);
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

function isSameName(first: string, second: string): boolean {
  return first.toLowerCase() === second.toLowerCase();
}

/** The addresses of providers and endpoints. */
export function createProviderAddresses({ cache, endpointOverrides, ...options }: AddressOptions): ProviderAddresses {
  const baseOverrides = checkOverrides(options.baseOverrides);
  const isOverridden = (name: string) => endpointOverrides.some((override) => isSameName(override.name, name));

  function endpoints(): EndpointAddress[] {
    return [...endpointOverrides, ...cache.endpoints().filter(({ name }) => !isOverridden(name))]
      .map((endpoint) => ({ name: endpoint.name, baseAddress: withoutEndSlash(endpoint.baseAddress) }))
      .sort((first, second) => (first.name.toLowerCase() < second.name.toLowerCase() ? -1 : 1));
  }

  const findEndpoint = (name: string) => endpoints().find((endpoint) => isSameName(endpoint.name, name)) ?? null;

  function baseAddress(provider: KeyedProvider) {
    const own = registry[provider].baseAddress;
    const address = withoutEndSlash(baseOverrides.get(provider) ?? cache.baseAddress(provider) ?? own);
    return { address, isDefault: address === own };
  }

  return {
    endpoints,
    findEndpoint,
    baseAddress,
    setBaseAddress: (provider, address) => cache.setBaseAddress(provider, address && withoutEndSlash(address)),
    addressOf: (providerId) =>
      isKeyedProvider(providerId)
        ? baseAddress(providerId).address
        : (findEndpoint(endpointName(providerId))?.baseAddress ?? ''),
    isFromCommandLine: (providerId) =>
      isKeyedProvider(providerId) ? baseOverrides.has(providerId) : isOverridden(endpointName(providerId)),
  };
}
