/**
 * Where secrets live: provider keys by account name (`OpenAi`, `endpoint:<name>`). Nothing but the provider that
 * needs a key ever reads one, and none is written to a file, a log or an answer.
 */
export interface KeyStore {
  /** What people call it, for example `macOS Keychain`; null when secrets live only in memory. */
  readonly title: string | null;
  readonly source: 'keychain' | 'memory';
  read(account: string): string | null;
  write(account: string, secret: string): void;
  remove(account: string): void;
}

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
