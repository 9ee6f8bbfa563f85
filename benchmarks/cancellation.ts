/**
 * How long a provider's call continues after its caller has disconnected: from the caller's close, over HTTP/1.1 and HTTP/2, to the
 * close of the socket to the provider. For comparison, the same without the service. `npm run benchmark -- cancellation`.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as requestHttp1, type IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, type Host } from '../electron/create-host.ts';
import { createMemoryKeyStore } from '../electron/key-store/key-store.ts';
import { listen } from '../electron/server/listen.ts';
import { startScriptedProvider, type ScriptedCall, type ScriptedProvider } from '../tests/support/scripted-provider.ts';
import { percentile, printReport, row } from './support/report.ts';

const repetitions = 60;
const body = JSON.stringify({ aiSystem: 'OpenAiCompatible', model: 'slow/model', promptText: 'Count.' });
const path = '/api/completions/sse';

/** Starts a stream, waits for its first bytes and returns a function that disconnects the caller. */
type Begin = (address: string, key: string) => Promise<() => void>;

const headersFor = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

const beginHttp1: Begin = async (address, key) => {
  const outgoing = requestHttp1(`${address}${path}`, { method: 'POST', headers: headersFor(key) });
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  incoming.on('error', () => undefined);
  await once(incoming, 'data');
  return () => outgoing.destroy();
};

const beginHttp2: Begin = async (address, key) => {
  const session = connect(address);
  const stream = session.request({ ':method': 'POST', ':path': path, ...headersFor(key) });
  stream.on('error', () => undefined);
  stream.end(body);
  await once(stream, 'data');
  return () => {
    stream.close(8); // CANCEL
    session.close();
  };
};

/** The caller connects to the provider directly: the time of this machine's sockets alone. */
async function measureBare(provider: ScriptedProvider): Promise<number> {
  const outgoing = requestHttp1(`${provider.baseAddress}/chat/completions`, { method: 'POST' });
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  incoming.on('error', () => undefined);
  await once(incoming, 'data');
  const left = performance.now();
  outgoing.destroy();
  return (await (provider.calls.at(-1) as ScriptedCall).closed) - left;
}

async function measure(begin: Begin, address: string, key: string, provider: ScriptedProvider): Promise<number> {
  const leave = await begin(address, key);
  const left = performance.now();
  leave();
  return (await (provider.calls.at(-1) as ScriptedCall).closed) - left;
}

function countCancelled(host: Host): number {
  const { data } = host.storage.runs.list({ pageSize: 100, continuationToken: undefined, draftId: undefined });
  return data.filter(({ status }) => status === 'Cancelled').length;
}

async function main(): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'touchstone-benchmark-'));
  const provider = await startScriptedProvider(async (call: ScriptedCall) => {
    call.openEventStream();
    await call.chatDelta({ content: 'one ' });
  });
  const host = await createHost({
    dataDirectory,
    providerBases: {},
    endpoints: [{ name: 'slow', baseAddress: provider.baseAddress }],
    capabilities: [],
    environment: {},
    keyStore: createMemoryKeyStore(),
    log: () => undefined,
  });
  const listener = await listen({
    api: host.api,
    port: 0,
    isTls: false,
    dataDirectory,
    window: null,
    log: () => undefined,
  });
  const { key } = host.storage.apiKeys.issue({ name: 'benchmark' });
  const bare: number[] = [];
  const http1: number[] = [];
  const http2: number[] = [];
  for (let turn = 0; turn < repetitions; turn += 1) {
    bare.push(await measureBare(provider));
    http1.push(await measure(beginHttp1, listener.address, key, provider));
    http2.push(await measure(beginHttp2, listener.address, key, provider));
  }
  await listener.close();
  await host.completions.close();
  const cancelled = countCancelled(host);
  await host.close();
  await provider.close();
  rmSync(dataDirectory, { recursive: true, force: true });
  printReport('cancellation', [
    row('p50 without the service', percentile(bare, 0.5), 'ms'),
    row('p50 over HTTP/1.1', percentile(http1, 0.5), 'ms'),
    row('slowest over HTTP/1.1', percentile(http1, 1), 'ms', { max: 100 }),
    row('p50 over HTTP/2', percentile(http2, 0.5), 'ms'),
    row('slowest over HTTP/2', percentile(http2, 1), 'ms', { max: 100 }),
    row('of the newest 100 runs recorded as Cancelled', cancelled, 'runs', { min: 100 }),
  ]);
}

await main();
