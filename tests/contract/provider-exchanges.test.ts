import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  maxExchangeBodyBytes,
  newestExchangeRuns,
  readProviderExchanges,
  type HttpExchange,
  type ProviderExchange,
} from '../../shared/contract/provider-exchanges.ts';
import type { AppError } from '../../shared/app-error.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { completionCall, providerKey, startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

let host: TestHost;

beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
beforeEach(() => host.host.storage.settings.update({ providerExchanges: { keep: 'newest' } }));
afterEach(() => host.provider.answerWith(null));

const groq = { aiSystem: 'Groq', model: 'llama-3.1-8b-instant' };

async function runOf(path: string, body: Record<string, unknown> = {}): Promise<string> {
  const { headers } = await host.send('in memory', completionCall(host, path, { ...groq, ...body }));
  return String(headers['x-run-id']);
}

async function exchangesOf(runId: string): Promise<ProviderExchange[]> {
  const { data } = await windowClient(host.host).call(readProviderExchanges, { parameters: { id: runId } });
  return data;
}

async function exchangeOf(runId: string): Promise<HttpExchange> {
  const [exchange, ...others] = await exchangesOf(runId);
  if (exchange?.kind !== 'http' || others.length > 0)
    throw new Error('The run has other exchanges than one over HTTP.');
  return exchange;
}

/** Writes what is queued to the disk, as the end of the host does. */
async function databaseText(): Promise<string> {
  await host.host.close();
  const files = readdirSync(host.dataDirectory).filter((name) => name.includes('.sqlite'));
  return files.map((name) => readFileSync(join(host.dataDirectory, name), 'latin1')).join('');
}

describe('the stored provider exchange', () => {
  test('contains the sent request and the raw response, without the key', async () => {
    let received: ScriptedCall | undefined;
    host.provider.answerWith((call) => {
      received = call;
      return call.chatStream(['Hel', 'lo']);
    });
    const exchange = await exchangeOf(await runOf('/api/completions/sse', { configuration: { zeta: 1 } }));
    const headers = Object.fromEntries(exchange.request.headers);
    expect(exchange.request).toMatchObject({
      method: 'POST',
      url: `${host.provider.baseAddress}/chat/completions`,
      body: { text: received!.bodyText, bytes: Buffer.byteLength(received!.bodyText), isCut: false },
    });
    const { connection: _, ...sent } = received!.headers;
    expect(headers).toEqual({ ...sent, authorization: '[redacted]' });
    expect(exchange.response).toMatchObject({ status: 200, statusText: 'OK' });
    expect(exchange.response!.body.text).toMatch(/^data: .*"Hel".*\n\ndata: .*"lo"[\s\S]*data: \[DONE\]\n\n$/);
    expect([exchange.error, exchange.totalMs! >= exchange.firstByteMs!]).toEqual([null, true]);
  });

  test('exists for a response without streaming, and for a rejection with its body', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Hello' }));
    const whole = await exchangeOf(await runOf('/api/completions/sync'));
    expect(JSON.parse(whole.response!.body.text)).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
    const compatible = { aiSystem: 'OpenAiCompatible', model: 'scripted/model' };
    expect((await exchangeOf(await runOf('/api/completions/sync', compatible))).response!.status).toBe(200);

    host.provider.answerWith((call) =>
      call.fail(401, `Incorrect key ${providerKey}`, { 'set-cookie': 'a=1', 'x-echo': `k=${providerKey}` }),
    );
    const { response } = await exchangeOf(await runOf('/api/completions/sse'));
    expect([response!.status, JSON.stringify(response).includes(providerKey)]).toEqual([401, false]);
    expect(Object.fromEntries(response!.headers)).toMatchObject({
      'set-cookie': '[redacted]',
      'x-echo': 'k=[redacted]',
    });
    expect(response!.body.text).toContain('Incorrect key [redacted]');
  });

  test('contains the reason why a call ended early, and the partial response', async () => {
    host.provider.answerWith(async (call) => {
      await call.openEventStream().chatDelta({ content: 'partial' });
      call.cut();
    });
    const exchange = await exchangeOf(await runOf('/api/completions/sse'));
    expect(exchange.response!.body.text).toContain('partial');
    expect(exchange.error).not.toBeNull();
  });

  test('is truncated at its limit, says so, and contains no part of a key at the end', async () => {
    const head = `{"error":{"message":"`;
    const filler = 'x'.repeat(maxExchangeBodyBytes - head.length - 10);
    host.provider.answerWith((call) => call.head(400, {}).end(`${head}${filler}${providerKey}"}}`));
    const { body } = (await exchangeOf(await runOf('/api/completions/sync'))).response!;
    expect([body.isCut, body.bytes > maxExchangeBodyBytes, body.text.includes(providerKey.slice(0, 8))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('can be read by the window only, and unknown runs are 404', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Hello' }));
    const path = `/window/runs/${await runOf('/api/completions/sync')}/exchanges`;
    const { status } = await host.send('HTTP/1.1', { method: 'GET', path, headers: { 'x-hl-api-key': host.key } });
    expect(status).toBe(404);
    const failure = await exchangesOf('00000000-0000-4000-8000-000000000000').catch((error: AppError) => error.code);
    expect(failure).toBe('not_found');
  });
});

describe('the setting', () => {
  test('off stores nothing and deletes what is stored', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Hello' }));
    const before = await runOf('/api/completions/sync');
    expect(await exchangesOf(before)).toHaveLength(1);
    host.host.storage.settings.update({ providerExchanges: { keep: 'none' } });
    await expect.poll(() => exchangesOf(before)).toEqual([]);
    expect(await exchangesOf(await runOf('/api/completions/sync'))).toEqual([]);
  });

  test('keeps only the newest runs unless it is `all`', async () => {
    const { exchanges } = host.host.storage;
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Hello' }));
    const ids = await Promise.all(Array.from({ length: 4 }, () => runOf('/api/completions/sync')));
    for (const runId of ids) exchanges.write([{ runId, json: '[]' }]);
    expect(exchanges.prune(newestExchangeRuns, 100)).toBe(0);
    exchanges.prune(2, 100);
    expect(ids.map((id) => exchanges.read(id))).toEqual([null, null, '[]', '[]']);
  });
});

test('no file of the data folder ever contains a provider key', async () => {
  host.provider.answerWith((call) => call.fail(401, `Incorrect key ${providerKey}`));
  const runId = await runOf('/api/completions/sse');
  const text = await databaseText();
  expect([text.includes(runId), text.includes('Incorrect key [redacted]'), text.includes(providerKey)]).toEqual([
    true,
    true,
    false,
  ]);
});
