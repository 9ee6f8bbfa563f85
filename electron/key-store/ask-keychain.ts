import { tooManyOpen } from './spare-descriptors.ts';

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
