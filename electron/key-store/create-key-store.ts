import { childEnvironment, type StartChild } from '../child-process/child.ts';
import { forkChild } from '../child-process/fork-child.ts';
import { workerUrl } from '../common/worker-url.ts';
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
  /** Starts the process that tries the keychain; Node's `fork` by default. */
  readonly startChild?: StartChild;
}

/** The platform's keychain if it works, otherwise secrets in memory. Never throws and never waits longer than the probe may. */
export async function createKeyStore(options: CreateKeyStoreOptions = {}): Promise<KeyStore> {
  const title = titles[process.platform];
  const isWorking =
    process.platform === 'linux'
      ? await probeInProcess(options.startChild ?? forkChild, options.probeMilliseconds ?? probeMilliseconds)
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

/** By which the bus and the keychain of a session are found. */
const sessionVariables = ['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'HOME', 'DISPLAY', 'WAYLAND_DISPLAY'];

/** A D-Bus that accepts and then says nothing blocks its caller for ever, in native code that nothing can interrupt. */
async function probeInProcess(startChild: StartChild, milliseconds: number): Promise<boolean> {
  const ended = Promise.withResolvers<boolean>();
  let isWorking = false;
  const probe = startChild({
    program: workerUrl(import.meta.url, 'keychain-probe-process'),
    environment: childEnvironment(sessionVariables),
  });
  let limit = setTimeout(probe.kill, startMilliseconds);
  probe.onMessage((message) => {
    clearTimeout(limit);
    if (message === 'started') {
      limit = setTimeout(probe.kill, milliseconds);
      return;
    }
    isWorking = message === 'works';
    probe.kill();
  });
  probe.onEnd(() => ended.resolve(isWorking));
  try {
    return await ended.promise;
  } finally {
    clearTimeout(limit);
  }
}
