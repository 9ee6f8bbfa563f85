import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createTraceExport, headersIn } from '../../../electron/audit/trace-export/create-trace-export.ts';
import { isOtlp, otlpCalls } from '../../../electron/audit/import/otlp-calls.ts';
import type { LogCall } from '../../../electron/audit/import/log-call.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage } from '../storage/test-storage.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly calls: readonly LogCall[];
  readonly text: string;
}

/** A collector that responds with each status in turn, and with 200 afterwards. `next` resolves with the next request. */
async function startCollector(statuses: readonly number[] = []) {
  const received: Received[] = [];
  const waiting: ((request: Received) => void)[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const calls = (isOtlp(body) ? otlpCalls(body) : []) as LogCall[];
      const item = { headers: request.headers, calls, text: JSON.stringify(body) };
      response.writeHead(statuses[received.length] ?? 200).end();
      received.push(item);
      waiting.shift()?.(item);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  return { address, received, next: () => new Promise<Received>((resolve) => waiting.push(resolve)) };
}

function startExport(storage: Storage, environment: Record<string, string> = {}) {
  const { settings, runs } = storage;
  return createTraceExport({ settings, runs, environment, version: '1', retryMilliseconds: 1, gatherMilliseconds: 1 });
}

async function record(storage: Storage) {
  const run = sampleRun({ renderedPrompt: 'A secret question', systemMessage: 'Be brief' });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome({ content: 'A secret answer' }));
  return run;
}

test('sends nothing until the settings name a collector', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  const traces = startExport(storage);
  await record(storage);
  await traces.close();
  expect(collector.received).toEqual([]);
  expect(traces.state()).toEqual({ sent: 0, waiting: 0, dropped: 0, failure: null });
});

test('sends metadata, and texts only if the settings say so', async () => {
  const collector = await startCollector();
  const storage = openTestStorage();
  storage.settings.update({ traceExport: { address: collector.address, hasContent: false } });
  const traces = startExport(storage, { OTEL_EXPORTER_OTLP_HEADERS: 'x-team=my%20team' });
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
  const collector = await startCollector([503, 429, 200, 400]);
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

test('reads headers as the specification writes them', () => {
  expect(headersIn('a=1, b=x%3Dy,broken,=no,c=%E0')).toEqual({ a: '1', b: 'x=y' });
  expect(headersIn(undefined)).toEqual({});
});
