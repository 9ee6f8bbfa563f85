import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { siblingModule } from '../sibling-module.ts';
import { createKeychainKeyStore } from './keychain-key-store.ts';
import type { KeyStore } from './key-store.ts';
import { createMemoryKeyStore } from './memory-key-store.ts';
import { probeKeychain } from './probe-keychain.ts';

/** Longer than a keychain takes to start and answer, shorter than anybody wants to wait for a window. */
const probeMilliseconds = 8000;

/** What starting a process may take on a computer with much to do, in milliseconds. */
const startMilliseconds = 60_000;

const titles: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'macOS Keychain',
  win32: 'Windows Credential Manager',
  linux: 'Secret Service keyring',
};

export interface CreateKeyStoreOptions {
  /** How long the keychain may take to prove that it works, in milliseconds. */
  readonly probeMilliseconds?: number;
}

/** The platform's keychain if it works, otherwise secrets in memory. Never throws and never waits longer than the probe may. */
export async function createKeyStore(options: CreateKeyStoreOptions = {}): Promise<KeyStore> {
  const title = titles[process.platform];
  const isWorking =
    process.platform === 'linux'
      ? await probeInProcess(options.probeMilliseconds ?? probeMilliseconds)
      : title !== undefined && probeHere();
  return isWorking ? createKeychainKeyStore(title!) : createMemoryKeyStore();
}

function probeHere(): boolean {
  try {
    return probeKeychain();
  } catch {
    return false;
  }
}

/** A D-Bus that accepts and then says nothing blocks its caller for ever, in native code that nothing can interrupt. */
async function probeInProcess(milliseconds: number): Promise<boolean> {
  const probe = fork(fileURLToPath(siblingModule(import.meta.url, 'keychain-probe-process')), [], {
    // In Electron this makes the child a plain Node; elsewhere it means nothing.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: startMilliseconds,
    killSignal: 'SIGKILL',
  });
  let limit: NodeJS.Timeout | undefined;
  probe.once('message', () => (limit = setTimeout(() => probe.kill('SIGKILL'), milliseconds)));
  try {
    const [status] = (await once(probe, 'exit')) as [number | null];
    return status === 0;
  } catch {
    return false;
  } finally {
    clearTimeout(limit);
  }
}
