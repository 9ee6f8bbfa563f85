import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KeyedProvider } from '../../../shared/contract/common.ts';
import type { Provider } from '../../../electron/providers/provider.ts';
import { registry } from '../../../electron/providers/registry.ts';
import { collect, failureOf, modelRequest, noAbort } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';

function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/providers/${name}`, import.meta.url), 'utf8');
}

const world = useProviderConnection();

function connect(name: KeyedProvider): Provider {
  return registry[name].create({
    title: name,
    baseAddress: world.server.baseAddress,
    key: 'the-key',
    transport: world.openTransport(),
  });
}

describe('peculiarities of one API', () => {
  it('Gemini rejects a wrong key with 400', async () => {
    const error = {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
    };
    world.server.answerWith((call) => call.json(400, { error }));
    const { code } = await failureOf(
      connect('GoogleGemini').generate(modelRequest('gemini-4-argon'), { signal: noAbort() }),
    );
    expect(code).toBe('provider_key_refused');
  });

  it('Gemini names the retry delay in its body', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '16.4s' }];
    const error = { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details };
    world.server.answerWith((call) => call.json(429, { error }));
    const failure = await failureOf(
      connect('GoogleGemini').generate(modelRequest('gemini-4-argon'), { signal: noAbort() }),
    );
    expect([failure.code, failure.retryAfterSeconds]).toEqual(['rate_limited', 17]);
  });

  it('Gemini calls a tool and reports STOP', async () => {
    const parts = [{ functionCall: { name: 'clock', args: {} } }];
    const candidates = [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }];
    world.server.answerWith((call) => call.json(200, { candidates }));
    const answer = await connect('GoogleGemini').generate(modelRequest('gemini-4-argon'), { signal: noAbort() });
    expect(answer.finishReason).toBe('ToolCalls');
  });

  it('Anthropic is overloaded before the first byte', async () => {
    const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    world.server.answerWith(async (call) => {
      await call.openEventStream().event(event, 'error');
      call.end();
    });
    const { error } = await collect(
      connect('Anthropic').stream(modelRequest('claude-opus-5-5'), { signal: noAbort() }),
    );
    expect(error?.code).toBe('provider_overloaded');
  });

  it('Anthropic refuses to answer: a filtered answer, not a failure', async () => {
    const answer = { ...(JSON.parse(fixture('anthropic.json')) as object), stop_reason: 'refusal', content: [] };
    world.server.answerWith((call) => call.json(200, answer));
    const { finishReason, content } = await connect('Anthropic').generate(modelRequest('claude-opus-5-5'), {
      signal: noAbort(),
    });
    expect([finishReason, content]).toEqual(['ContentFilter', '']);
  });

  it('OpenAI reports in the stream that the quota is used up, without a retry', async () => {
    const error = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'No quota is left.', param: null };
    const answer = collect(connect('OpenAi').stream(modelRequest('gpt-6-sol'), { signal: noAbort() }));
    const call = (await world.server.nextCall()).openEventStream();
    await call.event({ type: 'error', sequence_number: 0, error }, 'error');
    const failure = (await answer).error;
    expect([failure?.code, failure?.message.includes('No quota is left.')]).toEqual(['rate_limited', true]);
    await call.closed;
  });

  it('OpenAI truncates an answer at max_tokens', async () => {
    const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    world.server.answerWith((call) =>
      call.json(200, { ...(JSON.parse(fixture('open-ai.json')) as object), ...incomplete }),
    );
    const { finishReason } = await connect('OpenAi').generate(modelRequest('gpt-6-sol'), { signal: noAbort() });
    expect(finishReason).toBe('Length');
  });

  it('Cohere adds an unknown event', async () => {
    const stream = fixture('cohere.sse').replace(
      'event: message-end',
      'event: news\ndata: {"type":"news","delta":{}}\n\nevent: message-end',
    );
    world.server.answerWith((call) => call.openEventStream().end(stream));
    const { content, error } = await collect(
      connect('Cohere').stream(modelRequest('command-a-plus-05-2026'), { signal: noAbort() }),
    );
    expect([content, error]).toEqual(['Hello!', null]);
  });
});
