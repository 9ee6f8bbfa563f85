import { expect, test, vi } from 'vitest';
import { createKeychainKeyStore } from '../../../electron/key-store/create-key-store.ts';

const failures: string[] = [];
const stored = new Map<string, string>();
let calls = 0;

vi.mock('@napi-rs/keyring', () => ({
  Entry: class {
    readonly #account: string;

    constructor(_service: string, account: string) {
      this.#account = account;
    }

    setPassword(secret: string) {
      calls += 1;
      const failure = failures.shift();
      if (failure !== undefined) throw new Error(failure);
      stored.set(this.#account, secret);
    }

    getPassword() {
      const failure = failures.shift();
      if (failure !== undefined) throw new Error(failure);
      return stored.get(this.#account) ?? null;
    }
  },
}));

const silence =
  'Platform failure: DBus error: Did not receive a reply. Possible causes include: the reply timeout expired';

test('retries a slow keychain, more often for a change than for a read', () => {
  failures.push(silence, silence, silence, silence);
  createKeychainKeyStore('keychain').write('Groq', 'first');
  expect(stored.get('Groq')).toBe('first');
  failures.push(silence);
  expect(createKeychainKeyStore('keychain').read('Groq')).toBe('first');
});

test("reports a keychain that keeps failing, and doesn't retry after a rejection", () => {
  const store = createKeychainKeyStore('keychain');
  failures.push(...Array<string>(5).fill(silence));
  expect(() => store.write('Groq', 'second')).toThrow(
    "Couldn't save the key in the keychain. It is not responding. Try again later.",
  );
  failures.push(silence, silence);
  expect(() => store.read('Groq')).toThrow("Couldn't read the key from the keychain. It is not responding.");
  calls = 0;
  failures.push("Couldn't access platform storage: SS error: prompt dismissed");
  expect(() => store.write('Groq', 'second')).toThrow('Unlock it and try again');
  expect([calls, stored.get('Groq')]).toEqual([1, 'first']);
});
