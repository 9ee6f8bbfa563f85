import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { AppError } from '../../shared/app-error.ts';
import { createMemoryKeyStore, type KeyStore } from '../../electron/key-store/key-store.ts';
import {
  createOnDeviceLanguageModels,
  type OnDeviceLanguageModels,
} from '../../electron/on-device/create-language-models.ts';
import { createProviders, type Providers, type ProvidersOptions } from '../../electron/providers/create-providers.ts';
import { openStorage } from '../../electron/storage/open-storage.ts';
import type { Storage } from '../../electron/storage/storage.ts';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';

/** What the providers of one test stand on: a real database, the on-device models with none installed, a scripted provider. */
export interface ProvidersWorld {
  readonly storage: Storage;
  readonly keyStore: KeyStore;
  readonly onDevice: OnDeviceLanguageModels;
  readonly server: ScriptedProvider;
  open(options?: Partial<ProvidersOptions>): Providers;
  close(): Promise<void>;
}

async function createWorld(): Promise<ProvidersWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-providers-'));
  const storage = openStorage({ directory });
  const keyStore = createMemoryKeyStore();
  const onDevice = createOnDeviceLanguageModels({
    directory: join(directory, 'models'),
    settings: storage.settings,
    registryAddress: 'http://127.0.0.1:1',
    log: () => {},
  });
  const server = await startScriptedProvider();
  const opened: Providers[] = [];
  return {
    storage,
    keyStore,
    onDevice,
    server,
    open(options = {}) {
      const providers = createProviders({
        cache: storage.providerCache,
        keyStore,
        environment: {},
        baseOverrides: {},
        endpointOverrides: [],
        settings: storage.settings,
        onDevice,
        wellKnownEndpoints: [],
        ...options,
      });
      opened.push(providers);
      return providers;
    },
    async close() {
      await Promise.all(opened.map((providers) => providers.close()));
      await onDevice.close();
      await storage.close();
      await server.close();
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** A new world for every test of the file; read its parts inside the tests. */
export function useProvidersWorld(): ProvidersWorld {
  let world: ProvidersWorld;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world.close());
  return {
    get storage() {
      return world.storage;
    },
    get keyStore() {
      return world.keyStore;
    },
    get onDevice() {
      return world.onDevice;
    },
    get server() {
      return world.server;
    },
    open: (options) => world.open(options),
    close: () => world.close(),
  };
}

/** The `AppError` that a call throws. */
export function rejectionOf(call: () => unknown): AppError {
  try {
    call();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('It was expected to be refused.');
}
