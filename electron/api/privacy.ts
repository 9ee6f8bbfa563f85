import { readPrivacy } from '../../shared/contract/privacy.ts';
import { contactedHosts, storedLocations, type LocationOptions } from '../privacy.ts';
import { registryAddress } from '../on-device/registry-address.ts';
import type { Providers } from '../providers/create-providers.ts';
import { implement, type Handler } from './handler.ts';

export interface PrivacyOptions extends Omit<LocationOptions, 'linkedFolders'> {
  readonly providers: Providers;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly linkedFolders: () => string[];
}

/** npm may take long to tell its registry, and the page names it in words then. */
const maxRegistryMilliseconds = 3_000;

export function privacyHandlers(options: PrivacyOptions): Handler[] {
  const { providers, environment, linkedFolders } = options;
  // Asked once: npm is started for it.
  let registry: Promise<string | null> | null = null;
  return [
    implement(readPrivacy, async () => {
      registry ??= registryAddress().catch(() => null);
      const timeUp = new Promise<null>((resolve) => setTimeout(resolve, maxRegistryMilliseconds, null).unref());
      const address = await Promise.race([registry, timeUp]);
      return {
        locations: storedLocations({ ...options, linkedFolders: linkedFolders() }),
        keychain: providers.keychainTitle(),
        hosts: contactedHosts(providers, environment, address),
      };
    }),
  ];
}
