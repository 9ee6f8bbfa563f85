import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Configuration } from '../../../shared/contract/completions.ts';
import type { Provider } from '../../../electron/providers/provider.ts';
import { createEndpointProvider, registry } from '../../../electron/providers/registry.ts';
import { collect, modelRequest, noAbort } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';

function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/providers/${name}`, import.meta.url), 'utf8');
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const everything: Configuration = {
  temperature: 0.5,
  top_p: 0.9,
  top_k: 40,
  max_tokens: 100,
  stop: ['END', 'STOP'],
  seed: 7,
  frequency_penalty: 0.1,
  presence_penalty: 0.2,
  response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
  own_parameter: { of: ['the', 'provider'] },
};
const authorization = { authorization: 'Bearer the-key' };

/** What each API is asked for a whole answer with every parameter that it takes, and where. */
const forms = [
  {
    name: 'OpenAi',
    details: { cached_tokens: 4, cache_write_tokens: null, reasoning_tokens: 64 },
    file: 'open-ai',
    model: 'gpt-4o',
    path: '/v1/responses',
    headers: authorization,
    body: {
      model: 'gpt-4o',
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      store: false,
      text: { format: { type: 'json_schema', name: 'place', schema, strict: false } },
      own_parameter: { of: ['the', 'provider'] },
    },
  },
  {
    name: 'Anthropic',
    details: { cached_tokens: 4, cache_write_tokens: 0, reasoning_tokens: 64 },
    file: 'anthropic',
    model: 'claude-opus-4-6',
    path: '/v1/messages',
    headers: { 'x-api-key': 'the-key', 'anthropic-version': '2023-06-01' },
    body: {
      model: 'claude-opus-4-6',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
      temperature: 0.5,
      top_k: 40,
      max_tokens: 100,
      stop_sequences: ['END', 'STOP'],
      output_config: { format: { type: 'json_schema', schema: { ...schema, additionalProperties: false } } },
      own_parameter: { of: ['the', 'provider'] },
    },
  },
  {
    name: 'GoogleGemini',
    details: { cached_tokens: null, cache_write_tokens: null, reasoning_tokens: 64 },
    file: 'google-gemini',
    model: 'gemini-4-argon',
    path: '/v1/models/gemini-4-argon:generateContent',
    headers: { 'x-goog-api-key': 'the-key' },
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      generationConfig: {
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        maxOutputTokens: 100,
        stopSequences: ['END', 'STOP'],
        seed: 7,
        frequencyPenalty: 0.1,
        presencePenalty: 0.2,
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
      },
      store: false,
      own_parameter: { of: ['the', 'provider'] },
    },
  },
  {
    name: 'Groq',
    details: { cached_tokens: null, cache_write_tokens: null, reasoning_tokens: 64 },
    file: 'groq',
    model: 'openai/gpt-oss-120b',
    path: '/v1/chat/completions',
    headers: authorization,
    body: {
      model: 'openai/gpt-oss-120b',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
      stop: ['END', 'STOP'],
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: false } },
      own_parameter: { of: ['the', 'provider'] },
    },
  },
  {
    name: 'Cohere',
    details: { cached_tokens: 0, cache_write_tokens: null, reasoning_tokens: null },
    file: 'cohere',
    model: 'command-a-plus-05-2026',
    path: '/v1/chat',
    headers: authorization,
    body: {
      model: 'command-a-plus-05-2026',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
      temperature: 0.5,
      p: 0.9,
      k: 40,
      max_tokens: 100,
      stop_sequences: ['END', 'STOP'],
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      response_format: { type: 'json_object', json_schema: schema },
      own_parameter: { of: ['the', 'provider'] },
    },
  },
  {
    name: 'OpenAiCompatible',
    details: { cached_tokens: null, cache_write_tokens: null, reasoning_tokens: 64 },
    file: 'open-ai-compatible',
    model: 'deepseek-r1',
    path: '/v1/chat/completions',
    headers: authorization,
    body: {
      model: 'deepseek-r1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      max_tokens: 100,
      stop: ['END', 'STOP'],
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: false } },
      own_parameter: { of: ['the', 'provider'] },
    },
  },
] as const;

const world = useProviderConnection();

function connect(name: (typeof forms)[number]['name']): Provider {
  const settings = {
    title: name,
    baseAddress: world.server.baseAddress,
    key: 'the-key',
    transport: world.openTransport(),
  };
  return name === 'OpenAiCompatible' ? createEndpointProvider(settings) : registry[name].create(settings);
}

describe.each(forms)('the format of $name', ({ name, file, model, path, headers, body, details }) => {
  const usage = { prompt_tokens: 12, completion_tokens: 70, total_tokens: 82, details };

  it('contains everything in the request that the API supports, and nothing is stored there', async () => {
    world.server.answerWith((call) => call.head(200).end(fixture(`${file}.json`)));
    const request = { ...modelRequest(model, everything), systemMessage: 'Be brief.' };
    await connect(name).generate(request, { signal: noAbort() });
    const call = world.server.calls[0]!;
    expect({ path: call.path, headers: call.headers, body: call.body }).toEqual({
      path,
      headers: expect.objectContaining(headers),
      body,
    });
  });

  it("returns a reasoning model's whole answer, its reasoning counted with the completion", async () => {
    world.server.answerWith((call) =>
      call.head(200, { 'content-type': 'application/json' }).end(fixture(`${file}.json`)),
    );
    expect(await connect(name).generate(modelRequest(model), { signal: noAbort() })).toEqual({
      content: 'Hello!',
      reasoning: 'Greeting the user.',
      finishReason: 'Stop',
      usage,
      rawUsage: expect.any(Object),
    });
  });

  it("streams a reasoning model's answer", async () => {
    world.server.answerWith((call) => call.openEventStream().end(fixture(`${file}.sse`)));
    expect(await collect(connect(name).stream(modelRequest(model), { signal: noAbort() }))).toEqual({
      content: 'Hello!',
      reasoning: 'Greeting the user.',
      finish: {
        type: 'finish',
        finishReason: 'Stop',
        // Claude's streams count reasoning with the rest.
        usage: name === 'Anthropic' ? { ...usage, details: { ...details, reasoning_tokens: null } } : usage,
        rawUsage: expect.any(Object),
      },
      error: null,
    });
  });

  it('is provider_failed when the stream ends between two events', async () => {
    const events = fixture(`${file}.sse`).split('\n\n');
    const middle = events.findIndex((event) => event.includes('Hel'));
    world.server.answerWith((call) => call.openEventStream().end(`${events.slice(0, middle + 1).join('\n\n')}\n\n`));
    const { content, error } = await collect(connect(name).stream(modelRequest(model), { signal: noAbort() }));
    expect([content, error?.code]).toEqual(['Hel', 'provider_failed']);
  });
});

describe('the mapping of a reasoning effort', () => {
  it.each([
    ['OpenAi', 'gpt-6-sol', 'xhigh', { reasoning: { effort: 'xhigh', summary: 'detailed' } }],
    ['Anthropic', 'claude-opus-5-5', 'max', { output_config: { effort: 'max' } }],
    ['Anthropic', 'claude-haiku-4-5', 'low', { thinking: { type: 'enabled', budget_tokens: 6400 } }],
    [
      'GoogleGemini',
      'gemini-4-argon',
      'low',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } } },
    ],
    ['Groq', 'openai/gpt-oss-120b', 'low', { reasoning_effort: 'low' }],
    ['Groq', 'qwen/qwen3-32b', 'default', { reasoning_effort: 'default' }],
    ['Cohere', 'command-a-plus-05-2026', 'none', { thinking: { type: 'disabled' } }],
    ['OpenAiCompatible', 'deepseek-r1', 'anything', { reasoning_effort: 'anything' }],
  ] as const)('for %s %s %s', async (name, model, effort, expected) => {
    const { file } = forms.find((form) => form.name === name)!;
    world.server.answerWith((call) => call.head(200).end(fixture(`${file}.json`)));
    await connect(name).generate(modelRequest(model, { reasoning_effort: effort }), { signal: noAbort() });
    expect(world.server.calls[0]!.body).toMatchObject(expected);
  });
});
