import { AppError } from '../../shared/app-error.ts';
import { adviceFor, askKeychain, patience } from './ask-keychain.ts';
import { keychainEntry } from './keychain-entry.ts';
import type { KeyStore } from './key-store.ts';

/**
 * Secrets in the platform's keychain. What was read or written once is remembered while the process lives: every run needs
 * its provider's key, and asking the keychain takes milliseconds and may open a dialog. Throws `provider_not_configured`
 * when the keychain refuses.
 */
export function createKeychainKeyStore(title: string): KeyStore {
  const known = new Map<string, string | null>();

  function attempt<Result>(action: string, attempts: number, work: () => Result): Result {
    try {
      return askKeychain(work, attempts);
    } catch (error) {
      // The library's own words are not passed on: nobody can promise that they never hold the secret.
      const message = `Couldn't ${action} the ${title}. ${adviceFor(error)}`;
      throw new AppError('provider_not_configured', message);
    }
  }

  return {
    title,
    source: 'keychain',
    read(account) {
      const present = known.get(account);
      if (present !== undefined) return present;
      const secret = attempt('read the key from', patience.forReading, () => keychainEntry(account).getPassword());
      known.set(account, secret);
      return secret;
    },
    write(account, secret) {
      attempt('save the key in', patience.forChanges, () => keychainEntry(account).setPassword(secret));
      known.set(account, secret);
    },
    remove(account) {
      attempt('remove the key from', patience.forChanges, () => keychainEntry(account).deletePassword());
      known.set(account, null);
    },
  };
}
