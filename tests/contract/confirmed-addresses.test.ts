import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHost } from '../../electron/create-host.ts';
import { createMemoryKeyStore } from '../../electron/key-store/key-store.ts';
import { listEndpoints } from '../../shared/contract/providers.ts';
import { temporaryFolder } from '../support/http-clients.ts';
import { judgeError } from '../support/specification-judge.ts';
import { completionCall, startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

/** This device, but not by an address that is known to be. */
const foreign = () => host.provider.baseAddress.replace('127.0.0.1', '0.0.0.0');

test('a run at an address from another database says where to confirm it, which no API key can do', async () => {
  const { origin } = new URL(foreign());
  host.host.storage.providerCache.addEndpoint({ name: 'foreign', baseAddress: foreign() });
  host.host.storage.providerCache.addUserModel('OpenAiCompatible', 'foreign/model');
  const before = host.provider.calls.length;
  const call = completionCall(host, '/api/completions/sync', { model: 'foreign/model' });
  const answer = await host.send('HTTP/1.1', call);
  judgeError(answer, 503);
  expect(JSON.parse(answer.text).error).toMatchObject({
    code: 'provider_not_configured',
    message:
      `Nothing is sent to ${origin}, the address of "foreign", because it hasn't been confirmed on this device. ` +
      'Check the address in Settings, Compatible endpoints.',
  });
  for (const path of ['/window/endpoints/foreign/confirmation', '/window/providers/Groq/confirmation']) {
    const body = JSON.stringify({ origin });
    judgeError(await host.send('HTTP/1.1', { ...call, path, body }), 404);
  }
  const listed = await host.host.api.fetch(new Request(`http://window.test${listEndpoints.path}`), {
    access: 'window',
  });
  const { data } = (await listed.json()) as { data: { name: string; confirmation: unknown }[] };
  expect(data.find(({ name }) => name === 'foreign')?.confirmation).toEqual({
    origin,
    keyOrigin: null,
    keySource: null,
  });
  expect(host.provider.calls.length).toBe(before);
});

test("another program's key and prompt go to no address of a provider from another database", async () => {
  host.host.storage.providerCache.setBaseAddress('OpenAi', foreign());
  host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
  const before = host.provider.calls.length;
  const answer = await host.send('HTTP/1.1', {
    method: 'POST',
    path: '/openai/v1/chat/completions',
    headers: {
      'content-type': 'application/json',
      'x-touchstone-key': host.key,
      authorization: 'Bearer key-of-the-program',
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect([answer.status, host.provider.calls.length]).toEqual([503, before]);
  expect(answer.text).toContain(`Nothing is sent to ${new URL(foreign()).origin}, the address of OpenAI`);
});

test('addresses of the command line that others on the network can listen to are reported at the start', async () => {
  const log: string[] = [];
  const started = await createHost({
    dataDirectory: await temporaryFolder(),
    providerBases: { Groq: 'http://user:secret@gateway.example/v1', OpenAi: 'https://gateway.example/v1' },
    endpoints: [
      { name: 'lan', baseAddress: 'http://192.0.2.7:8000/v1' },
      { name: 'here', baseAddress: 'http://[::1]:8000/v1' },
    ],
    capabilities: [],
    environment: {},
    keyStore: createMemoryKeyStore(),
    log: (message) => void log.push(message),
  });
  await started.close();
  const warning = (position: string) =>
    `The connection to ${position} isn't encrypted: others on the network can read prompts, answers and keys. ` +
    'Use https:// if the server supports it.';
  expect(log).toEqual([warning('Groq at gateway.example'), warning('lan at 192.0.2.7:8000')]);
});
