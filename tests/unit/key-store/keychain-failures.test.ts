import { expect, test, vi } from 'vitest';
import { createKeychainKeyStore } from '../../../electron/key-store/keychain-key-store.ts';

const failures: string[] = [];
const kept = new Map<string, string>();
let calls = 0;

vi.mock('../../../electron/key-store/keychain-entry.ts', () => ({
  keychainEntry: (account: string) => ({
    setPassword(secret: string) {
      calls += 1;
      const failure = failures.shift();
      if (failure !== undefined) throw new Error(failure);
      kept.set(account, secret);
    },
  }),
}));

test('a keychain that fails once is asked once more', () => {
  failures.push('Platform failure: Crypto error: message decryption failed');
  createKeychainKeyStore('keychain').write('Groq', 'first');
  expect(kept.get('Groq')).toBe('first');
});

test('one that goes on failing is an error, and one that refused is not asked again', () => {
  const store = createKeychainKeyStore('keychain');
  failures.push('Platform failure: no', 'Platform failure: no');
  expect(() => store.write('Groq', 'second')).toThrow('could not be kept in the keychain');
  calls = 0;
  failures.push("Couldn't access platform storage: SS error: prompt dismissed");
  expect(() => store.write('Groq', 'second')).toThrow('Unlock it and try again');
  expect([calls, kept.get('Groq')]).toEqual([1, 'first']);
});
