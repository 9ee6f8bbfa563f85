import { describe, expect, it } from 'vitest';
import type { Provider } from '../../../electron/providers/provider.ts';
import type { TimeLimits } from '../../../electron/providers/provider-fetch.ts';
import { createEndpointProvider } from '../../../electron/providers/registry.ts';
import { collect, failureOf, modelRequest, noAbort, patientLimits } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';

const key = 'sk-very-secret-key-0123456789';
const request = modelRequest('llama');

describe('a call to a provider', () => {
  const world = useProviderConnection();

  function connect(
    limits: TimeLimits = patientLimits,
    options: { key?: string | null; baseAddress?: string } = {},
  ): Provider {
    const transport = world.openTransport(limits);
    return createEndpointProvider({
      title: 'Local',
      baseAddress: options.baseAddress ?? world.server.baseAddress,
      key: options.key === undefined ? key : options.key,
      transport,
    });
  }

  it('returns a whole answer with its reasoning and usage', async () => {
    world.server.answerWith((call) => call.chatAnswer({ content: 'Hello!', reasoning: 'A greeting.' }));
    expect(await connect().generate(request, { signal: noAbort() })).toEqual({
      content: 'Hello!',
      reasoning: 'A greeting.',
      finishReason: 'Stop',
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      rawUsage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    });
  });

  it('yields every part as soon as it arrives', async () => {
    const parts = connect().stream(request, { signal: noAbort() })[Symbol.asyncIterator]();
    const first = parts.next();
    const call = (await world.server.nextCall()).openEventStream();
    await call.chatDelta({ reasoning_content: 'Hm.' });
    expect(await first).toEqual({ done: false, value: { type: 'reasoning-delta', text: 'Hm.' } });
    await call.chatDelta({ content: 'Hel' });
    expect(await parts.next()).toEqual({ done: false, value: { type: 'text-delta', text: 'Hel' } });
    await call.chatDelta({ content: 'lo' });
    expect(await parts.next()).toEqual({ done: false, value: { type: 'text-delta', text: 'lo' } });
    await call.chatEnd({ finishReason: 'length' });
    expect(await parts.next()).toEqual({
      done: false,
      value: {
        type: 'finish',
        finishReason: 'Length',
        usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
        rawUsage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      },
    });
    expect((await parts.next()).done).toBe(true);
  });

  it('reads reasoning from either of the two fields that servers use', async () => {
    world.server.answerWith(async (call) => {
      call.openEventStream();
      await call.chatDelta({ reasoning: 'One. ' });
      await call.chatDelta({ reasoning_content: 'Two.' });
      await call.chatDelta({ content: 'Done.' });
      await call.chatEnd();
    });
    expect(await collect(connect().stream(request, { signal: noAbort() }))).toMatchObject({
      reasoning: 'One. Two.',
      content: 'Done.',
      error: null,
    });
  });

  it('counts unknown usage as 0', async () => {
    world.server.answerWith((call) => call.chatStream(['Hi'], { usage: null }));
    const { finish } = await collect(connect().stream(request, { signal: noAbort() }));
    expect(finish?.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  });

  it.each([
    ['negative', -3, 0],
    ['a fraction', 2.5, 3],
    ['larger than anything that could be counted', 1e300, 0],
    ['larger than what can be kept exactly', 2 ** 53, 0],
  ])('corrects a usage that is %s', async (_what, tokens, taken) => {
    world.server.answerWith((call) =>
      call.chatStream(['Hi'], { usage: { prompt_tokens: tokens, completion_tokens: 2, total_tokens: tokens } }),
    );
    const { finish } = await collect(connect().stream(request, { signal: noAbort() }));
    expect(finish?.usage).toEqual({ prompt_tokens: taken, completion_tokens: 2, total_tokens: taken + 2 });
  });

  it('survives events that are split anywhere, also in the middle of a letter', async () => {
    const bytes = Buffer.from(
      'data: {"choices":[{"index":0,"delta":{"content":"Grüße, 世界 👋"},"finish_reason":null}]}\n\n' +
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    );
    world.server.answerWith(async (call) => {
      call.openEventStream();
      for (const byte of bytes) await call.write(Uint8Array.of(byte));
      call.end();
    });
    const { content, error } = await collect(connect().stream(request, { signal: noAbort() }));
    expect({ content, error }).toEqual({ content: 'Grüße, 世界 👋', error: null });
  });

  it('sends unknown parameters unchanged, but never in place of fields of the service', async () => {
    world.server.answerWith((call) => call.chatAnswer({ content: 'ok' }));
    const configuration = {
      temperature: 0.5,
      stop: 'END',
      reasoning_effort: 'ultra',
      top_k: 40,
      logit_bias: { '42': -100 },
      stream_options: { include_usage: false, other: 1 },
      messages_extra: [1, null],
    };
    await collect(connect().stream(modelRequest('llama', configuration), { signal: noAbort() }));
    expect(world.server.calls[0]!.body).toEqual({
      model: 'llama',
      messages: [{ role: 'user', content: 'hello' }],
      temperature: 0.5,
      stop: ['END'],
      top_k: 40,
      reasoning_effort: 'ultra',
      logit_bias: { '42': -100 },
      messages_extra: [1, null],
      stream: true,
      stream_options: { include_usage: true, other: 1 },
    });
  });

  it('keeps its connection for the next call', async () => {
    world.server.answerWith((call) => call.chatAnswer({ content: 'ok' }));
    const provider = connect();
    for (let calls = 0; calls < 10; calls++) await provider.generate(request, { signal: noAbort() });
    // The second one is opened while the first is looked at, whether it is still alive.
    expect([world.server.calls.length, world.server.connections()]).toEqual([10, 2]);
  });

  it('reports the first byte of a successful body once, and not the head', async () => {
    let firstBytes = 0;
    const parts = collect(connect().stream(request, { signal: noAbort(), onFirstByte: () => firstBytes++ }));
    const call = (await world.server.nextCall()).openEventStream();
    const headAlone = firstBytes;
    await call.chatDelta({ content: 'a' });
    await call.chatEnd();
    await parts;
    expect([headAlone, firstBytes]).toEqual([0, 1]);
  });

  it('does not count an error answer as a first byte', async () => {
    let firstBytes = 0;
    world.server.answerWith((call) => call.fail(500, 'broken'));
    await failureOf(connect().generate(request, { signal: noAbort(), onFirstByte: () => firstBytes++ }));
    expect(firstBytes).toBe(0);
  });

  it('makes only one call if it fails', async () => {
    world.server.answerWith((call) => call.fail(503, 'try later', { 'retry-after': '0' }));
    await failureOf(connect().generate(request, { signal: noAbort() }));
    expect(world.server.calls.length).toBe(1);
  });

  it('does not follow a redirect, which would send the key to another host', async () => {
    await using elsewhere = await startScriptedProvider((call) => call.chatAnswer({ content: 'got it' }));
    world.server.answerWith((call) => call.head(307, { location: `${elsewhere.baseAddress}/chat/completions` }).end());
    const error = await failureOf(connect().generate(request, { signal: noAbort() }));
    expect([error.code, elsewhere.calls.length]).toEqual(['provider_failed', 0]);
  });

  describe('that is aborted', () => {
    it.each(['before the head', 'before the first byte', 'in the middle'])('closes the socket %s', async (moment) => {
      const stop = new AbortController();
      const parts = collect(connect().stream(request, { signal: stop.signal }));
      const call = await world.server.nextCall();
      if (moment !== 'before the head') call.openEventStream();
      if (moment === 'in the middle') await call.chatDelta({ content: 'so far' });
      stop.abort();
      const { error } = await parts;
      expect(error?.name).toBe('AbortError');
      // Nothing else closes it: the provider says no more, and the limits are patient.
      await call.closed;
    });

    it('is an AbortError without streaming, too', async () => {
      const stop = new AbortController();
      const answer = failureOf(connect().generate(request, { signal: stop.signal }));
      const call = await world.server.nextCall();
      stop.abort(new Error('some reason of the caller'));
      expect((await answer).name).toBe('AbortError');
      await call.closed;
    });

    it('reaches no provider if it was aborted before its start', async () => {
      const error = await failureOf(connect().generate(request, { signal: AbortSignal.abort() }));
      expect([error.name, world.server.calls.length]).toEqual(['AbortError', 0]);
    });

    it('closes the socket when the reader stops reading', async () => {
      const parts = connect().stream(request, { signal: noAbort() })[Symbol.asyncIterator]();
      const first = parts.next();
      const call = (await world.server.nextCall()).openEventStream();
      await call.chatDelta({ content: 'so far' });
      await first;
      await parts.return?.();
      await call.closed;
    });

    it("doesn't affect other calls", async () => {
      const provider = connect();
      const stop = new AbortController();
      const stopped = collect(provider.stream(request, { signal: stop.signal }));
      const firstCall = await world.server.nextCall();
      const other = collect(provider.stream(request, { signal: noAbort() }));
      const secondCall = await world.server.nextCall();
      stop.abort();
      await stopped;
      await firstCall.closed;
      await secondCall.chatStream(['still here']);
      expect((await other).content).toBe('still here');
    });
  });

  it("stops reading bytes while its reader doesn't read", async () => {
    const parts = connect().stream(request, { signal: noAbort() })[Symbol.asyncIterator]();
    const first = parts.next();
    const call = (await world.server.nextCall()).openEventStream();
    const piece = 'x'.repeat(64 * 1024);
    // More than kernel buffers and our own hold together: without back-pressure all of it would be taken at once.
    const total = 1024;
    let taken = 0;
    const sending = (async () => {
      for (; taken < total; taken++) await call.chatDelta({ content: piece });
      await call.chatEnd();
    })();
    await first;
    let before = -1;
    while (taken !== before) {
      before = taken;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(taken).toBeLessThan(total / 2);
    let read = 1;
    for (let next = await parts.next(); !next.done; next = await parts.next()) read += 1;
    await sending;
    expect([taken, read]).toEqual([total, total + 1]);
  });
});
