// @module-tag slow
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createParser } from 'eventsource-parser';
import OpenAI from 'openai';
import { Stream } from 'openai/streaming';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { judgeArray, judgeError, judgeEvents, judgeSync, type JudgedRun } from '../support/specification-judge.ts';
import { completionCall, readAll, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(null));

const streams = [
  { path: '/api/completions/sse', judge: judgeEvents },
  { path: '/api/completions/stream', judge: judgeArray },
];
const everywhere = [...streams, { path: '/api/completions/sync', judge: judgeSync }];

/** Opens a stream whose provider has sent some text and waits for the test. */
async function openStream(way: Way, path: string, texts: readonly string[]) {
  const pending = host.begin(way, completionCall(host, path));
  const call = await host.provider.nextCall();
  call.openEventStream();
  for (const content of texts) await call.chatDelta({ content });
  const response = await pending.response;
  const seen = Promise.withResolvers<void>();
  let text = '';
  response.body.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (texts.every((one) => text.includes(JSON.stringify(one)))) seen.resolve();
  });
  const finished = new Promise<void>((resolve) => response.body.once('end', resolve).once('close', resolve));
  await seen.promise;
  return { call, response, received: () => text, finished };
}

const runIdIn = (text: string): string => /"runId":"([^"]+)"/.exec(text)?.[1] ?? '';

/** The run once its outcome is kept. */
async function settled(runId: string) {
  await host.host.completions.active(runId)?.recorded;
  return host.host.storage.runs.read(runId);
}

describe.each(ways)('%s', (way) => {
  test.each(streams)('$path sends every chunk as soon as the provider has sent it', async ({ path, judge }) => {
    const { call, response, received, finished } = await openStream(way, path, ['One ', 'two ']);
    await call.chatDelta({ content: 'three' });
    await call.chatEnd();
    await finished;
    const run = judge({ ...response, text: received() });
    expect([run.fragments, run.finishReason]).toEqual([['One ', 'two ', 'three'], 'Stop']);
  });

  test.each(streams)('$path keeps the pieces that arrive together', async ({ path, judge }) => {
    const pieces = Array.from({ length: 300 }, (_, index) => ` piece ${index}`);
    host.provider.answerWith(async (call) => {
      const events = pieces.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }));
      await call.openEventStream().write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
      await call.chatEnd();
    });
    const run = judge(await host.send(way, completionCall(host, path)));
    expect(run.fragments).toEqual(pieces);
  });

  test.each(streams)(
    '$path: a caller that disconnects ends the call at the provider, and the run is recorded',
    async ({ path }) => {
      const { call, response, received } = await openStream(way, path, ['Partial ', 'text']);
      response.leave();
      await call.closed;
      expect(await settled(runIdIn(received()))).toMatchObject({
        status: 'Cancelled',
        output: { content: 'Partial text', finishReason: 'Cancelled', error: null },
        credits: 1,
      });
    },
  );

  test('a caller without streaming that disconnects ends the call and pays nothing before the first byte', async () => {
    const pending = host.begin(way, completionCall(host, '/api/completions/sync'));
    pending.response.catch(() => {});
    const call = await host.provider.nextCall();
    const [newest] = host.host.storage.runs.list({
      pageSize: 1,
      continuationToken: undefined,
      draftId: undefined,
    }).data;
    pending.leave();
    await call.closed;
    expect(await settled(newest?.runId ?? '')).toMatchObject({
      status: 'Cancelled',
      output: { content: '' },
      credits: 0,
    });
  });

  const breaks: [name: string, fail: (call: Awaited<ReturnType<TestHost['provider']['nextCall']>>) => unknown][] = [
    ['cuts the connection', (call) => call.cut()],
    ['ends without saying so', (call) => call.end()],
    [
      'sends an error event',
      (call) => call.event({ error: { message: 'Overloaded', type: 'server_error' } }).then(() => call.end()),
    ],
    ['sends garbage', (call) => call.event('{not json').then(() => call.end())],
  ];

  describe.each(streams)('$path', ({ path, judge }) => {
    test.each(breaks)('reports a provider that %s after the first byte as a last error', async (_, fail) => {
      const { call, response, received, finished } = await openStream(way, path, ['Begun ']);
      await fail(call);
      await finished;
      const run: JudgedRun = judge({ ...response, text: received() });
      expect(run).toMatchObject({
        content: 'Begun ',
        finishReason: null,
        error: { code: 'provider_failed', details: [] },
      });
      expect(run.error?.requestId).toBe(response.headers['x-request-id']);
      expect(await settled(run.runId)).toMatchObject({
        status: 'Failed',
        output: { content: 'Begun ', finishReason: 'Error', error: { code: 'provider_failed' } },
        credits: 1,
      });
    });
  });

  const failures: [status: number, headers: Record<string, string>, ours: number, code: string][] = [
    [400, {}, 400, 'invalid_request'],
    [401, {}, 503, 'provider_key_refused'],
    [403, {}, 503, 'provider_key_refused'],
    [429, { 'retry-after': '17' }, 429, 'rate_limited'],
    [500, {}, 502, 'provider_failed'],
    [503, {}, 503, 'provider_overloaded'],
    [529, {}, 503, 'provider_overloaded'],
  ];

  test.each(failures)("maps the provider's status %i %j to %i %s at no cost", async (status, headers, ours, code) => {
    for (const { path } of everywhere) {
      host.provider.answerWith((call) => call.fail(status, 'The provider says no', headers));
      const before = host.provider.calls.length;
      const answer = await host.send(way, completionCall(host, path));
      const error = judgeError(answer, ours);
      expect([
        error.code,
        answer.headers['retry-after'],
        answer.headers['x-credits-consumed'],
        host.provider.calls.length - before,
      ]).toEqual([code, headers['retry-after'], '0', 1]);
      if (status === 400) expect(error.message).toContain('The provider says no');
    }
  });

  test('a failure before the first byte returns the credit of a limited key', async () => {
    const limited = { key: host.issueKey({ creditLimit: 1 }) };
    host.provider.answerWith((call) => call.fail(500, 'No'));
    judgeError(await host.send(way, completionCall(limited, '/api/completions/sse')), 502);
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Yes' }));
    expect(judgeSync(await host.send(way, completionCall(limited, '/api/completions/sync'))).content).toBe('Yes');
  });
});

describe('a provider that stops responding', () => {
  beforeAll(() => {
    host.host.storage.settings.update({ timeLimits: { firstByteSeconds: 0.6, betweenBytesSeconds: 0.6 } });
  });
  afterAll(() => {
    host.host.storage.settings.update({ timeLimits: { firstByteSeconds: 60, betweenBytesSeconds: 30 } });
  });

  test.each(everywhere)('$path: is 504 before the first byte and costs nothing', async ({ path }) => {
    const pending = host.send('HTTP/1.1', completionCall(host, path));
    const call = await host.provider.nextCall();
    const answer = await pending;
    expect([judgeError(answer, 504).code, answer.headers['x-credits-consumed']]).toEqual(['provider_silent', '0']);
    await call.closed;
  });

  test.each(streams)('$path: is the last error between two chunks', async ({ path, judge }) => {
    const { call, response, received, finished } = await openStream('HTTP/2', path, ['Begun ']);
    await finished;
    expect(judge({ ...response, text: received() })).toMatchObject({
      content: 'Begun ',
      error: { code: 'provider_silent' },
    });
    await call.closed;
  });
});

test('eventsource-parser reads our events', async () => {
  host.provider.answerWith((call) => call.chatStream(['a\n\nb', '\r\n', ' \u2028c']));
  const { body } = await host.begin('HTTP/1.1', completionCall(host, '/api/completions/sse')).response;
  const events: { event: string | undefined; id: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: ({ event, id, data }) => events.push({ event, id, data }) });
  parser.feed(await readAll(body));
  const chunks = events.map(
    ({ data }) => JSON.parse(data) as { choice: { message: { content?: string }; finish_reason?: string } },
  );
  expect({
    named: events.filter(({ event, id }) => event !== undefined || id !== undefined),
    text: chunks.map(({ choice }) => choice.message.content ?? '').join(''),
    end: chunks.at(-1)?.choice.finish_reason,
  }).toEqual({ named: [], text: 'a\n\nb\r\n \u2028c', end: 'Stop' });
});

test("the openai package's client and stream reader read our events", async () => {
  host.provider.answerWith((call) => call.chatStream(['Hello ', 'from ', 'a stream']));
  const client = new OpenAI({ apiKey: host.key, baseURL: `${host.listener.address}/api`, maxRetries: 0 });
  const response = await client
    .post('/completions/sse', { body: { promptText: 'Hi', aiSystem: 'OpenAiCompatible', model: 'scripted/model' } })
    .asResponse();
  const stream = Stream.fromSSEResponse<{ choice: { message: { content?: string } } }>(response, new AbortController());
  let text = '';
  for await (const { choice } of stream) text += choice.message.content ?? '';
  expect(text).toBe('Hello from a stream');
});

const curl = promisify(execFile);
const curlVersion = await curl('curl', ['--version']).then(
  ({ stdout }) => stdout,
  () => '',
);

test.runIf(curlVersion.includes('HTTP2'))('curl with prior knowledge of HTTP/2 reads the array', async () => {
  host.provider.answerWith((call) => call.chatStream(['by ', 'curl']));
  const request = completionCall(host, '/api/completions/stream');
  const headers = Object.entries(request.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const { stdout } = await curl('curl', [
    '-sSN',
    '--http2-prior-knowledge',
    '--noproxy',
    '*',
    '-w',
    '\n%{http_version} %{http_code}',
    ...headers,
    '-d',
    String(request.body),
    `${host.listener.address}/api/completions/stream`,
  ]);
  const end = stdout.lastIndexOf('\n');
  const values = JSON.parse(stdout.slice(0, end)) as { choice: { message: { content?: string } } }[];
  expect([values.map(({ choice }) => choice.message.content ?? '').join(''), stdout.slice(end + 1)]).toEqual([
    'by curl',
    '2 200',
  ]);
});

test('logs nothing during these tests', () => {
  expect(host.log).toEqual([]);
});
