import { AppError } from '../../shared/app-error.ts';
import { keychainEntry } from './keychain-entry.ts';
import type { KeyStore } from './key-store.ts';

/** The words with which the library begins when a keychain that it can get at has failed; a locked one is told otherwise. */
const platformFailure = /^platform failure/i;

/** Keychains fail now and then without a reason that lasts, and succeed at the next call; who has refused is not asked twice. */
function onceMore<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || !platformFailure.test(error.message)) throw error;
    return work();
  }
}

/**
 * Secrets in the platform's keychain. What was read or written once is remembered while the process lives: every run needs
 * its provider's key, and asking the keychain takes milliseconds and may open a dialog. Throws `provider_not_configured`
 * when the keychain refuses.
 */
export function createKeychainKeyStore(title: string): KeyStore {
  const known = new Map<string, string | null>();

  function attempt<Result>(action: string, work: () => Result): Result {
    try {
      return onceMore(work);
    } catch {
      // The library's own words are not passed on: nobody can promise that they never hold the secret.
      throw new AppError(
        'provider_not_configured',
        `The key could not be ${action} the ${title}. Unlock it and try again.`,
      );
    }
  }

  return {
    title,
    source: 'keychain',
    read(account) {
      const present = known.get(account);
      if (present !== undefined) return present;
      const secret = attempt('read from', () => keychainEntry(account).getPassword());
      known.set(account, secret);
      return secret;
    },
    write(account, secret) {
      attempt('kept in', () => keychainEntry(account).setPassword(secret));
      known.set(account, secret);
    },
    remove(account) {
      attempt('removed from', () => keychainEntry(account).deletePassword());
      known.set(account, null);
    },
  };
}
