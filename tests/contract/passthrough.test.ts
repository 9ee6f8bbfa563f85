// @module-tag slow
import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { comparableHeaders, ofConnection, rawCall } from '../support/raw-calls.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { readAll, startTestHost, type TestHost, ways } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(null));

const path = '/openai/scripted/v1/chat/completions';
const question = { model: 'scripted', messages: [{ role: 'user', content: 'Which colour is the sky?' }] };

function call(body: unknown, headers: Record<string, string> = {}) {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${host.key}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

function recordOf(headers: Record<string, string | string[] | undefined>): RunDetail {
  const run = host.host.storage.runs.read(String(headers['x-touchstone-run-id']));
  if (!run) throw new Error('The call is not in the audit');
  return run;
}

/** The same call at the provider and through Touchstone: what the provider got, and what the program got. */
async function compare(answer: (call: ScriptedCall) => unknown, body: string, headers: readonly string[] = []) {
  const sent: { body: string; headers: [string, string][] }[] = [];
  host.provider.answerWith((received) => {
    sent.push({
      body: received.bodyText,
      headers: comparableHeaders(received.rawHeaders, [...ofConnection, 'authorization']),
    });
    return answer(received);
  });
  const all = ['Content-Type', 'application/json', 'User-Agent', 'program/1.0', ...headers];
  const length = ['Content-Length', String(Buffer.byteLength(body))];
  const direct = await rawCall(
    `${host.provider.baseAddress}/chat/completions`,
    ['Host', new URL(host.provider.baseAddress).host, ...all, ...length],
    body,
  );
  const own = ['Host', new URL(host.listener.address).host, 'Authorization', `Bearer ${host.key}`];
  const passed = await rawCall(`${host.listener.address}${path}`, [...own, ...all, ...length], body);
  const received = [direct, passed].map((response) => ({
    ...response,
    headers: comparableHeaders(response.headers, [...ofConnection, 'date']),
  }));
  return { sent, received, passed };
}

describe('a passed call', () => {
  const spaced =
    '{ "model":"scripted",  "messages":[{"role":"user","content":"\\u0041 \u00e4"}], "unknown_field": {"x":[1, 2]} }';

  test.each<[string, (received: ScriptedCall) => unknown]>([
    ['a whole answer', (received) => received.chatAnswer({ content: 'Blue.' })],
    ['a stream', (received) => received.chatStream(['Bl', 'ue', '.'])],
    [
      'a stream with tools',
      (received) => received.chatCalls([{ id: 'call_1', name: 'look', arguments: '{"at":"sky"}' }]),
    ],
    ['an error', (received) => received.fail(429, 'Slow down', { 'Retry-After': '3', 'X-RateLimit-Left': '0' })],
    [
      'a response with long headers',
      (received) => received.head(200, { 'X-Policy': 'a'.repeat(14_000), 'X-More': 'b'.repeat(14_000) }).end('{}'),
    ],
    [
      'a response in no known format',
      (received) => received.head(218, { 'X-Odd': 'yes', 'Set-Cookie': 'a=b' }).end('<odd>'),
    ],
    [
      'a compressed response',
      (received) =>
        received
          .head(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .write(gzipSync(JSON.stringify({ choices: [{ message: { content: 'Blue.' }, finish_reason: 'stop' }] })))
          .then(() => received.end()),
    ],
  ])('is the same at both ends as without Touchstone: %s', async (_, answer) => {
    const { sent, received } = await compare(answer, spaced, ['X-Custom', 'Kept As Is', 'Accept-Encoding', 'gzip']);
    expect(sent[1]).toEqual(sent[0]);
    expect(received[1]).toEqual(received[0]);
  });

  test('whose response has more than 64 KB of headers fails with a reason', async () => {
    host.provider.answerWith((received) => received.head(200, { 'X-Policy': 'a'.repeat(70_000) }).end('{}'));
    const { status, text } = await host.send('HTTP/1.1', call(question));
    expect([status, JSON.parse(text).error.message]).toEqual([502, expect.stringContaining('more than 64 KB')]);
  });

  test.each(ways)('is recorded, %s', async (way) => {
    host.provider.answerWith((received) => received.chatStream(['Bl', 'ue.']));
    const { status, headers, text } = await host.send(
      way,
      call({ ...question, stream: true, temperature: 0.5 }, { 'user-agent': 'agent/2' }),
    );
    expect({ status, end: text.endsWith('data: [DONE]\n\n') }).toEqual({ status: 200, end: true });
    expect(headers['x-touchstone-recorded']).toBe('all');
    expect(recordOf(headers)).toMatchObject({
      status: 'Completed',
      aiSystem: 'OpenAiCompatible',
      model: 'scripted/scripted',
      origin: { api: 'openai-chat', client: 'agent/2' },
      httpStatus: 200,
      conversationId: headers['x-touchstone-conversation-id'],
      title: 'Which colour is the sky?',
      input: { configuration: { temperature: 0.5 } },
      output: { content: 'Blue.', finishReason: 'Stop', error: null },
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    });
  });

  test('that breaks in the middle breaks for the program, and is recorded as broken', async () => {
    const pending = host.begin('HTTP/1.1', call({ ...question, stream: true }));
    const received = await host.provider.nextCall();
    await received.openEventStream().chatDelta({ content: 'Bl' });
    const response = await pending.response;
    const broken = new Promise((resolve) => response.body.once('close', resolve));
    received.cut();
    response.body.resume();
    await broken;
    expect((response.body as IncomingMessage).complete).toBe(false);
    expect(recordOf(response.headers)).toMatchObject({
      status: 'Failed',
      output: { content: 'Bl', error: { code: 'provider_failed' } },
    });
  });

  test('of a program that leaves closes the provider at once, and is recorded as cancelled', async () => {
    const pending = host.begin('HTTP/1.1', call({ ...question, stream: true }));
    const received = await host.provider.nextCall();
    await received.openEventStream().chatDelta({ content: 'Bl' });
    const response = await pending.response;
    response.leave();
    await received.closed;
    await expect.poll(() => recordOf(response.headers).status).toBe('Cancelled');
  });

  test('with the provider key of the program takes it along and stores it nowhere', async () => {
    host.provider.answerWith((received) =>
      received.chatAnswer({ content: `Your key is ${received.headers.authorization}` }),
    );
    const { headers } = await host.send(
      'HTTP/1.1',
      call(question, { authorization: 'Bearer sk-its-own-provider-key', 'x-touchstone-key': host.key }),
    );
    const { headers: received } = host.provider.calls.at(-1)!;
    expect(received.authorization).toBe('Bearer sk-its-own-provider-key');
    expect(Object.keys(received).filter((name) => name.startsWith('x-touchstone'))).toEqual([]);
    expect(recordOf(headers).output.content).toBe('Your key is Bearer [redacted]');
    const runId = String(headers['x-touchstone-run-id']);
    await expect.poll(() => host.host.storage.exchanges.read(runId)).toContain('[redacted]');
    expect(host.host.storage.exchanges.read(runId)).not.toContain('sk-its-own');
  });

  test('with its own key as Azure takes it takes that along alone, and stores it nowhere', async () => {
    const ownKey = 'azure-key-of-the-program';
    host.provider.answerWith((received) =>
      received.chatAnswer({ content: `Your key is ${received.headers['api-key']}` }),
    );
    const keys = { 'api-key': ownKey, 'x-touchstone-key': host.key };
    const { authorization: _, ...rest } = call(question).headers;
    const { headers } = await host.send('HTTP/1.1', { ...call(question), headers: { ...rest, ...keys } });
    const { headers: received } = host.provider.calls.at(-1)!;
    expect([received['api-key'], received.authorization]).toEqual([ownKey, undefined]);
    expect(recordOf(headers).output.content).toBe('Your key is [redacted]');
    const runId = String(headers['x-touchstone-run-id']);
    await expect.poll(() => host.host.storage.exchanges.read(runId)).toContain('[redacted]');
    expect(host.host.storage.exchanges.read(runId)).not.toContain(ownKey);
  });

  test.each(ways)('never takes a key of Touchstone along, in whichever header, %s', async (way) => {
    host.provider.answerWith((received) => received.chatAnswer({ content: 'Blue.' }));
    const { authorization: _, ...rest } = call(question).headers;
    const others = { 'x-custom': `key=${host.key}`, cookie: `a=${host.key}`, 'x-trace': 'ts_1780000000' };
    const { status } = await host.send(way, {
      ...call(question),
      headers: { ...rest, ...others, 'api-key': host.key },
    });
    const { rawHeaders, headers: received } = host.provider.calls.at(-1)!;
    expect([status, rawHeaders.filter((value) => value.includes(host.key))]).toEqual([200, []]);
    expect(received['x-trace']).toBe('ts_1780000000');
  });

  test('waits for a slow program, and the provider with it', async () => {
    const pending = host.begin('HTTP/1.1', call({ ...question, stream: true }));
    const received = await host.provider.nextCall();
    received.openEventStream();
    const { body, headers } = await pending.response;
    const text = 'x'.repeat(65_536);
    const parts = 400;
    const writing = (async () => {
      for (let part = 0; part < parts; part += 1) await received.chatDelta({ content: text });
      await received.chatEnd();
    })();
    const whole = await readAll(body);
    await writing;
    expect(whole.length).toBeGreaterThan(parts * text.length);
    const notRecorded = parts * text.length - 8 * 1_048_576;
    const mark = ` [${notRecorded} more characters are not recorded]`;
    await expect.poll(() => recordOf(headers).output.content.slice(8 * 1_048_576)).toBe(mark);
  });
});

describe('errors', () => {
  test('have the format of the API', async () => {
    const wrong = await host.send('HTTP/1.1', call(question, { authorization: 'Bearer ts_wrong' }));
    expect({ status: wrong.status, body: JSON.parse(wrong.text) }).toMatchObject({
      status: 401,
      body: {
        error: { type: 'authentication_error', code: 'unauthorized', message: expect.stringContaining('unknown') },
      },
    });
    const missing = await host.send('HTTP/1.1', {
      method: 'POST',
      path: '/anthropic/v1/messages',
      headers: { 'x-api-key': host.key },
      body: '{}',
    });
    expect({ status: missing.status, body: JSON.parse(missing.text) }).toMatchObject({
      status: 503,
      body: {
        type: 'error',
        error: { type: 'api_error', message: expect.stringContaining('Anthropic has no API key') },
      },
    });
  });

  test.each([
    '/openai/v1/images',
    '/openai/nowhere/v1/models',
    '/anthropic/v2/messages',
    '/openai/v1/models/..%2ffiles',
    '/openai/v1/models/a%5C%2e.%5Cfiles',
    '/anthropic/v1/models/%2E%2e%2Ffiles',
    '/openai/v1/models/a%252f..%25252Ffiles',
    '/openai/scripted/v1/models/..%2ffiles',
    '/openai/scripted/v1/models/a/..%2f..%2ffiles',
    '/openai/scripted/v1/models/',
    '/openai/nowhere/v1/models/a',
  ])('an unknown path is 404: %s', async (unknown) => {
    const { status, text } = await host.send('HTTP/1.1', {
      path: unknown,
      headers: { authorization: `Bearer ${host.key}` },
    });
    expect({ status, error: typeof JSON.parse(text).error.message }).toEqual({ status: 404, error: 'string' });
  });
});

describe('conversations', () => {
  test('have all calls of an agent', async () => {
    const messages: object[] = [
      { role: 'system', content: 'You fix code.' },
      { role: 'user', content: 'Fix it' },
    ];
    const conversations = new Set<unknown>();
    for (let step = 0; step < 40; step += 1) {
      host.provider.answerWith((received) =>
        received.chatCalls([{ id: `call_${step}`, name: 'read', arguments: `{"file": ${step}}` }], `Step ${step}.`),
      );
      const { headers } = await host.send('HTTP/1.1', call({ ...question, messages, stream: true }));
      conversations.add(headers['x-touchstone-conversation-id']);
      messages.push(
        {
          role: 'assistant',
          content: `Step ${step}.`,
          tool_calls: [
            { id: `call_${step}`, type: 'function', function: { name: 'read', arguments: `{"file":${step}}` } },
          ],
        },
        { role: 'tool', tool_call_id: `call_${step}`, content: `Content ${step}` },
      );
    }
    expect(conversations.size).toBe(1);
    host.provider.answerWith((received) => received.chatAnswer({ content: 'Yes' }));
    const { headers } = await host.send('HTTP/1.1', call({ ...question, messages: messages.slice(0, 2) }));
    expect(conversations.has(headers['x-touchstone-conversation-id'])).toBe(false);
  });
});

describe('rules', () => {
  test.each([
    ['metadata', { recorded: 'metadata', title: '', content: '', tokens: 12 }],
    ['none', { recorded: 'none', title: null, content: null, tokens: null }],
  ] as const)('of a key limit what is recorded: %s', async (recordLevel, expected) => {
    const key = host.issueKey({ recordLevel });
    host.provider.answerWith((received) => received.chatAnswer({ content: 'Blue.' }));
    const { headers } = await host.send(
      'HTTP/1.1',
      call(question, { authorization: `Bearer ${key}`, 'x-touchstone-record': 'all' }),
    );
    const run = recordLevel === 'none' ? null : recordOf(headers);
    expect({
      recorded: headers['x-touchstone-recorded'],
      title: run && run.title,
      content: run && run.output.content,
      tokens: run && run.usage!.total_tokens,
    }).toEqual(expected);
  });

  test('credits are used up as by completions', async () => {
    const key = host.issueKey({ creditLimit: 1 });
    host.provider.answerWith((received) => received.chatAnswer({ content: 'Blue.' }));
    const first = await host.send('HTTP/1.1', call(question, { authorization: `Bearer ${key}` }));
    const second = await host.send('HTTP/1.1', call(question, { authorization: `Bearer ${key}` }));
    expect([first.status, second.status, JSON.parse(second.text).error.type]).toEqual([200, 402, 'insufficient_quota']);
  });
});
