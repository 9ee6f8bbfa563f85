import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Provider } from '../../../electron/providers/provider.ts';
import type { ProviderFetch } from '../../../electron/providers/provider-fetch.ts';
import { createEndpointProvider, registry } from '../../../electron/providers/registry.ts';
import {
  collect,
  createTransport,
  failureOf,
  failuresOf,
  modelRequest,
  noAbort,
  patientLimits,
} from '../../support/provider-calls.ts';

/** The stand-in is made by others from what the real APIs do; its addresses are theirs. */
const providers = [
  { name: 'OpenAi', model: 'gpt-6-sol', path: '/v1' },
  { name: 'Anthropic', model: 'claude-opus-5-5', path: '/v1' },
  { name: 'GoogleGemini', model: 'gemini-4-argon', path: '/v1beta' },
  { name: 'Groq', model: 'openai/gpt-oss-120b', path: '/v1' },
  { name: 'Cohere', model: 'command-a-plus-05-2026', path: '/v2' },
  { name: 'OpenAiCompatible', model: 'llama', path: '/v1' },
] as const;

const key = 'sk-very-secret-key-0123456789';
const text = 'Hi there! This is an answer in several pieces, with a ü and a 👋.';
const usage = {
  prompt_tokens: 11,
  completion_tokens: 13,
  total_tokens: 24,
  input_tokens: 11,
  output_tokens: 13,
  promptTokenCount: 11,
  candidatesTokenCount: 13,
  totalTokenCount: 24,
};
/** Here the stand-in differs from the real API: Groq tells its usage in a field of its own. */
const tellsUsageInStreams = (name: string) => name !== 'Groq';

describe.each(providers)('$name, simulated by a third party', ({ name, model, path }) => {
  let mock: LLMock;
  let transport: ProviderFetch;
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  const request = modelRequest(model);

  beforeAll(() => void process.on('unhandledRejection', onUnhandled));
  afterAll(() => void process.off('unhandledRejection', onUnhandled));
  beforeEach(async () => {
    mock = new LLMock({ port: 0, chunkSize: 7 });
    await mock.start();
    transport = createTransport();
  });
  afterEach(async () => {
    await transport.close();
    await mock.stop();
    expect(unhandled.splice(0)).toEqual([]);
  });

  function connect(limits = patientLimits): Provider {
    if (limits !== patientLimits) transport = createTransport(limits);
    const settings = { title: name, baseAddress: mock.url + path, key, transport };
    return name === 'OpenAiCompatible' ? createEndpointProvider(settings) : registry[name].create(settings);
  }

  it('returns a whole answer', async () => {
    mock.onMessage('hello', { content: text, usage });
    expect(await connect().generate(request, { signal: noAbort() })).toMatchObject({
      content: text,
      reasoning: null,
      finishReason: 'Stop',
      usage: { prompt_tokens: 11, completion_tokens: 13, total_tokens: 24 },
    });
  });

  it('streams an answer', async () => {
    mock.onMessage('hello', { content: text, usage });
    let firstBytes = 0;
    const answer = await collect(connect().stream(request, { signal: noAbort(), onFirstByte: () => firstBytes++ }));
    const reported = { prompt_tokens: 11, completion_tokens: 13, total_tokens: 24 };
    const untold = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    expect({ ...answer, firstBytes }).toMatchObject({
      content: text,
      reasoning: '',
      finish: { type: 'finish', finishReason: 'Stop', usage: tellsUsageInStreams(name) ? reported : untold },
      error: null,
      firstBytes: 1,
    });
  });

  it.each([
    [400, 'invalid_request'],
    [401, 'provider_key_refused'],
    [429, 'rate_limited'],
    [500, 'provider_failed'],
    [503, 'provider_overloaded'],
  ] as const)('with %i is %s in either form', async (status, code) => {
    mock.onMessage('hello', { error: { message: `No: ${key}`, type: 'some_error' }, status, retryAfter: 5 });
    const errors = await failuresOf(connect(), request);
    const expected = [code, status === 429 ? 5 : undefined];
    expect(errors.map((error) => [error.code, error.retryAfterSeconds])).toEqual([expected, expected]);
    for (const { message } of errors) expect(message).not.toContain(key);
  });

  it('that is slow is provider_silent', async () => {
    mock.onMessage('hello', { content: text }, { chaos: { latencyMs: 5_000 } });
    const provider = connect({ firstByteSeconds: 0.05, betweenBytesSeconds: 60 });
    expect((await failureOf(provider.generate(request, { signal: noAbort() }))).code).toBe('provider_silent');
    expect((await collect(provider.stream(request, { signal: noAbort() }))).error?.code).toBe('provider_silent');
  });

  it('that cuts its stream is provider_failed after the partial answer', async () => {
    mock.onMessage('hello', { content: text }, { truncateAfterChunks: 8 });
    const { content, error, finish } = await collect(connect().stream(request, { signal: noAbort() }));
    expect([error?.code, finish]).toEqual(['provider_failed', null]);
    expect(text.startsWith(content)).toBe(true);
  });

  it.each(['malformedRate', 'disconnectRate'])('with %s 1 is provider_failed', async (rate) => {
    mock.onMessage('hello', { content: text }, { chaos: { [rate]: 1 } });
    const errors = await failuresOf(connect(), request);
    expect(errors.map((error) => error.code)).toEqual(['provider_failed', 'provider_failed']);
  });

  // The stand-in's Gemini ends a tool call with a reason that the real one does not have: there is nothing to ask of it.
  if (name !== 'GoogleGemini') {
    it('that calls a tool returns the call', async () => {
      mock.onMessage('hello', { toolCalls: [{ name: 'clock', arguments: '{}' }] });
      const tools = { tools: [{ type: 'function', function: { name: 'clock', parameters: {} } }] };
      const answer = await connect().generate(modelRequest(model, tools), { signal: noAbort() });
      expect([answer.finishReason, answer.content]).toEqual(['ToolCalls', '']);
    });
  }
});
