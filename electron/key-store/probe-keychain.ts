import { randomUUID } from 'node:crypto';
import type { Entry } from '@napi-rs/keyring';
import { askKeychain, patience } from './ask-keychain.ts';
import { keychainEntry } from './keychain-entry.ts';

/** Writes, reads and removes an entry of its own. Throws, or never comes back, where no keychain works. */
export function probeKeychain(): boolean {
  const secret = randomUUID();
  const ask = <Result>(work: (entry: Entry) => Result): Result =>
    askKeychain(() => work(keychainEntry(`probe-${secret}`)), patience.forChanges);
  ask((entry) => entry.setPassword(secret));
  const isRead = ask((entry) => entry.getPassword()) === secret;
  ask((entry) => entry.deletePassword());
  return isRead;
}
