import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { randomUUID } from 'node:crypto';
import { Entry } from '@napi-rs/keyring';

/** The error message if no low descriptor is free. */
export const tooManyOpen = 'Too many files and connections are open.';

/** Connections to a keychain stay open until the memory of their entry is collected, so one spare isn't enough. */
const spareCount = 16;

export interface SpareDescriptors {
  /**
   * Ensures that the next descriptor that this process opens is below the limit; throws if none is free. Open nothing between this
   * call and the one that needs it.
   */
  makeRoom(): void;
}

/**
 * Reserves descriptors with low numbers for a library that can't use others. `limit` is the lowest number that is too high. Call
 * this early, while the process has few files and sockets open.
 */
export function keepSpareDescriptors(limit: number): SpareDescriptors {
  const spares: number[] = [];

  /** The system returns the lowest free number. */
  function isRoomBelowLimit(): boolean {
    try {
      const descriptor = openSync(devNull, 'r');
      closeSync(descriptor);
      return descriptor < limit;
    } catch {
      return false;
    }
  }

  function refill(): void {
    while (spares.length < spareCount && isRoomBelowLimit()) spares.push(openSync(devNull, 'r'));
  }

  refill();
  return {
    makeRoom() {
      refill();
      if (isRoomBelowLimit()) return;
      const spare = spares.pop();
      if (spare === undefined) throw new Error(tooManyOpen);
      closeSync(spare);
    },
  };
}

/** The service name of the entries in the keychain. */
const service = 'Touchstone';

/**
 * On Linux the library waits for its D-Bus connection with `select`, which supports 1,024 descriptors. With a higher one it never
 * returns, and blocks the host. A host with a thousand connections has no lower one free.
 */
const descriptors = process.platform === 'linux' ? keepSpareDescriptors(1000) : null;

/**
 * One secret in the platform's keychain. On Linux only a Secret Service is used: the library would otherwise fall back to the
 * kernel's keyring, which loses everything when the machine restarts.
 */
export function keychainEntry(account: string): Entry {
  descriptors?.makeRoom();
  return new Entry(service, account, { linux: { store: 'secret-service' } });
}

/** The start of the library's message if an accessible keychain failed. A locked one has another message. */
const platformFailure = /^platform failure/i;

const silence = /did not receive a reply/i;

/**
 * Max attempts. On Linux the library gives each request two seconds, and a keychain on a busy computer can need more. It completes
 * the request all the same, so the next attempt succeeds at once.
 */
export const patience = { forReading: 2, forChanges: 5 };

/** Retries up to `attempts` times if an accessible keychain fails. A rejection isn't retried. */
export function askKeychain<Result>(work: () => Result, attempts: number): Result {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work();
    } catch (error) {
      const isFailure = error instanceof Error && platformFailure.test(error.message);
      if (!isFailure || attempt >= attempts) throw error;
    }
  }
}

/** How to fix a failure, as a sentence or two. */
export function adviceFor(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (message === tooManyOpen) return `${tooManyOpen} Close some and try again.`;
  return silence.test(message) ? 'It is not responding. Try again later.' : 'Unlock it and try again.';
}

/** Writes, reads and removes a test entry. Throws or never returns if no keychain works. */
export function probeKeychain(): boolean {
  const secret = randomUUID();
  const ask = <Result>(work: (entry: Entry) => Result): Result =>
    askKeychain(() => work(keychainEntry(`probe-${secret}`)), patience.forChanges);
  ask((entry) => entry.setPassword(secret));
  const isRead = ask((entry) => entry.getPassword()) === secret;
  ask((entry) => entry.deletePassword());
  return isRead;
}
