/**
 * Stores secrets: provider keys by account name (`OpenAi`, `endpoint:<name>`). Only the provider that needs a key reads it, and no
 * key is written to a file, a log or a response.
 */
export interface KeyStore {
  /** Its display name, for example `macOS Keychain`; null if secrets are only in memory. */
  readonly title: string | null;
  readonly source: 'keychain' | 'memory';
  read(account: string): string | null;
  write(account: string, secret: string): void;
  remove(account: string): void;
}

/** Secrets for this start only, if there is no keychain. They are lost at the end rather than written to a file. */
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
