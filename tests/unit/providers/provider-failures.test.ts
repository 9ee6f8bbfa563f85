// @module-tag slow
import { describe, expect, it } from 'vitest';
import type { Provider } from '../../../electron/providers/provider.ts';
import type { TimeLimits } from '../../../electron/providers/provider-fetch.ts';
import { createEndpointProvider } from '../../../electron/providers/registry.ts';
import { collect, failureOf, failuresOf, modelRequest, noAbort, patientLimits } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';

/** Of no known form: it must be cut out because it is the key. */
const key = 'very-secret-key-0123456789';
const request = modelRequest('llama');

describe('a provider that fails', () => {
  const world = useProviderConnection();

  function connect(limits: TimeLimits = patientLimits, baseAddress = world.server.baseAddress): Provider {
    const transport = world.openTransport(limits);
    return createEndpointProvider({ title: 'Local', baseAddress, key, transport });
  }

  it.each([
    [400, 'invalid_request'],
    [401, 'provider_key_refused'],
    [403, 'provider_key_refused'],
    [404, 'provider_failed'],
    [413, 'provider_failed'],
    [422, 'provider_failed'],
    [429, 'rate_limited'],
    [500, 'provider_failed'],
    [502, 'provider_failed'],
    [503, 'provider_overloaded'],
    [504, 'provider_failed'],
    [529, 'provider_overloaded'],
  ] as const)('with %i is %s, streamed or not', async (status, code) => {
    world.server.answerWith((call) => call.fail(status, 'This is why.'));
    expect((await failuresOf(connect(), request)).map((error) => error.code)).toEqual([code, code]);
  });

  it('is quoted if it explains the error of the request', async () => {
    world.server.answerWith((call) => call.fail(400, 'max_tokens: must be\n  below 4096'));
    const error = await failureOf(connect().generate(request, { signal: noAbort() }));
    expect(error.message).toBe('"Local" rejected the request (400). Provider message: max_tokens: must be below 4096');
  });

  it.each([
    ['Node', 'Incorrect API key\n    at verify (/srv/auth.js:10:2)\n    at process.processTicks (node:internal:95:5)'],
    ['Java', 'Incorrect API key\r\n\tat com.acme.Auth.check(Auth.java:31)\r\n\t... 12 more'],
    [
      'Python',
      'Traceback (most recent call last):\n  File "/srv/auth.py", line 3, in check\n    raise Bad(key)\nIncorrect API key',
    ],
    ['Ruby', 'Incorrect API key\n\tfrom /srv/auth.rb:3:in `check'],
    ['Go', 'Incorrect API key\ngoroutine 1 [running]:\n\t/srv/auth.go:31 +0x1d'],
    ['PHP', 'Incorrect API key\n#0 /srv/auth.php(12): check()'],
  ])('is quoted without the stack trace of %s', async (_, message) => {
    world.server.answerWith((call) => call.fail(400, message));
    const error = await failureOf(connect().generate(request, { signal: noAbort() }));
    expect(error.message).toBe('"Local" rejected the request (400). Provider message: Incorrect API key');
  });

  it.each([
    ['seconds', { 'retry-after': '17' }, 17],
    ['parts of a second', { 'retry-after': '1.2' }, 2],
    ['milliseconds', { 'retry-after-ms': '2500' }, 3],
    ['a date that is over', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    ['nonsense', { 'retry-after': 'soon' }, 10],
  ])('with a rate limit has the time to retry, given as %s', async (_form, headers, seconds) => {
    world.server.answerWith((call) => call.fail(429, 'slow down', headers as Record<string, string>));
    expect((await failureOf(connect().generate(request, { signal: noAbort() }))).retryAfterSeconds).toBe(seconds);
  });

  it('with a rate limit until a date has the time to wait', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    world.server.answerWith((call) => call.fail(429, 'slow down', { 'retry-after': date }));
    const { retryAfterSeconds } = await failureOf(connect().generate(request, { signal: noAbort() }));
    expect(retryAfterSeconds).toSatisfy((seconds: number) => seconds > 50 && seconds <= 60);
  });

  it('never has the key in its message', async () => {
    world.server.answerWith((call) =>
      call.fail(400, `Bearer ${key} is not allowed, nor is ${key} or sk-proj-****abcd1234`),
    );
    const errors = await failuresOf(connect(), request);
    for (const { message } of errors) expect(message).not.toMatch(/0123456789|abcd1234/);
  });

  it('is described by its status if it returns an HTML page', async () => {
    world.server.answerWith((call) => call.head(404, { 'content-type': 'text/html' }).end('<h1>Nothing here</h1>'));
    const error = await failureOf(connect().generate(request, { signal: noAbort() }));
    expect([error.code, error.message]).toEqual([
      'provider_failed',
      '"Local" rejected the request (404). Provider message: Not Found',
    ]);
  });

  describe('by silence', () => {
    // Long enough that a machine that is busy has opened the connection, or sent the next byte, before.
    const short: TimeLimits = { firstByteSeconds: 0.5, betweenBytesSeconds: 60 };
    const shortBetween: TimeLimits = { firstByteSeconds: 60, betweenBytesSeconds: 0.5 };
    const longerBetween: TimeLimits = { firstByteSeconds: 60, betweenBytesSeconds: 1 };

    it('before any byte is provider_silent and its socket is closed', async () => {
      const answer = failureOf(connect(short).generate(request, { signal: noAbort() }));
      const call = await world.server.nextCall();
      expect((await answer).code).toBe('provider_silent');
      await call.closed;
    });

    it('after the head is provider_silent: a head is not a first byte', async () => {
      world.server.answerWith((call) => call.openEventStream());
      expect((await collect(connect(short).stream(request, { signal: noAbort() }))).error?.code).toBe(
        'provider_silent',
      );
    });

    it('in the middle is provider_silent after the partial answer', async () => {
      const parts = collect(connect(shortBetween).stream(request, { signal: noAbort() }));
      const call = (await world.server.nextCall()).openEventStream();
      await call.chatDelta({ content: 'so far' });
      const { content, error } = await parts;
      expect([content, error?.code]).toEqual(['so far', 'provider_silent']);
      await call.closed;
    });

    it('ends with a comment that keeps the connection alive', async () => {
      const parts = collect(connect(longerBetween).stream(request, { signal: noAbort() }));
      const call = (await world.server.nextCall()).openEventStream();
      for (let comments = 0; comments < 24; comments++) {
        await call.write(': still thinking\n\n');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await call.chatDelta({ content: 'done' });
      await call.chatEnd();
      expect((await parts).content).toBe('done');
    });

    it("doesn't count while our own reader is slow", async () => {
      const provider = connect(longerBetween);
      const parts = provider.stream(request, { signal: noAbort() })[Symbol.asyncIterator]();
      const first = parts.next();
      const call = (await world.server.nextCall()).openEventStream();
      const sending = (async () => {
        for (let piece = 0; piece < 400; piece++) await call.chatDelta({ content: 'x'.repeat(64 * 1024) });
        await call.chatEnd();
      })();
      await first;
      await new Promise((resolve) => setTimeout(resolve, 1200));
      let last: unknown = null;
      for (let next = await parts.next(); !next.done; next = await parts.next()) last = next.value;
      await sending;
      expect(last).toMatchObject({ type: 'finish' });
    });
  });

  describe('by a broken answer', () => {
    it('truncated in the middle is provider_failed after the partial answer', async () => {
      const parts = collect(connect().stream(request, { signal: noAbort() }));
      const call = (await world.server.nextCall()).openEventStream();
      await call.chatDelta({ content: 'so far' });
      call.cut();
      const { content, error, finish } = await parts;
      expect([content, error?.code, finish]).toEqual(['so far', 'provider_failed', null]);
    });

    it('that ends in the middle is provider_failed, and no answer', async () => {
      const parts = collect(connect().stream(request, { signal: noAbort() }));
      const call = (await world.server.nextCall()).openEventStream();
      await call.chatDelta({ content: 'so far' });
      call.end();
      const { content, error, finish } = await parts;
      expect([content, error?.code, finish]).toEqual(['so far', 'provider_failed', null]);
    });

    it.each([
      ['text that is no JSON', 'data: {"choices": [oops\n\n'],
      ['JSON of another form', 'data: {"hello": "world"}\n\n'],
      ['bytes that are no text', Uint8Array.of(100, 97, 116, 97, 58, 32, 255, 254, 10, 10)],
    ])('with %s in the stream is provider_failed', async (_kind, garbage) => {
      const parts = collect(connect().stream(request, { signal: noAbort() }));
      const call = (await world.server.nextCall()).openEventStream();
      await call.chatDelta({ content: 'so far' });
      await call.write(garbage);
      const { content, error } = await parts;
      expect([content, error?.code]).toEqual(['so far', 'provider_failed']);
      // Nothing more is wanted of it: the socket must not stay open until it ends by itself.
      await call.closed;
    });

    it('with an endless line is aborted, and its socket is closed', async () => {
      world.server.answerWith(async (call) => {
        call.openEventStream();
        await call.write('data: ');
        const piece = Buffer.alloc(4 * 1_048_576, 'x');
        while (!call.socket.destroyed) await Promise.race([call.write(piece), call.closed]);
      });
      const { error } = await collect(connect().stream(request, { signal: noAbort() }));
      expect(error).toMatchObject({ code: 'provider_failed' });
      await world.server.calls[0]!.closed;
    });

    it('with an error event in the stream is provider_failed with its message', async () => {
      const parts = collect(connect().stream(request, { signal: noAbort() }));
      const call = (await world.server.nextCall()).openEventStream();
      await call.chatDelta({ content: 'so far' });
      await call.event({ error: { message: `The model ${key} crashed.`, type: 'server_error' } });
      const { error } = await parts;
      expect([error?.code, error?.message]).toEqual([
        'provider_failed',
        'Error from "Local" during its answer. Provider message: The model [key] crashed.',
      ]);
    });

    it.each([
      ['that is no JSON', '<html>hello</html>'],
      ['of another form', '{"hello": "world"}'],
      ['that is empty', ''],
    ])('with the complete body %s is provider_failed', async (_kind, body) => {
      world.server.answerWith((call) => call.head(200, { 'content-type': 'application/json' }).end(body));
      expect((await failureOf(connect().generate(request, { signal: noAbort() }))).code).toBe('provider_failed');
    });

    it('with a truncated body is provider_failed', async () => {
      const answer = failureOf(connect().generate(request, { signal: noAbort() }));
      const call = (await world.server.nextCall()).head(200, { 'content-length': '1000' });
      await call.write('{"choices": [');
      call.cut();
      expect((await answer).code).toBe('provider_failed');
    });
  });

  it('to connect is provider_failed with its host', async () => {
    const removed = await startScriptedProvider();
    await removed.close();
    const [whole, streamed] = await failuresOf(connect(patientLimits, removed.baseAddress), request);
    const { host } = new URL(removed.baseAddress);
    for (const error of [whole!, streamed!]) {
      expect([error.code, error.message]).toEqual([
        'provider_failed',
        `Couldn't reach "Local" at ${host}. Check the network and the base address in Settings, Providers and keys.`,
      ]);
    }
  });

  it('to resolve its name is provider_failed with its host', async () => {
    const provider = connect(patientLimits, 'http://no-such-host.invalid/v1');
    const error = await failureOf(provider.generate(request, { signal: noAbort() }));
    expect([error.code, error.message.includes('no-such-host.invalid')]).toEqual(['provider_failed', true]);
  });
});
