import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../shared/app-error.ts';
import { adviceFor, askKeychain, keychainEntry, patience, probeKeychain } from './keychain.ts';
import { createMemoryKeyStore, type KeyStore } from './key-store.ts';
import { childEnvironment, forkChild, type StartChild } from '../child-process/child.ts';
import { workerUrl } from '../common/worker-url.ts';

/**
 * Secrets in the platform's keychain. Secrets that were read or written once are cached while the process lives: every run needs
 * its provider's key, and the keychain takes milliseconds and may open a dialog. Throws `provider_not_configured` when the keychain
 * rejects the request.
 */
export function createKeychainKeyStore(title: string): KeyStore {
  const known = new Map<string, string | null>();

  function attempt<Result>(action: string, attempts: number, work: () => Result): Result {
    try {
      return askKeychain(work, attempts);
    } catch (error) {
      // The library's message isn't passed on: it could contain the secret.
      const message = `Couldn't ${action} the ${title}. ${adviceFor(error)}`;
      throw new AppError('provider_not_configured', message);
    }
  }

  return {
    title,
    source: 'keychain',
    read(account) {
      const present = known.get(account);
      if (present !== undefined) return present;
      const secret = attempt('read the key from', patience.forReading, () => keychainEntry(account).getPassword());
      known.set(account, secret);
      return secret;
    },
    write(account, secret) {
      attempt('save the key in', patience.forChanges, () => keychainEntry(account).setPassword(secret));
      known.set(account, secret);
    },
    remove(account) {
      attempt('remove the key from', patience.forChanges, () => keychainEntry(account).deletePassword());
      known.set(account, null);
    },
  };
}

/** Longer than a keychain takes to start and respond, shorter than people want to wait for a window. */
const probeMilliseconds = 8000;

/** Max time to start a process on a busy computer, in milliseconds. */
const startMilliseconds = 60_000;

const titles: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'macOS Keychain',
  win32: 'Windows Credential Manager',
  linux: 'Secret Service keyring',
};

export interface CreateKeyStoreOptions {
  /** Max time for the test of the keychain, in milliseconds. */
  readonly probeMilliseconds?: number;
  /** Starts the process that tests the keychain; Node's `fork` by default. */
  readonly startChild?: StartChild;
}

/** The platform's keychain if it works, otherwise secrets in memory. Never throws and never waits longer than the test may take. */
export async function createKeyStore(options: CreateKeyStoreOptions = {}): Promise<KeyStore> {
  const title = titles[process.platform];
  const isWorking =
    process.platform === 'linux'
      ? mayHaveBus(process.env) &&
        (await probeInProcess(options.startChild ?? forkChild, options.probeMilliseconds ?? probeMilliseconds))
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

/** Variables that locate the D-Bus and the keychain of a session. */
const sessionVariables = ['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'HOME', 'DISPLAY', 'WAYLAND_DISPLAY'];

/** Whether a Secret Service can be reached: a server or a container has no D-Bus, and needs no process to find that out. */
function mayHaveBus(environment: NodeJS.ProcessEnv): boolean {
  const { DBUS_SESSION_BUS_ADDRESS: address, DISPLAY, WAYLAND_DISPLAY, XDG_RUNTIME_DIR: directory } = environment;
  // A desktop may start the bus with its first client.
  return Boolean(address || DISPLAY || WAYLAND_DISPLAY || (directory && existsSync(join(directory, 'bus'))));
}

/** A D-Bus that accepts a connection and never responds blocks its caller forever, in native code that can't be interrupted. */
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
