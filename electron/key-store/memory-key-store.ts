import type { KeyStore } from './key-store.ts';

/** Secrets for this start only, where there is no keychain: rather forgotten than written to a file. */
export function createMemoryKeyStore(): KeyStore {
  const secrets = new Map<string, string>();
  return {
    title: null,
    source: 'memory',
    read: (account) => secrets.get(account) ?? null,
    write: (account, secret) => void secrets.set(account, secret),
    remove: (account) => void secrets.delete(account),
  };
}
