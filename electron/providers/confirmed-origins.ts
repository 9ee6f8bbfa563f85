import { addressRemedy } from '../../shared/address-safety.ts';
import { AppError } from '../../shared/app-error.ts';
import type { AddressConfirmation } from '../../shared/contract/providers.ts';
import type { KeyStore } from '../key-store/key-store.ts';

type KeySource = AddressConfirmation['keySource'];

/**
 * The origins that the user of this device has confirmed. They are in the key store, not in the database, because a database can be
 * restored or come from someone else.
 */
export class ConfirmedOrigins {
  readonly #keyStore: KeyStore;

  constructor(keyStore: KeyStore) {
    this.#keyStore = keyStore;
  }

  /** The origin that a key may be sent to; null if unknown. */
  ofKey(account: string, source: KeySource): string | null {
    return this.#keyStore.read(keyEntry(account, source));
  }

  setOfKey(account: string, source: KeySource, origin: string): void {
    this.#keyStore.write(keyEntry(account, source), origin);
  }

  removeOfKey(account: string): void {
    this.#keyStore.remove(keyEntry(account, 'keychain'));
  }

  /** Whether prompts may be sent there without a key. */
  has(origin: string): boolean {
    return this.#keyStore.read(addressEntry(origin)) !== null;
  }

  add(origin: string): void {
    if (!this.has(origin)) this.#keyStore.write(addressEntry(origin), 'confirmed');
  }

  remove(origin: string): void {
    if (this.has(origin)) this.#keyStore.remove(addressEntry(origin));
  }
}

/** A key from the environment has its own entry, because a stored key that replaces it can be for another origin. */
function keyEntry(account: string, source: KeySource): string {
  return source === 'environment' ? `${account} environment origin` : `${account} origin`;
}

function addressEntry(origin: string): string {
  return `address ${origin}`;
}

/** `title` is the name that users see, `place` the page of the settings with the address. */
export function unconfirmedAddress(title: string, place: string, asked: AddressConfirmation): AppError {
  const { origin, keyOrigin, keySource } = asked;
  const reason =
    keySource === null
      ? `Nothing is sent to ${origin}, the address of ${title}, because it hasn't been confirmed on this device.`
      : keyOrigin === null
        ? `The API key of ${title} isn't sent to ${origin}, because it isn't known which address it was entered for.`
        : `The API key of ${title} is for ${keyOrigin} and isn't sent to ${origin}.`;
  return new AppError('provider_not_configured', `${reason} ${addressRemedy} ${place}.`);
}
