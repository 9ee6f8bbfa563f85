import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestHost, type TestHost } from '../support/test-host.ts';

/** A host as the provider of another one, and of itself. */

let near: TestHost;
let far: TestHost;
beforeAll(async () => {
  [near, far] = await Promise.all([startTestHost(), startTestHost()]);
  connect('far', `${far.listener.address}/openai/scripted/v1`, far.key);
  connect('loop', `${near.listener.address}/openai/loop/v1`, near.key);
  far.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
});
afterAll(() => Promise.all([near.close(), far.close()]));

/** Adds an endpoint of the first host, as its user does. */
function connect(name: string, baseAddress: string, key: string): void {
  near.host.storage.providerCache.addEndpoint({ name, baseAddress });
  near.keyStore.write(`endpoint:${name}`, key);
  near.keyStore.write(`endpoint:${name} origin`, new URL(baseAddress).origin);
}

function ask(endpoint: string): Promise<Response> {
  return fetch(`${near.listener.address}/openai/${endpoint}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${near.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
  });
}

describe('an endpoint', () => {
  test('that is another host answers as a provider does, and the program gets the record of the nearer one', async () => {
    const response = await ask('far');
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { choices: [{ message: { content: 'Blue.' } }] },
    ]);
    const run = near.host.storage.runs.read(response.headers.get('x-touchstone-run-id')!)!;
    expect(run).toMatchObject({ status: 'Completed', model: 'far/m', output: { content: 'Blue.' } });
    expect(far.provider.calls.at(-1)!.rawHeaders.join('\n').toLowerCase()).not.toContain('touchstone');
  });

  test('that is its own host is an error, not a call without end', async () => {
    const response = await ask('loop');
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: expect.objectContaining({ message: expect.stringContaining('leads to Touchstone itself') }) },
    ]);
  });
});
