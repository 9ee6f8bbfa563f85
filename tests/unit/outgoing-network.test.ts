import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { generate } from 'selfsigned';
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { IsDirect } from '../../electron/outgoing-dispatcher.ts';
import { useNetwork } from '../../electron/outgoing-network.ts';
import { createProviderFetch } from '../../electron/providers/provider-fetch.ts';
import { createEndpointProvider } from '../../electron/providers/registry.ts';
import { hostEnvironment } from '../support/host-environment.ts';
import { nodeOptions } from '../support/node-options.ts';
import { createTransport, failureOf, modelRequest, noAbort, patientLimits } from '../support/provider-calls.ts';
import { startProxyServer, type ProxyServer } from '../support/proxy-server.ts';
import { startScriptedProvider, type ScriptedProvider } from '../support/scripted-provider.ts';

const callsProcess = fileURLToPath(new URL('../support/outgoing-calls-process.ts', import.meta.url));
const run = promisify(execFile);

describe('a call to another computer', () => {
  let provider: ScriptedProvider;
  let proxy: ProxyServer;

  beforeEach(async () => {
    provider = await startScriptedProvider((call) => call.chatAnswer({ content: 'hello' }));
    proxy = await startProxyServer(Number(new URL(provider.baseAddress).port));
  });
  afterEach(async () => {
    await proxy.close();
    await provider.close();
  });

  async function answerOf(baseAddress: string, environment: Record<string, string>): Promise<string> {
    const transport = createTransport(patientLimits, environment);
    const endpoint = createEndpointProvider({ title: 'Local', baseAddress, key: null, transport });
    try {
      return (await endpoint.generate(modelRequest('llama'), { signal: noAbort() })).content;
    } finally {
      await transport.close();
    }
  }

  test.each(['http_proxy', 'HTTP_PROXY', 'ALL_PROXY'])('uses the proxy in %s', async (name) => {
    const address = `http://127.0.0.1:${proxy.port}`;
    expect(await answerOf('http://provider.test/v1', { [name]: address })).toBe('hello');
    expect(proxy.requests).toEqual(['POST http://provider.test/v1/chat/completions']);
    expect(proxy.caller()).toBeNull();
  });

  test('sends the proxy the name and password from its address, also without a scheme', async () => {
    const environment = { HTTP_PROXY: `ana:p%40ss@127.0.0.1:${proxy.port}` };
    expect(await answerOf('http://provider.test/v1', environment)).toBe('hello');
    expect(proxy.caller()).toBe('ana:p@ss');
  });

  test('goes directly to this computer, to the hosts of NO_PROXY, and without a proxy', async () => {
    const HTTP_PROXY = `http://127.0.0.1:${proxy.port}`;
    const byName = provider.baseAddress.replace('127.0.0.1', 'localhost');
    expect(await answerOf(provider.baseAddress, { HTTP_PROXY })).toBe('hello');
    expect(await answerOf(byName, { HTTP_PROXY, NO_PROXY: 'elsewhere.test' })).toBe('hello');
    expect(await answerOf(provider.baseAddress, { HTTP_PROXY, NO_PROXY: '*' })).toBe('hello');
    expect(await answerOf(provider.baseAddress, { HTTP_PROXY: ' ' })).toBe('hello');
    // Leads to this computer as well, but not by a name that is never behind a proxy.
    const byOtherName = provider.baseAddress.replace('127.0.0.1', '0.0.0.0');
    expect(await answerOf(byOtherName, { HTTP_PROXY, NO_PROXY: 'a.test,.0.0.0' })).toBe('hello');
    expect(proxy.requests).toEqual([]);
  });

  test("goes directly to what is an exception in the system's settings, which are read once for each origin", async () => {
    const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    const isDirect = vi.fn<IsDirect>(async (origin) => origin.includes('0.0.0.0'));
    const transport = createProviderFetch({ timeLimits: () => patientLimits, environment, isDirect });
    const direct = provider.baseAddress.replace('127.0.0.1', '0.0.0.0');
    const proxied = 'http://provider.test/v1';
    for (const baseAddress of [direct, proxied, direct, proxied]) {
      const endpoint = createEndpointProvider({ title: 'Local', baseAddress, key: null, transport });
      expect((await endpoint.generate(modelRequest('llama'), { signal: noAbort() })).content).toBe('hello');
    }
    await transport.close();
    const request = `POST ${proxied}/chat/completions`;
    expect(proxy.requests).toEqual([request, request]);
    expect(isDirect.mock.calls).toEqual([[new URL(direct).origin], ['http://provider.test']]);
  });

  test("of `fetch` follows the exceptions of the system's settings, too", async () => {
    const before = getGlobalDispatcher();
    const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    try {
      await useNetwork({ environment, isDirect: async (origin) => origin.includes('0.0.0.0') }, () => undefined);
      expect((await fetch(provider.baseAddress.replace('127.0.0.1', '0.0.0.0'))).status).toBeGreaterThan(0);
      expect(proxy.requests).toEqual([]);
      expect((await fetch('http://provider.test/v1')).status).toBeGreaterThan(0);
      expect(proxy.requests).toEqual(['GET http://provider.test/v1']);
    } finally {
      await getGlobalDispatcher().destroy();
      setGlobalDispatcher(before);
    }
  });

  test.each([
    [407, 'The proxy requires a user name and a password in its address.'],
    [403, 'The proxy may allow only some addresses.'],
  ])('reports that a proxy rejected it with %i, without the password', async (refusal, remedy) => {
    await using refusing = {
      ...(await startProxyServer(1, { refusal })),
      async [Symbol.asyncDispose](): Promise<void> {
        await this.close();
      },
    };
    const transport = createTransport(patientLimits, { HTTPS_PROXY: `http://ana:hidden@127.0.0.1:${refusing.port}` });
    const baseAddress = 'https://provider.test/v1';
    const endpoint = createEndpointProvider({ title: 'OpenAI', baseAddress, key: null, transport });
    const { code, message } = await failureOf(endpoint.generate(modelRequest('llama'), { signal: noAbort() }));
    expect(code).toBe('provider_failed');
    expect(message).toBe(`The proxy in HTTPS_PROXY blocks calls to OpenAI (${refusal}). ${remedy}`);
    await transport.close();
  });
});

test("TLS uses the tunnel of a proxy, and the operating system's certificates are trusted", async () => {
  const altNames = [{ type: 2 as const, value: 'provider.test' }];
  const made = await generate([{ name: 'commonName', value: 'provider.test' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-trust-'));
  const trusted = join(directory, 'trusted.pem');
  writeFileSync(trusted, made.cert);
  const server = createServer({ key: made.private, cert: made.cert }, (_request, response) => response.end('hello'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy = await startProxyServer((server.address() as AddressInfo).port);
  const env = { ...hostEnvironment, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
  const ask = async (more: Record<string, string>) => {
    const parameters = [...nodeOptions, callsProcess, 'https://provider.test/v1'];
    const { stdout } = await run(process.execPath, parameters, { env: { ...env, ...more } });
    return JSON.parse(stdout) as string[];
  };
  try {
    expect(await ask({ SSL_CERT_FILE: trusted })).toEqual(['hello', 'hello']);
    expect(proxy.requests).toEqual(['CONNECT provider.test:443', 'CONNECT provider.test:443']);
    expect(await ask({})).toEqual([expect.stringContaining('certificate'), expect.stringContaining('certificate')]);
  } finally {
    await proxy.close();
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  }
});

test('logs the proxy without its password, and warns of a variable without an address', async () => {
  const log = vi.fn<(message: string) => void>();
  await useNetwork({ environment: {} }, log);
  expect(log).not.toHaveBeenCalled();
  await useNetwork(
    { environment: { HTTPS_PROXY: 'ftp://files.test', http_proxy: 'http://ana:hidden@proxy.test:3128' } },
    log,
  );
  expect(log.mock.calls.flat()).toEqual([
    'HTTPS_PROXY is not the address of a proxy, such as http://proxy.example:3128. It is not used.',
    'Calls to other computers go through the proxy proxy.test:3128.',
  ]);
});
