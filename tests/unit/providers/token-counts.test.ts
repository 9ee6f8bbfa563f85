import { describe, expect, it } from 'vitest';
import { detailsOf } from '../../../electron/providers/catalogue.ts';
import { registry } from '../../../electron/providers/registry.ts';
import { keyedProviders, type KeyedProvider } from '../../../shared/contract/common.ts';
import { failureOf, modelRequest, noAbort } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';

const world = useProviderConnection();

function connect(name: KeyedProvider) {
  const { baseAddress } = world.server;
  return registry[name].create({ title: name, baseAddress, key: 'the-key', transport: world.openTransport() });
}

const request = {
  ...modelRequest('a-model', { max_tokens: 100, temperature: 0.5, own_parameter: 1 }),
  systemMessage: 'Be brief.',
};

/** What each counting endpoint gets: the completion's own messages and headers, and nothing that only a completion knows. */
const counts = [
  {
    name: 'OpenAi',
    path: '/v1/responses/input_tokens',
    headers: { authorization: 'Bearer the-key' },
    body: {
      model: 'a-model',
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
      ],
    },
    response: { object: 'response.input_tokens', input_tokens: 14 },
  },
  {
    name: 'Anthropic',
    path: '/v1/messages/count_tokens',
    headers: { 'x-api-key': 'the-key', 'anthropic-version': '2023-06-01' },
    body: {
      model: 'a-model',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    },
    response: { input_tokens: 14 },
  },
  {
    name: 'GoogleGemini',
    path: '/v1/models/a-model:countTokens',
    headers: { 'x-goog-api-key': 'the-key' },
    body: {
      generateContentRequest: {
        model: 'models/a-model',
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      },
    },
    response: { totalTokens: 14, promptTokensDetails: [] },
  },
] as const;

it('the details list the providers that count', () => {
  const counting = keyedProviders.filter((name) => connect(name).countTokens !== undefined);
  expect(counting).toEqual(counts.map(({ name }) => name));
  expect(keyedProviders.filter((name) => detailsOf[name].countsTokens)).toEqual(counting);
});

describe.each(counts)('$name counts the tokens of a request', ({ name, path, headers, body, response }) => {
  it('at its counting endpoint, in one call', async () => {
    world.server.answerWith((call) => call.json(200, response));
    expect(await connect(name).countTokens!(request, { signal: noAbort() })).toBe(14);
    expect(world.server.calls).toHaveLength(1);
    const [call] = world.server.calls;
    expect({ path: call!.path, headers: call!.headers, body: call!.body }).toEqual({
      path,
      headers: expect.objectContaining(headers),
      body,
    });
  });

  it.each([
    [401, 'provider_key_refused'],
    [429, 'rate_limited'],
    [500, 'provider_failed'],
  ] as const)('and fails with %i as %s, without its key', async (status, code) => {
    world.server.answerWith((call) => call.json(status, { error: { message: 'No: the-key' } }));
    const failure = await failureOf(connect(name).countTokens!(request, { signal: noAbort() }));
    expect([failure.code, failure.message.includes('the-key')]).toEqual([code, false]);
  });

  it.each([{}, null, [], { input_tokens: -1, totalTokens: '14' }, { input_tokens: 1e300 }])(
    'and fails with a response that is no count: %j',
    async (wrong) => {
      world.server.answerWith((call) => call.json(200, wrong));
      const failure = await failureOf(connect(name).countTokens!(request, { signal: noAbort() }));
      expect([failure.code, failure.message]).toEqual([
        'provider_failed',
        `${name} returned no token count. Try again.`,
      ]);
    },
  );

  it('until its caller leaves', async () => {
    const controller = new AbortController();
    world.server.answerWith(() => controller.abort());
    expect((await failureOf(connect(name).countTokens!(request, controller))).name).toBe('AbortError');
  });
});
