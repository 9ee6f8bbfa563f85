import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { ProviderFetch, TimeLimits } from '../../electron/providers/provider-fetch.ts';
import { createTransport } from './provider-calls.ts';
import { startScriptedProvider, type ScriptedProvider } from './scripted-provider.ts';

export interface ProviderConnection {
  readonly server: ScriptedProvider;
  /** Closed after the test. */
  openTransport(limits?: TimeLimits): ProviderFetch;
}

/** A scripted provider for every test of the file; read its parts inside the tests. No rejection may go unhandled meanwhile. */
export function useProviderConnection(): ProviderConnection {
  let server: ScriptedProvider;
  const transports: ProviderFetch[] = [];
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);

  beforeAll(() => void process.on('unhandledRejection', onUnhandled));
  afterAll(() => void process.off('unhandledRejection', onUnhandled));
  beforeEach(async () => {
    server = await startScriptedProvider();
  });
  afterEach(async () => {
    await Promise.all(transports.splice(0).map((transport) => transport.close()));
    await server.close();
    expect(unhandled.splice(0)).toEqual([]);
  });
  return {
    get server() {
      return server;
    },
    openTransport(limits) {
      const transport = createTransport(limits);
      transports.push(transport);
      return transport;
    },
  };
}
