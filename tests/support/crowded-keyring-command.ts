import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { createKeychainKeyStore } from '../../electron/key-store/create-key-store.ts';

// Keeps and reads a key in a process that has as many files open as a host with a thousand connections, and prints both what was
// read and what the last of many more reads came to.
const keyStore = createKeychainKeyStore('keyring');
try {
  for (let descriptor = 0; descriptor < 1100;) descriptor = openSync(devNull, 'r');
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
}
keyStore.write('OpenAi', 'kept');
const read = createKeychainKeyStore('keyring').read('OpenAi');
let refusal = '';
for (let count = 0; count < 100 && refusal === ''; count += 1) {
  try {
    createKeychainKeyStore('keyring').read('OpenAi');
  } catch (error) {
    refusal = (error as Error).message;
  }
}
process.stdout.write(JSON.stringify({ read, refusal }));
