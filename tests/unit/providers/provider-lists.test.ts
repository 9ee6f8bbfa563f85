import { describe, expect, it } from 'vitest';
import type { KeyedProvider } from '../../../shared/contract/common.ts';
import { createEndpointProvider, registry } from '../../../electron/providers/registry.ts';
import { failureOf, noAbort } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';

const world = useProviderConnection();

function list(name: KeyedProvider, path = '/v1') {
  const baseAddress = world.server.baseAddress.replace(/\/v1$/, path);
  return registry[name]
    .create({ title: name, baseAddress, key: 'the-key', transport: world.openTransport() })
    .listModels({ signal: noAbort() });
}

/** Answers the pages in turn and tells afterwards which paths were asked for. */
function answerPages(...pages: unknown[]): void {
  let page = 0;
  world.server.answerWith((call) => call.json(200, pages[page++] ?? {}));
}

describe('the list of', () => {
  it('OpenAI contains its text models with their shutdown dates', async () => {
    answerPages({
      object: 'list',
      data: [
        { id: 'gpt-6-sol', object: 'model', created: 1, owned_by: 'openai', shutdown_date: null },
        { id: 'o3', object: 'model', shutdown_date: '2026-12-11' },
        { id: 'gpt-5', object: 'model', shutdown_date: 1796947200 },
        { id: 'gpt-5-in-milliseconds', object: 'model', shutdown_date: 1796947200000 },
        { id: 'gpt-5-in-microseconds', object: 'model', shutdown_date: 1796947200000000 },
        { id: 'tts-2', object: 'model' },
        { id: 'gpt-image-2', object: 'model' },
        { id: 'text-embedding-3-small', object: 'model' },
        { id: 'omni-moderation-latest', object: 'model' },
        { id: 'gpt-realtime', object: 'model' },
      ],
    });
    expect(await list('OpenAi')).toEqual([
      { name: 'gpt-6-sol' },
      { name: 'o3', shutdownDate: '2026-12-11' },
      { name: 'gpt-5', shutdownDate: '2026-12-11' },
      { name: 'gpt-5-in-milliseconds' },
      { name: 'gpt-5-in-microseconds' },
    ]);
    expect([world.server.calls[0]!.path, world.server.calls[0]!.headers.authorization]).toEqual([
      '/v1/models',
      'Bearer the-key',
    ]);
  });

  it('Anthropic is read page by page', async () => {
    answerPages(
      {
        data: [
          {
            type: 'model',
            id: 'claude-opus-5-5',
            display_name: 'Claude Opus 5.5',
            max_input_tokens: 1000000,
            max_tokens: 128000,
          },
        ],
        has_more: true,
        last_id: 'claude-opus-5-5',
      },
      {
        data: [{ type: 'model', id: 'claude-haiku-5-5', display_name: 'Claude Haiku 5.5' }],
        has_more: false,
        last_id: 'x',
      },
    );
    expect(await list('Anthropic')).toEqual([
      { name: 'claude-opus-5-5', title: 'Claude Opus 5.5', contextTokens: 1000000, outputTokens: 128000 },
      { name: 'claude-haiku-5-5', title: 'Claude Haiku 5.5' },
    ]);
    expect(world.server.calls.map(({ path }) => path)).toEqual([
      '/v1/models?limit=1000',
      '/v1/models?limit=1000&after_id=claude-opus-5-5',
    ]);
    expect(world.server.calls[1]!.headers['x-api-key']).toBe('the-key');
  });

  it('Gemini is read page by page, with the key in no URL', async () => {
    answerPages(
      {
        models: [
          {
            name: 'models/gemini-4-argon',
            displayName: 'Gemini 4 Argon',
            inputTokenLimit: 2097152,
            outputTokenLimit: 131072,
            supportedGenerationMethods: ['generateContent', 'countTokens'],
          },
          { name: 'models/gemini-embedding-2', supportedGenerationMethods: ['embedContent'] },
          { name: 'models/aqa', supportedGenerationMethods: ['generateAnswer'] },
        ],
        nextPageToken: 'a/b',
      },
      { models: [{ name: 'models/gemma-4-31b-it', supportedGenerationMethods: ['generateContent'] }] },
    );
    expect(await list('GoogleGemini', '/v1beta')).toEqual([
      { name: 'gemini-4-argon', title: 'Gemini 4 Argon', contextTokens: 2097152, outputTokens: 131072 },
      { name: 'gemma-4-31b-it' },
    ]);
    expect(world.server.calls.map(({ path, headers }) => [path, headers['x-goog-api-key']])).toEqual([
      ['/v1beta/models?pageSize=1000', 'the-key'],
      ['/v1beta/models?pageSize=1000&pageToken=a%2Fb', 'the-key'],
    ]);
  });

  it('Groq contains context and output, without inactive models', async () => {
    answerPages({
      data: [
        { id: 'openai/gpt-oss-120b', active: true, context_window: 131072, max_completion_tokens: 65536 },
        { id: 'old', active: false },
        { id: 'whisper-large-v3', active: true },
      ],
    });
    expect(await list('Groq')).toEqual([{ name: 'openai/gpt-oss-120b', contextTokens: 131072, outputTokens: 65536 }]);
  });

  it('Cohere comes from version 1 of its API', async () => {
    answerPages(
      { models: [{ name: 'command-a-03-2025', endpoints: ['chat'], context_length: 256000 }], next_page_token: 't' },
      { models: [{ name: 'command-r7b-12-2024', endpoints: ['chat'], context_length: 132000 }] },
    );
    expect(await list('Cohere', '/v2')).toEqual([
      { name: 'command-a-03-2025', contextTokens: 256000 },
      { name: 'command-r7b-12-2024', contextTokens: 132000 },
    ]);
    expect(world.server.calls.map(({ path }) => path)).toEqual([
      '/v1/models?endpoint=chat&page_size=1000',
      '/v1/models?endpoint=chat&page_size=1000&page_token=t',
    ]);
  });

  it('a compatible server contains the fields that vLLM, llama.cpp and gateways add', async () => {
    answerPages({
      data: [
        { id: 'vllm-model', max_model_len: 32768 },
        { id: 'llama-cpp-model', meta: { n_ctx_train: 8192 } },
        { id: 'gateway/model', context_length: 65536 },
        { id: 'nomic-embed-text' },
        { id: 42 },
        null,
      ],
    });
    const provider = createEndpointProvider({
      title: 'local',
      baseAddress: world.server.baseAddress,
      key: null,
      transport: world.openTransport(),
    });
    expect(await provider.listModels({ signal: noAbort() })).toEqual([
      { name: 'vllm-model', contextTokens: 32768 },
      { name: 'llama-cpp-model', contextTokens: 8192 },
      { name: 'gateway/model', contextTokens: 65536 },
    ]);
  });
});

describe('a list that', () => {
  it('never ends is stopped', async () => {
    world.server.answerWith((call) => call.json(200, { data: [{ id: 'again' }], has_more: true, last_id: 'again' }));
    await list('Anthropic');
    expect(world.server.calls.length).toBe(50);
  });

  it.each(['[]', 'null', 'nonsense', ''])('is %j is provider_failed', async (body) => {
    world.server.answerWith((call) => call.head(200).end(body));
    expect(await failureOf(list('OpenAi'))).toMatchObject({
      code: 'provider_failed',
      kind: 'failed',
      providerStatus: 200,
    });
  });

  it('is rejected is provider_key_refused', async () => {
    world.server.answerWith((call) => call.fail(401, 'no'));
    expect(await failureOf(list('OpenAi'))).toMatchObject({ code: 'provider_key_refused', kind: 'refused' });
  });
});
