import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTextEmbedders } from '../../../electron/knowledge/text-embedder.ts';
import type { Provider } from '../../../electron/providers/provider.ts';
import { createProviderPauses } from '../../../electron/providers/provider-pauses.ts';
import type { ProviderFetch } from '../../../electron/providers/provider-fetch.ts';
import { createEndpointProvider, registry } from '../../../electron/providers/registry.ts';
import type { EmbeddingSettings } from '../../../shared/contract/settings.ts';
import { createTransport, failureOf, noAbort } from '../../support/provider-calls.ts';
import { startScriptedProvider, type ScriptedCall, type ScriptedProvider } from '../../support/scripted-provider.ts';

const key = 'sk-very-secret-key-0123456789';
const names = ['OpenAi', 'GoogleGemini', 'Cohere', 'OpenAiCompatible'] as const;
type Name = (typeof names)[number];

let transport: ProviderFetch;
let server: ScriptedProvider;
beforeEach(async () => {
  transport = createTransport();
  server = await startScriptedProvider();
});
afterEach(async () => {
  await transport.close();
  await server.close();
});

function connect(name: Name, baseAddress = server.baseAddress): Provider {
  const settings = { title: name, baseAddress, key, transport };
  return name === 'OpenAiCompatible' ? createEndpointProvider(settings) : registry[name].create(settings);
}

/** The texts of a call, in whichever form its provider takes them. */
function textsOf({ body }: ScriptedCall): string[] {
  const { input, texts, requests, content } = body as {
    input?: string[];
    texts?: string[];
    requests?: { content: { parts: { text: string }[] } }[];
    content?: { parts: { text: string }[] };
  };
  return input ?? texts ?? (requests ?? [{ content: content! }]).map((request) => request.content.parts[0]!.text);
}

/** Answers each text with its length and a 4, in the provider's form. */
function answerLengths(name: Name): void {
  server.answerWith((call) => {
    const vectors = textsOf(call).map((text) => [text.length, 4]);
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    if (name === 'GoogleGemini') {
      const embeddings = vectors.map((values) => ({ values }));
      return call.json(200, call.path.endsWith(':embedContent') ? { embedding: embeddings[0] } : { embeddings });
    }
    if (name === 'Cohere') {
      return call.json(200, { embeddings: { float: vectors }, meta: { billed_units: { input_tokens: 1 } } });
    }
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
    return call.json(200, { object: 'list', data, model: 'm', usage });
  });
}

describe.each(names)('%s', (name) => {
  test('returns vectors of length 1 in the order of the texts', async () => {
    answerLengths(name);
    const vectors = await connect(name).embed!(
      { model: 'm', texts: ['abc', ''], isQuery: false },
      { signal: noAbort() },
    );
    expect(vectors.map((vector) => [...vector].map((value) => Math.round(value * 100) / 100))).toEqual([
      [0.6, 0.8],
      [0, 1],
    ]);
  });

  test('accepts more texts than fit into one call', async () => {
    answerLengths(name);
    const texts = Array.from({ length: 2100 }, (_, index) => 'x'.repeat(index % 7));
    const vectors = await connect(name).embed!({ model: 'm', texts, isQuery: false }, { signal: noAbort() });
    expect({
      vectors: vectors.length,
      isSeveral: server.calls.length > 1,
      sent: server.calls.flatMap(textsOf),
    }).toEqual({
      vectors: 2100,
      isSeveral: true,
      sent: texts,
    });
  });

  test('reports a rejected key, a busy provider and invalid vectors, without the key', async () => {
    const embed = () =>
      failureOf(connect(name).embed!({ model: 'm', texts: ['one', 'two'], isQuery: false }, { signal: noAbort() }));
    server.answerWith((call) => call.fail(401, `Incorrect API key provided: ${key}`));
    const rejected = await embed();
    expect(rejected).toMatchObject({ code: 'provider_key_refused', message: expect.not.stringContaining(key) });
    server.answerWith((call) => call.fail(429, 'Too fast', { 'retry-after': '7' }));
    expect(await embed()).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 7 });
    server.answerWith((call) =>
      call.json(200, {
        object: 'list',
        data: [],
        embeddings: name === 'Cohere' ? { float: [] } : [],
        meta: { billed_units: { input_tokens: 1 } },
      }),
    );
    expect(await embed()).toMatchObject({ code: 'provider_failed' });
  });

  test('ends at once on an abort', async () => {
    const leaving = new AbortController();
    server.answerWith(() => leaving.abort());
    const call = connect(name).embed!({ model: 'm', texts: ['one'], isQuery: false }, { signal: leaving.signal });
    expect(await failureOf(call)).toMatchObject({ name: 'AbortError' });
  });
});

test.each([
  ['GoogleGemini', 'taskType', ['RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY']],
  ['Cohere', 'input_type', ['search_document', 'search_query']],
] as const)('%s is told whether it is a passage or a question', async (name, field, expected) => {
  answerLengths(name);
  for (const isQuestion of [false, true]) {
    await connect(name).embed!({ model: 'm', texts: ['one'], isQuery: isQuestion }, { signal: noAbort() });
  }
  expect(server.calls.map(({ body }) => body[field])).toEqual(expected);
});

test.each([
  ['OpenAi', '/v1'],
  ['OpenAiCompatible', '/v1'],
] as const)('%s, played by a third party, gives a vector for each text', async (name, path) => {
  const mock = new LLMock({ port: 0 });
  await mock.start();
  try {
    mock.onEmbedding(/.*/, { embedding: [3, 0, 4] });
    const provider = connect(name, mock.url + path);
    const vectors = await provider.embed!({ model: 'm', texts: ['one', 'two'], isQuery: false }, { signal: noAbort() });
    expect(vectors.map((vector) => [...vector].map((value) => value.toFixed(1)))).toEqual([
      ['0.6', '0.0', '0.8'],
      ['0.6', '0.0', '0.8'],
    ]);
  } finally {
    await mock.stop();
  }
});

describe('the embedder of the settings', () => {
  function choose(settings: EmbeddingSettings, pauses = createProviderPauses()) {
    const embeddings = { model: 'small 1', embed: async () => [], close: async () => {} };
    const providers = {
      provider: (name: string) => connect(name as Name),
      endpointProvider: (name: string) => (name === 'local' ? connect('OpenAiCompatible') : null),
    };
    return createTextEmbedders({ settings: () => settings, embeddings, providers, pauses })();
  }

  test("has the model's name, and calls it by its provider's name", async () => {
    expect(choose({ kind: 'on-device' }).model).toBe('on-device/small 1');
    answerLengths('OpenAiCompatible');
    const local = choose({ kind: 'provider', aiSystem: 'OpenAiCompatible', model: 'local/org/model' });
    await local.embed(['one'], { signal: noAbort() });
    expect([local.model, server.calls[0]?.body['model']]).toEqual(['OpenAiCompatible/local/org/model', 'org/model']);
    const unknown = choose({ kind: 'provider', aiSystem: 'OpenAiCompatible', model: 'nowhere/model' });
    expect(await failureOf(unknown.embed(['one'], { signal: noAbort() }))).toMatchObject({
      code: 'provider_not_configured',
    });
  });

  test('waits for a busy provider for passages, but not for a query', async () => {
    const openAi = choose({ kind: 'provider', aiSystem: 'OpenAi', model: 'm' });
    let rejections = 2;
    server.answerWith((call) => {
      if (rejections-- > 0) return call.fail(429, 'Too fast', { 'retry-after': '0' });
      return call.json(200, { data: [{ embedding: [1], index: 0 }], usage: { prompt_tokens: 1, total_tokens: 1 } });
    });
    expect(await openAi.embed(['one'], { signal: noAbort() })).toHaveLength(1);
    expect(server.calls).toHaveLength(3);
    rejections = 1;
    expect(await failureOf(openAi.embed(['one'], { signal: noAbort(), isQuestion: true }))).toMatchObject({
      code: 'rate_limited',
    });
  });

  test('tells comparisons at its provider how long to wait, and no others', async () => {
    const pauses = createProviderPauses(() => 0);
    const local = choose({ kind: 'provider', aiSystem: 'OpenAiCompatible', model: 'local/org/model' }, pauses);
    server.answerWith((call) => call.fail(429, 'Too fast', { 'retry-after': '3600' }));
    const options = { signal: noAbort(), isQuestion: true };
    expect(await failureOf(local.embed(['one'], options))).toMatchObject({ code: 'rate_limited' });
    const stopped = AbortSignal.abort(new Error('still waiting'));
    await pauses.ready('OpenAiCompatible/other', { signal: stopped });
    await expect(pauses.ready('OpenAiCompatible/local', { signal: stopped })).rejects.toThrow();
  });
});
