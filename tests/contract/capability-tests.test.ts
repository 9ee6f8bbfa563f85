import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { capabilities, type CapabilityTest } from '../../shared/contract/capability-tests.ts';
import { startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith((call) => call.chatStream(['ready'])));

const scripted = { aiSystem: 'OpenAiCompatible', model: 'scripted/model' };

async function send(way: Way, method: string, path: string, body?: object, key = host.key) {
  const answer = await host.send(way, {
    method,
    path,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: JSON.parse(answer.text) as CapabilityTest & Record<string, unknown> };
}

async function whenEnded(way: Way, id: string): Promise<CapabilityTest> {
  for (;;) {
    const { body } = await send(way, 'GET', `/capability-tests/${id}`);
    if (body.state !== 'Running') return body;
    await setTimeout(10);
  }
}

describe.each(ways)('a capability test, %s', (way) => {
  test('sends what its estimate says, and returns a result for every capability', async () => {
    host.provider.answerWith((call) =>
      call.body['stream'] === true ? call.chatStream(['ready']) : call.chatAnswer({ content: 'ready' }),
    );
    const estimate = await send(way, 'POST', '/capability-tests/estimate', scripted);
    expect(estimate).toEqual({ status: 200, body: { requests: 9, maxCost: null } });
    const before = host.provider.calls.length;
    const started = await send(way, 'POST', '/capability-tests', scripted);
    expect(started).toMatchObject({
      status: 201,
      body: {
        ...scripted,
        servedBy: `${scripted.aiSystem}/${scripted.model}`,
        state: 'Running',
        requests: 9,
        cost: null,
      },
    });
    const ended = await whenEnded(way, started.body.id);
    expect(host.provider.calls.length - before).toBe(9);
    expect(ended).toMatchObject({ state: 'Completed', done: 9, message: null });
    expect(ended.results.map(({ capability }) => capability)).toEqual([...capabilities]);
    const outcomeOf = (name: string) => ended.results.find(({ capability }) => capability === name);
    expect(outcomeOf('text')).toEqual({ capability: 'text', outcome: 'yes', reason: null });
    expect(outcomeOf('schema')).toEqual({
      capability: 'schema',
      outcome: 'no',
      reason: "The answer doesn't follow the schema.",
    });
    expect(outcomeOf('tool')).toMatchObject({ outcome: 'no', reason: 'The model called no tool.' });
    const { body } = await send(way, 'GET', '/capability-tests');
    expect(body['data']).toEqual([ended]);
  });

  test('is stopped, and a second one of the provider waits until then', async () => {
    host.provider.answerWith(null);
    const started = await send(way, 'POST', '/capability-tests', scripted);
    await host.provider.nextCall();
    const second = await send(way, 'POST', '/capability-tests', scripted);
    expect(second).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    const stopped = await send(way, 'POST', `/capability-tests/${started.body.id}/stop`);
    expect(stopped).toMatchObject({ status: 200, body: { state: 'Stopped', done: 0, results: [] } });
  });

  test('ends at once when the provider rejects the key', async () => {
    host.provider.answerWith((call) => call.fail(401, 'Wrong key'));
    const before = host.provider.calls.length;
    const { body } = await send(way, 'POST', '/capability-tests', scripted);
    const ended = await whenEnded(way, body.id);
    expect(ended).toMatchObject({ state: 'Failed', message: expect.stringContaining('401') });
    expect(host.provider.calls.length - before).toBe(1);
  });

  test.each([429, 503])('says nothing about the model when the provider responds with %d', async (status) => {
    host.provider.answerWith((call) => call.fail(status, 'Slow down'));
    const before = host.provider.calls.length;
    const { body } = await send(way, 'POST', '/capability-tests', scripted);
    const ended = await whenEnded(way, body.id);
    expect(ended).toMatchObject({ state: 'Failed', message: expect.stringContaining('Slow down'), results: [] });
    expect(host.provider.calls.length - before).toBe(1);
  });

  test('needs the scope manage, a known model and a known test', async () => {
    const key = host.issueKey({ scopes: ['run', 'audit'] });
    expect((await send(way, 'POST', '/capability-tests', scripted, key)).status).toBe(403);
    const unknown = await send(way, 'POST', '/capability-tests', { aiSystem: 'Groq', model: '' });
    expect(unknown).toMatchObject({ status: 400, body: { error: { details: [{ field: 'model' }] } } });
    const id = '00000000-0000-4000-8000-000000000000';
    expect((await send(way, 'GET', `/capability-tests/${id}`)).status).toBe(404);
    expect((await send(way, 'POST', `/capability-tests/${id}/stop`)).status).toBe(404);
  });
});

test('a capability test of an endpoint that is switched off says nothing about its model', async () => {
  host.host.storage.providerCache.addEndpoint({ name: 'off', baseAddress: 'http://127.0.0.1:1/v1' });
  host.host.storage.providerCache.addUserModel('OpenAiCompatible', 'off/model');
  const target = { aiSystem: 'OpenAiCompatible', model: 'off/model' };
  const { body } = await send('HTTP/1.1', 'POST', '/capability-tests', target);
  const ended = await whenEnded('HTTP/1.1', body.id);
  expect(ended).toMatchObject({ state: 'Failed', message: expect.stringContaining("Couldn't reach"), results: [] });
});
