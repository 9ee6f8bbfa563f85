import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { randomUUID } from 'node:crypto';
import { Entry } from '@napi-rs/keyring';

/** The message with which a descriptor is refused. */
export const tooManyOpen = 'Too many files and connections are open.';

/** Connections to a keychain stay open until the memory of their entry is reclaimed, so one spare is not enough. */
const spareCount = 16;

export interface SpareDescriptors {
  /**
   * Makes sure that the next descriptor that this process opens is below the limit; throws when none can be had. Nothing may
   * be opened between this call and the one that needs it.
   */
  makeRoom(): void;
}

/**
 * Holds descriptors with low numbers back, for a library that cannot use others. `limit` is the lowest number that is too high.
 * They are taken at once, so call this while the process has few files and sockets open.
 */
export function keepSpareDescriptors(limit: number): SpareDescriptors {
  const spares: number[] = [];

  /** The system gives the lowest number that is free. */
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

/** The words with which the library begins when a keychain that it can get at has failed; a locked one is told otherwise. */
const platformFailure = /^platform failure/i;

const silence = /did not receive a reply/i;

/**
 * How often a keychain is asked. On Linux the library gives each question two seconds, which a keychain needs and more on a
 * computer with much to do; what it was told it does all the same, and the next answer comes at once.
 */
export const patience = { forReading: 2, forChanges: 5 };

/** Asks again, up to `attempts` times in all, where a keychain fails that can be got at; who has refused is not asked twice. */
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

/** What a person can do about a failure, as a sentence or two. */
export function adviceFor(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (message === tooManyOpen) return `${tooManyOpen} Close some and try again.`;
  return silence.test(message) ? 'It is not responding. Try again later.' : 'Unlock it and try again.';
}

/** Writes, reads and removes a test entry. Throws, or never returns, where no keychain works. */
export function probeKeychain(): boolean {
  const secret = randomUUID();
  const ask = <Result>(work: (entry: Entry) => Result): Result =>
    askKeychain(() => work(keychainEntry(`probe-${secret}`)), patience.forChanges);
  ask((entry) => entry.setPassword(secret));
  const isRead = ask((entry) => entry.getPassword()) === secret;
  ask((entry) => entry.deletePassword());
  return isRead;
}
