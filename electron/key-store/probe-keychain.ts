import { randomUUID } from 'node:crypto';
import { keychainEntry } from './keychain-entry.ts';

/** Writes, reads and removes an entry of its own. Throws, or never comes back, where no keychain works. */
export function probeKeychain(): boolean {
  const secret = randomUUID();
  const entry = keychainEntry(`probe-${secret}`);
  entry.setPassword(secret);
  const isRead = entry.getPassword() === secret;
  return entry.deletePassword() && isRead;
}
