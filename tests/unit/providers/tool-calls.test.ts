import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ModelRequest, ModelToolCall, Provider } from '../../../electron/providers/provider.ts';
import type { ProviderFetch } from '../../../electron/providers/provider-fetch.ts';
import { createEndpointProvider, registry } from '../../../electron/providers/registry.ts';
import { createTransport, modelRequest, noAbort } from '../../support/provider-calls.ts';

const providers = [
  { name: 'OpenAi', model: 'gpt-6-sol', path: '/v1' },
  { name: 'Anthropic', model: 'claude-opus-5-5', path: '/v1' },
  { name: 'GoogleGemini', model: 'gemini-4-argon', path: '/v1beta' },
  { name: 'Groq', model: 'openai/gpt-oss-120b', path: '/v1' },
  { name: 'Cohere', model: 'command-a-plus-05-2026', path: '/v2' },
  { name: 'OpenAiCompatible', model: 'llama', path: '/v1' },
] as const;

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const configuration = {
  tools: [
    { type: 'function', function: { name: 'weather', description: 'Weather of a city', parameters, strict: true } },
    { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } },
  ],
  tool_choice: { type: 'function', function: { name: 'weather' } },
  parallel_tool_calls: false,
} as const satisfies Record<string, unknown>;

const single = [{ name: 'weather', arguments: '{"city":"Zürich 👋"}' }];
const parallel = [...single, { name: 'clock', arguments: '{}' }];

/** The calls of a streamed answer put together, and the types of its parts. */
async function streamed(provider: Provider, request: ModelRequest) {
  const calls: ModelToolCall[] = [];
  const types: string[] = [];
  let finishReason = '';
  for await (const part of provider.stream(request, { signal: noAbort() })) {
    types.push(part.type);
    if (part.type === 'finish') finishReason = part.finishReason;
    if (part.type === 'tool-call-start') calls[part.index] = { id: part.id, name: part.name, arguments: '' };
    if (part.type === 'tool-call-delta')
      calls[part.index] = { ...calls[part.index]!, arguments: calls[part.index]!.arguments + part.text };
  }
  return { calls, types, finishReason };
}

const withoutId = (calls: readonly ModelToolCall[]) =>
  calls.map(({ name, arguments: text }) => ({ name, arguments: JSON.stringify(JSON.parse(text)) }));

describe.each(providers)('$name', ({ name, model, path }) => {
  let mock: LLMock;
  let transport: ProviderFetch;
  beforeEach(async () => {
    mock = new LLMock({ port: 0, chunkSize: 7 });
    await mock.start();
    transport = createTransport();
  });
  afterEach(async () => {
    await transport.close();
    await mock.stop();
  });

  function connect(): Provider {
    const settings = { title: name, baseAddress: mock.url + path, key: 'sk-key-0123456789', transport };
    return name === 'OpenAiCompatible' ? createEndpointProvider(settings) : registry[name].create(settings);
  }
  const request = modelRequest(model, configuration as unknown as ModelRequest['configuration']);

  it.each([
    ['one tool', single],
    ['two tools at once', parallel],
  ])('calls %s, whole and streamed', async (_, toolCalls) => {
    mock.onMessage('hello', { toolCalls: toolCalls.map((call) => ({ ...call })) });
    const whole = await connect().generate(request, { signal: noAbort() });
    expect(whole.finishReason).toBe('ToolCalls');
    expect(withoutId(whole.toolCalls ?? [])).toEqual(toolCalls);
    const { calls, types, finishReason } = await streamed(connect(), request);
    expect(finishReason).toBe('ToolCalls');
    expect(withoutId(calls)).toEqual(toolCalls);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(toolCalls.length);
    expect(types.filter((type) => type === 'tool-call-end')).toHaveLength(toolCalls.length);
  });

  it('gets the tools, and the results of its calls', async () => {
    mock.onMessage('hello', { toolCalls: parallel.map((call) => ({ ...call })) });
    const { toolCalls = [] } = await connect().generate(request, { signal: noAbort() });
    await connect()
      .generate(
        {
          ...request,
          messages: [
            ...request.messages,
            {
              role: 'assistant',
              content: [
                { type: 'text', text: 'Wait.' },
                ...toolCalls.map((call) => ({ type: 'toolCall' as const, ...call })),
              ],
            },
            {
              role: 'tool',
              content: toolCalls.map(({ id }) => ({
                type: 'toolResult',
                toolCallId: id,
                content: 'sunny',
                isError: false,
              })),
            },
          ],
        },
        { signal: noAbort() },
      )
      .catch(() => undefined);
    const sent = mock.getRequests().map(({ body }) => JSON.stringify(body));
    expect(sent[0]).toContain('Weather of a city');
    expect(sent.at(-1)).toContain('Zürich 👋');
    expect(sent.at(-1)).toContain('sunny');
    // The stand-in keeps every request in OpenAI's form.
    const { messages } = mock.getRequests().at(-1)!.body as unknown as { messages: Record<string, unknown>[] };
    expect(messages.filter(({ role }) => role === 'tool').map((message) => message['tool_call_id'])).toEqual(
      toolCalls.map(({ id }) => id),
    );
  });
});
