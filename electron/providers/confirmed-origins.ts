import { addressRemedy } from '../../shared/address-safety.ts';
import { AppError } from '../../shared/app-error.ts';
import type { AddressConfirmation } from '../../shared/contract/providers.ts';
import type { KeyStore } from '../key-store/key-store.ts';

type KeySource = AddressConfirmation['keySource'];

/**
 * The origins that the user of this device has confirmed. They are in the key store, not in the database, because a database can be
 * restored or come from someone else.
 */
export interface ConfirmedOrigins {
  /** The origin that a key may be sent to; null if unknown. */
  ofKey(providerId: string, source: KeySource): string | null;
  setOfKey(providerId: string, source: KeySource, origin: string): void;
  removeOfKey(providerId: string): void;
  /** Whether prompts may be sent there without a key. */
  has(origin: string): boolean;
  add(origin: string): void;
  remove(origin: string): void;
}

export function createConfirmedOrigins(keyStore: KeyStore): ConfirmedOrigins {
  const has = (origin: string) => keyStore.read(addressEntry(origin)) !== null;
  return {
    has,
    ofKey: (providerId, source) => keyStore.read(keyEntry(providerId, source)),
    setOfKey: (providerId, source, origin) => keyStore.write(keyEntry(providerId, source), origin),
    removeOfKey: (providerId) => keyStore.remove(keyEntry(providerId, 'keychain')),
    add(origin) {
      if (!has(origin)) keyStore.write(addressEntry(origin), 'confirmed');
    },
    remove(origin) {
      if (has(origin)) keyStore.remove(addressEntry(origin));
    },
  };
}

/** A key from the environment has its own entry, because a stored key that replaces it can be for another origin. */
function keyEntry(providerId: string, source: KeySource): string {
  return source === 'environment' ? `${providerId} environment origin` : `${providerId} origin`;
}

function addressEntry(origin: string): string {
  return `address ${origin}`;
}

/** `title` is the name that users see, `page` the page of the settings with the address. */
export function unconfirmedAddress(title: string, page: string, confirmation: AddressConfirmation): AppError {
  const { origin, keyOrigin, keySource } = confirmation;
  const reason =
    keySource === null
      ? `Nothing is sent to ${origin}, the address of ${title}, because it hasn't been confirmed on this device.`
      : keyOrigin === null
        ? `The API key of ${title} isn't sent to ${origin}, because it isn't known which address it was entered for.`
        : `The API key of ${title} is for ${keyOrigin} and isn't sent to ${origin}.`;
  return new AppError('provider_not_configured', `${reason} ${addressRemedy} ${page}.`);
}
