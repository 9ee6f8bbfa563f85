import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it } from 'vitest';
import type { Configuration } from '../../../shared/contract/completions.ts';
import { toAnswer } from '../../../electron/providers/answer-translation.ts';
import { toCallOptions } from '../../../electron/providers/model-translation.ts';
import { createOpenAiCompatibleProvider } from '../../../electron/providers/open-ai-compatible.ts';
import { failureOf, modelRequest, noAbort } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';

const world = useProviderConnection();
const request = modelRequest('scripted');

function connect() {
  const { baseAddress } = world.server;
  const transport = world.openTransport();
  const provider = createOpenAiCompatibleProvider({ title: 'Local', baseAddress, key: 'the-key', transport });
  const model = createOpenAICompatible({
    name: 'openaiCompatible',
    baseURL: baseAddress,
    apiKey: 'the-key',
    fetch: transport.fetch,
    supportsStructuredOutputs: true,
  }).chatModel('scripted');
  return { provider, model };
}

const answered = (message: object, finish_reason = 'stop') => ({
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
});

describe('a whole answer of a compatible endpoint', () => {
  it.for<Configuration>([
    {},
    { temperature: 0.5, top_p: 0.9, max_tokens: 20, seed: 7, stop: ['a', 'b'] },
    { frequency_penalty: 1, presence_penalty: -1, reasoning_effort: 'low' },
    { response_format: { type: 'json_object' } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'thing', schema: { type: 'object' }, strict: true },
      },
    },
  ])('is requested like its package does: %o', async (configuration) => {
    world.server.answerWith((call) => call.chatAnswer({ content: 'Hello!' }));
    const { provider, model } = connect();
    const requested = { ...request, configuration };
    await provider.generate(requested, { signal: noAbort() });
    await model.doGenerate({
      ...toCallOptions(requested),
      providerOptions: { openaiCompatible: { strictJsonSchema: true } },
    });
    const [ours, theirs] = world.server.calls.map(({ method, path, body, headers }) => ({
      method,
      path,
      body,
      authorization: headers.authorization,
      type: headers['content-type'],
    }));
    expect(ours).toEqual(theirs);
  });

  it('is requested with an empty text for a message without text', async () => {
    world.server.answerWith((call) => call.chatAnswer({ content: 'Hello!' }));
    const messages = [{ role: 'user' as const, content: [] }];
    await connect().provider.generate({ ...request, messages }, { signal: noAbort() });
    expect(world.server.calls[0]?.body).toMatchObject({ messages: [{ role: 'user', content: '' }] });
  });

  it.for([
    answered({ content: 'Hello!' }),
    answered({ content: null, refusal: 'No.' }),
    answered({ content: [{ type: 'text', text: 'In parts.' }] }),
    answered({ content: 'cut', reasoning_content: 'Hm.' }, 'length'),
    answered(
      { content: null, tool_calls: [{ id: 'one', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      'tool_calls',
    ),
  ])('is read like its package does: %o', async (body) => {
    world.server.answerWith((call) => call.json(200, body));
    const { provider, model } = connect();
    const theirs = toAnswer(await model.doGenerate(toCallOptions(request)));
    expect(await provider.generate(request, { signal: noAbort() })).toEqual(theirs);
  });

  it('is assembled from chunks, wherever they are split', async () => {
    const bytes = Buffer.from(JSON.stringify(answered({ content: 'Grüße, 世界' })));
    world.server.answerWith(async (call) => {
      call.head(200, { 'content-type': 'application/json' });
      for (const byte of bytes) await call.write(Buffer.of(byte));
      call.end();
    });
    const { content } = await connect().provider.generate(request, { signal: noAbort() });
    expect(content).toBe('Grüße, 世界');
  });

  it('that never ends is aborted, and its socket is closed', async () => {
    world.server.answerWith(async (call) => {
      call.head(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(4 * 1_048_576, ' ');
      while (!call.socket.destroyed) await Promise.race([call.write(piece), call.closed]);
    });
    const failure = await failureOf(connect().provider.generate(request, { signal: noAbort() }));
    expect(failure.code).toBe('provider_failed');
    await world.server.calls[0]!.closed;
  });

  it('that fails without a message is described by its status', async () => {
    world.server.answerWith((call) => call.head(502).end());
    const failure = await failureOf(connect().provider.generate(request, { signal: noAbort() }));
    expect([failure.code, failure.message]).toEqual([
      'provider_failed',
      'Server error from "Local" (502). Provider message: Bad Gateway',
    ]);
  });

  it('that reports a failure with a success status has its message', async () => {
    const text = JSON.stringify({ error: { message: 'No instance is free.', code: 502 } });
    world.server.answerWith((call) => call.head(200, { 'content-type': 'application/json' }).end(text));
    const failure = await failureOf(connect().provider.generate(request, { signal: noAbort() }));
    expect([failure.code, failure.message]).toEqual([
      'provider_failed',
      'Error from "Local" during its answer. Provider message: No instance is free.',
    ]);
  });

  it.for(['', '<html>', '{"choices": []}', '{"choices": [{}]}'])('that is invalid is a failure: %j', async (text) => {
    world.server.answerWith((call) => call.head(200, { 'content-type': 'application/json' }).end(text));
    const failure = await failureOf(connect().provider.generate(request, { signal: noAbort() }));
    expect([failure.code, failure.message]).toEqual([
      'provider_failed',
      '"Local" sent a response that Touchstone can\'t read. Try again, or check the base address in Settings, Providers and keys.',
    ]);
  });
});
