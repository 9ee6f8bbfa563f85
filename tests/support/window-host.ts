import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Handler } from '../../electron/api/api.ts';
import { createHost } from '../../electron/create-host.ts';
import { createLocalServer } from '../../electron/server/local-server.ts';
import type { Storage } from '../../electron/storage/storage.ts';
import { createMemoryKeyStore, type KeyStore } from '../../electron/key-store/key-store.ts';
import { createClient } from '../../renderer/host/client.ts';
import type { Host } from '../../renderer/host/host-context.tsx';
import type { HostRequest } from '../../renderer/host/host-fetch.ts';
import type { Capability } from '../../shared/contract/settings.ts';

export interface WindowHost {
  /** What the window works with: the real service, reached without a socket. */
  readonly host: Host;
  /** Every request that the window made: `PUT /window/providers/OpenAi/key`. */
  readonly requests: readonly string[];
  /** For changes of which the host tells nobody. */
  readonly storage: Storage;
  close(): Promise<void>;
}

export interface WindowHostOptions {
  capabilities?: readonly Capability[];
  providerBases?: Readonly<Record<string, string>>;
  endpoints?: readonly { name: string; baseAddress: string }[];
  environment?: Readonly<Record<string, string>>;
  keyStore?: KeyStore;
  /** What the desktop answers beyond the service. */
  handlers?: readonly Handler[];
}

/** A whole host on a folder of its own, for tests of what the window shows. */
export async function startWindowHost(options: WindowHostOptions = {}): Promise<WindowHost> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-window-'));
  const capabilities = options.capabilities ?? [];
  const service = await createHost({
    dataDirectory,
    providerBases: options.providerBases ?? {},
    endpoints: options.endpoints ?? [],
    capabilities,
    environment: options.environment ?? {},
    handlers: options.handlers ?? [],
    keyStore: options.keyStore ?? createMemoryKeyStore(),
    log: () => {},
  });
  // As the desktop does: its listener follows the settings.
  const control = capabilities.includes('local-server-switch')
    ? createLocalServer({ host: service, dataDirectory, log: () => {} })
    : null;
  const requests: string[] = [];
  const hostFetch = async ({ method, path, headers, body, signal }: HostRequest): Promise<Response> => {
    requests.push(`${method} ${path}`);
    const request = new Request(`http://window.test${path}`, { method, headers: { ...headers }, body });
    const response = await service.api.fetch(request, { access: 'window' });
    signal?.throwIfAborted();
    return response;
  };
  const close = async (): Promise<void> => {
    await control?.close();
    await service.close();
    rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20 });
  };
  return {
    host: { client: createClient(hostFetch), platform: 'linux', version: 'test', capabilities: new Set(capabilities) },
    requests,
    storage: service.storage,
    close,
  };
}
