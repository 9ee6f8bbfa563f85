// @module-tag slow
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import {
  createTraceExport,
  headersIn,
  type TraceExportOptions,
} from '../../../electron/audit/trace-export/create-trace-export.ts';
import { createSamples } from '../../../electron/audit/samples/create-samples.ts';
import { isOtlp, otlpCalls } from '../../../electron/audit/import/otlp-calls.ts';
import type { LogCall } from '../../../electron/audit/import/log-call.ts';
import { createMemoryKeyStore } from '../../../electron/key-store/key-store.ts';
import { textMessage } from '../../../shared/contract/messages.ts';
import type { NewRun } from '../../../electron/storage/run-rows.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage } from '../storage/test-storage.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly calls: readonly LogCall[];
  readonly text: string;
}

type Respond = (response: ServerResponse) => unknown;

const status =
  (code: number): Respond =>
  (response) =>
    response.writeHead(code).end();
const respondWith = (body: string, type: string): Respond => {
  return (response) => response.writeHead(200, { 'content-type': type }).end(body);
};

/** A collector that gives each response in turn, and 200 afterwards. `next` resolves with the next request. */
async function startCollector(responses: readonly Respond[] = []) {
  const received: Received[] = [];
  const waiting: ((request: Received) => void)[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const calls = (isOtlp(body) ? otlpCalls(body) : []) as LogCall[];
      const item = { headers: request.headers, calls, text: JSON.stringify(body) };
      (responses[received.length] ?? status(200))(response);
      received.push(item);
      waiting.shift()?.(item);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  return { address, received, next: () => new Promise<Received>((resolve) => waiting.push(resolve)) };
}

function startExport(storage: Storage, more: Partial<TraceExportOptions> = {}) {
  const { settings, runs, flush } = storage;
  const times = { retryMilliseconds: 1, gatherMilliseconds: 1 };
  const keyStore = createMemoryKeyStore();
  return createTraceExport({ settings, runs, flush, keyStore, environment: {}, version: '1', ...times, ...more });
}

async function record(storage: Storage, more: Partial<NewRun> = {}) {
  const run = sampleRun({ renderedPrompt: 'A secret question', systemMessage: 'Be brief', ...more });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome({ content: 'A secret answer' }));
  return run;
}

test('sends a run that ended just before the host closes', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: true } });
  const traces = startExport(storage, { gatherMilliseconds: 60_000 });
  await record(storage);
  await traces.close();
  expect(collector.received).toHaveLength(1);
});

test('gives an attribute the same type for each value', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: false } });
  const traces = startExport(storage);
  for (const temperature of [1, 0.5]) await record(storage, { configuration: { temperature, max_tokens: 100 } });
  await traces.close();
  const text = collector.received.map((request) => request.text).join('');
  for (const temperature of [1, 0.5])
    expect(text).toContain(`{"key":"gen_ai.request.temperature","value":{"doubleValue":${temperature}}}`);
  expect(text).toContain('{"key":"gen_ai.request.max_tokens","value":{"intValue":"100"}}');
});

test('names embeddings as such', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: false } });
  const traces = startExport(storage);
  await record(storage, { model: 'text-embedding-3', origin: { api: 'openai-embeddings', client: null } });
  await traces.close();
  const [request] = collector.received;
  expect(request!.text).toContain('"name":"embeddings text-embedding-3"');
  expect(request!.calls).toEqual([{ leftOut: 'Embeddings, which have no answer' }]);
});

test('sends no samples', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: true } });
  const traces = startExport(storage);
  const samples = await createSamples({ store: storage.samples, runs: storage.runs });
  await samples.load();
  await record(storage, { model: 'gpt-5' });
  await traces.close();
  expect(collector.received.flatMap(({ calls }) => calls)).toMatchObject([{ model: 'gpt-5' }]);
});

test('sends nothing until the settings name a collector', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  const traces = startExport(storage);
  await record(storage);
  await traces.close();
  expect(collector.received).toEqual([]);
  expect(traces.state()).toEqual({ sent: 0, waiting: 0, dropped: 0, failure: null, confirmation: null });
});

test('sends metadata, and texts only if the settings say so', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: false } });
  const traces = startExport(storage, { environment: { OTEL_EXPORTER_OTLP_HEADERS: 'x-team=my%20team' } });
  const first = collector.next();
  await record(storage);
  const { calls, headers, text } = await first;
  expect(headers['x-team']).toBe('my team');
  expect(text).not.toMatch(/secret|Be brief/);
  expect(calls).toMatchObject([
    { provider: 'openai', model: 'gpt-4o', usage: { prompt: 11, completion: 3 }, finishReason: 'Stop', totalMs: 884 },
  ]);
  storage.settings.update({ traceExport: { address: collector.address, hasContent: true } });
  const second = collector.next();
  await record(storage);
  expect((await second).calls).toMatchObject([
    {
      messages: [{ role: 'system' }, { content: [{ text: 'A secret question' }] }],
      answer: { content: 'A secret answer' },
    },
  ]);
  await traces.close();
  expect(traces.state()).toMatchObject({ sent: 2, dropped: 0 });
});

test('retries a collector that is overloaded, and drops what it rejects', async () => {
  const collector = await startCollector([503, 429, 200, 400].map(status));
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: false } });
  const traces = startExport(storage);
  const attempts = [collector.next(), collector.next(), collector.next()];
  await record(storage);
  await Promise.all(attempts);
  const rejected = collector.next();
  await record(storage);
  await rejected;
  await traces.close();
  expect(traces.state()).toEqual({
    sent: 1,
    waiting: 0,
    dropped: 1,
    failure: 'The collector responded with 400.',
    confirmation: null,
  });
  expect(collector.received).toHaveLength(4);
});

test('a run ends as fast without a collector at the address', async () => {
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: 'http://127.0.0.1:1/v1/traces', hasContent: true } });
  const traces = startExport(storage);
  const run = await record(storage);
  expect(storage.runs.read(run.runId)).toMatchObject({ status: 'Completed' });
  await traces.close();
  expect(traces.state()).toMatchObject({ sent: 0, dropped: 1, failure: expect.stringContaining("Couldn't reach") });
});

/** What one run ends as if the collector responds like this. */
async function stateAfter(...responses: Respond[]) {
  const collector = await startCollector(responses);
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: false } });
  const traces = startExport(storage);
  const requests = responses.map(() => collector.next());
  await record(storage);
  await Promise.all(requests);
  await expect.poll(() => traces.state().waiting).toBe(0);
  await traces.close();
  const { confirmation: _, ...state } = traces.state();
  return { ...state, requests: collector.received.length };
}

test.each<[string, Respond, string]>([
  [
    'accepts only a part',
    respondWith('{"partialSuccess":{"rejectedSpans":"1","errorMessage":"Too old"}}', 'application/json'),
    'The collector rejected 1 of 1 runs: Too old',
  ],
  [
    'is a web page',
    respondWith('<!doctype html>', 'text/html; charset=utf-8'),
    'A web page responded instead of a collector. Check the path of the address, such as /v1/traces.',
  ],
  [
    'redirects',
    (response) => response.writeHead(307, { location: '/elsewhere' }).end(),
    'The collector responded with 307.',
  ],
  ['does not know the request', status(501), 'The collector responded with 501.'],
])('counts no run as sent if the collector %s', async (_what, respond, failure) => {
  expect(await stateAfter(respond)).toEqual({ sent: 0, waiting: 0, dropped: 1, failure, requests: 1 });
});

test.each<[string, Respond]>([
  ['empty', status(200)],
  ['endless', (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('x'.repeat(100_000))],
  ['no JSON', respondWith('{"partialSuccess":', 'application/json')],
  ['of other types', respondWith('{"partialSuccess":{"rejectedSpans":-3,"errorMessage":{}}}', 'application/json')],
])('counts a run as sent if the body of the response is %s', async (_what, respond) => {
  expect(await stateAfter(respond)).toEqual({ sent: 1, waiting: 0, dropped: 0, failure: null, requests: 1 });
});

test('sends again if the collector closes the connection or asks for another attempt', async () => {
  const again: Respond = (response) => response.writeHead(503, { 'retry-after': '0' }).end();
  const state = await stateAfter((response) => response.destroy(), again, status(200));
  expect(state).toEqual({ sent: 1, waiting: 0, dropped: 0, failure: null, requests: 3 });
});

test('a collector that never responds does not stop the host from closing, and drops what waits', async () => {
  const collector = await startCollector([() => undefined]);
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: false } });
  const traces = startExport(storage, { closingMilliseconds: 1 });
  const first = collector.next();
  await record(storage);
  await first;
  await Promise.all(Array.from({ length: 300 }, () => record(storage)));
  storage.flush();
  expect(traces.state()).toMatchObject({ sent: 0, waiting: 301, dropped: 0 });
  await traces.close();
  expect(traces.state()).toMatchObject({ sent: 0, waiting: 0, dropped: 301 });
  expect(collector.received).toHaveLength(1);
});

test('sends neither texts nor runs that wait when the settings forbid them meanwhile', async () => {
  const released = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hold = (index: number): Respond => {
    return (response) => released[index]!.promise.then(() => response.end());
  };
  const collector = await startCollector([hold(0), hold(1)]);
  const storage = openTestStorage();
  const { address } = collector;
  storage.settings.update({ traceExport: { address, hasContent: true } });
  const traces = startExport(storage);
  const first = collector.next();
  await record(storage);
  expect((await first).text).toContain('A secret question');
  await record(storage);
  storage.flush();
  storage.settings.update({ traceExport: { address, hasContent: false } });
  const second = collector.next();
  released[0]!.resolve();
  expect((await second).text).not.toContain('secret');
  await record(storage);
  storage.flush();
  storage.settings.update({ traceExport: { address: null, hasContent: true } });
  released[1]!.resolve();
  await expect
    .poll(() => traces.state())
    .toEqual({ sent: 2, waiting: 0, dropped: 1, failure: null, confirmation: null });
  expect(collector.received).toHaveLength(2);
  await traces.close();
});

test('an address from another database gets nothing before it is confirmed on this device', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  const keyStore = createMemoryKeyStore();
  const address = collector.address.replace('127.0.0.1', '0.0.0.0');
  const { origin } = new URL(address);
  storage.settings.update({ traceExport: { address, hasContent: true } });
  const traces = startExport(storage, { keyStore });
  await record(storage);
  await expect.poll(() => traces.state()).toMatchObject({ waiting: 0, dropped: 1 });
  expect(traces.state()).toMatchObject({
    failure: `Nothing is sent to ${origin}, because it hasn't been confirmed on this device. Check the address in Settings, Data and backup.`,
    confirmation: { origin, keyOrigin: null, keySource: null },
  });
  expect(() => traces.confirm('http://0.0.0.0:1')).toThrow('has changed');
  traces.confirm(origin);
  expect(traces.state()).toMatchObject({ failure: null, confirmation: null });
  const request = collector.next();
  await record(storage);
  await request;
  await traces.close();
  expect(collector.received).toHaveLength(1);
  expect(startExport(storage, { keyStore }).state().confirmation).toBeNull();
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: origin };
  expect(startExport(storage, { environment }).state().confirmation).toBeNull();
});

test('of a conversation of megabytes, the newest messages are sent', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: true } });
  const traces = startExport(storage);
  const messages = Array.from({ length: 40 }, (_, index) => textMessage('user', `${index} ${'x'.repeat(100_000)}`));
  const request = collector.next();
  await record(storage, { messages });
  const { text } = await request;
  expect(text.length).toBeLessThan(400_000);
  expect(text).toMatch(/38 earlier messages are not recorded.*38 x.*39 x/);
  await traces.close();
});

test('reads headers as the specification writes them', () => {
  expect(headersIn('a=1, b=x%3Dy,broken,=no,c=%E0')).toEqual({ a: '1', b: 'x=y' });
  expect(headersIn(undefined)).toEqual({});
});
