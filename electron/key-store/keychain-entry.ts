import { Entry } from '@napi-rs/keyring';

/** What the entries are filed under in the keychain. */
const service = 'Touchstone';

/**
 * One secret in the platform's keychain. On Linux only a Secret Service counts: the library would otherwise fall back to the
 * kernel's keyring, which forgets everything at the next start of the machine.
 */
export function keychainEntry(account: string): Entry {
  return new Entry(service, account, { linux: { store: 'secret-service' } });
}
