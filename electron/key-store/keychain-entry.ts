import { Entry } from '@napi-rs/keyring';
import { keepSpareDescriptors } from './spare-descriptors.ts';

/** What the entries are filed under in the keychain. */
const service = 'Touchstone';

/**
 * On Linux the library waits for its D-Bus connection with `select`, which reaches 1,024 descriptors: with a higher one it never
 * comes back, and the whole host with it. A host that serves a thousand connections has no lower one free.
 */
const descriptors = process.platform === 'linux' ? keepSpareDescriptors(1000) : null;

/**
 * One secret in the platform's keychain. On Linux only a Secret Service counts: the library would otherwise fall back to the
 * kernel's keyring, which forgets everything at the next start of the machine.
 */
export function keychainEntry(account: string): Entry {
  descriptors?.makeRoom();
  return new Entry(service, account, { linux: { store: 'secret-service' } });
}
