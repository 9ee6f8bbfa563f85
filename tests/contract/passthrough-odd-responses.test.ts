// @module-tag slow
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

/** Responses as no library of a provider expects them: their bytes are the same through Touchstone, and the record is right. */

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  for (const aiSystem of ['OpenAi', 'Anthropic'] as const)
    host.host.storage.providerCache.setBaseAddress(aiSystem, host.provider.baseAddress);
});
afterAll(() => host.close());

interface Received {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: number;
  readonly hash: string;
  /** Whether the response ends as its head says. */
  readonly isComplete: boolean;
}

const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] });

function send(address: string, headers: Record<string, string> = {}, method = 'POST'): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(address, {
      method,
      agent: false,
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer sk-own',
        'x-touchstone-key': host.key,
        ...headers,
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const hash = createHash('sha256');
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        hash.update(chunk);
      });
      response.on('error', () => {});
      response.on('close', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          bytes,
          hash: hash.digest('hex'),
          isComplete: response.complete,
        }),
      );
    });
    request.end(method === 'POST' ? body : undefined);
  });
}

const paths = { chat: '/chat/completions', messages: '/messages', responses: '/responses' };
type Api = keyof typeof paths;

/** The response of a direct call and of a passed one, and the record. `reply` is everything that the provider's socket sends. */
async function compare(api: Api, reply: readonly (string | Buffer)[], headers: Record<string, string> = {}) {
  host.provider.answerWith(async ({ socket }) => {
    for (const part of reply) await new Promise<void>((resolve) => socket.write(part, () => resolve()));
    socket.end();
  });
  const direct = await send(host.provider.baseAddress + paths[api], headers);
  const passed = await send(
    `${host.listener.address}/${api === 'messages' ? 'anthropic' : 'openai'}/v1${paths[api]}`,
    headers,
  );
  for (const field of ['status', 'bytes', 'hash', 'isComplete'] as const) expect(passed[field]).toBe(direct[field]);
  const runId = String(passed.headers['x-touchstone-run-id']);
  await expect.poll(() => host.host.storage.runs.read(runId)!.status).not.toBe('Running');
  return { passed, run: host.host.storage.runs.read(runId)! };
}

const head = (fields = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n${fields}\r\n`;
const chunked = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part as string);
      return [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')];
    }),
  );
const asChunks = 'Transfer-Encoding: chunked\r\n';
const last = '0\r\n\r\n';

const delta = (content: string, index = 0) =>
  `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
const stop = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

const events = (...values: readonly { type: string }[]) =>
  values.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`).join('');
const startEvents = [
  { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 9, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Blue.' } },
];
const endEvents = [
  { type: 'ping' },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
];
const responseEvents = [
  { type: 'response.created', response: { id: 'resp_1' } },
  { type: 'response.output_text.delta', delta: 'Blue.' },
  { type: 'response.completed', response: { id: 'resp_1', output: [], usage: { input_tokens: 9, output_tokens: 4 } } },
];

const answerOf = ({ status, output: { content, error } }: RunDetail) => ({
  status,
  content,
  error: error?.message ?? null,
});
const blue = { status: 'Completed', content: 'Blue.', error: null };

describe('a stream of events', () => {
  const streams: [Api, string][] = [
    ['chat', delta('Bl') + delta('ue.') + stop],
    ['messages', events(...startEvents, ...endEvents)],
    ['responses', events(...responseEvents)],
  ];
  test.each(
    streams.flatMap(([api, stream]) =>
      ['\r\n', '\r'].map((end) => ({ api, end: JSON.stringify(end), stream: stream.replaceAll('\n', end) })),
    ),
  )('of $api may have lines that end with $end', async ({ api, stream }) => {
    const middle = Math.floor(stream.length / 2);
    const { run } = await compare(api, [head(asChunks), chunked(stream.slice(0, middle), stream.slice(middle)), last]);
    expect(answerOf(run)).toEqual(blue);
  });

  test('may end in the middle of a character', async () => {
    const part = Buffer.from(delta('Bl\u00fc')).subarray(0, -8);
    const { run } = await compare('chat', [
      head(asChunks),
      chunked(delta('Blue'), part.subarray(0, part.indexOf(0xc3) + 1)),
      last,
    ]);
    expect(answerOf(run)).toMatchObject({
      status: 'Failed',
      content: 'Blue',
      error: expect.stringContaining('before it was complete'),
    });
  });

  test('may have 100,000 tiny events', async () => {
    const { run } = await compare('chat', [head(asChunks), chunked(delta('x').repeat(100_000), stop), last]);
    expect([run.status, run.output.content.length, run.frames?.count]).toEqual(['Completed', 100_000, 100_002]);
  });

  test('may have one event of 50 MB', async () => {
    const { run, passed } = await compare('chat', [
      head(asChunks),
      chunked(delta('Blue.'), delta('x'.repeat(50_000_000)), stop),
      last,
    ]);
    expect(passed.bytes).toBeGreaterThan(50_000_000);
    expect(run.status).toBe('Completed');
    expect(run.output.content).toMatch(/^Blue\..*not recorded/s);
  });

  test.each(['gzip', 'br', 'deflate'] as const)('may be compressed: %s', async (encoding) => {
    const compress = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }[encoding];
    const reply = [
      head(`Content-Encoding: ${encoding}\r\n${asChunks}`),
      chunked(compress(delta('Blue.') + stop)),
      last,
    ];
    const { run, passed } = await compare('chat', reply, { 'accept-encoding': encoding });
    expect(passed.headers['content-encoding']).toBe(encoding);
    expect(host.provider.calls.at(-1)!.headers['accept-encoding']).toBe(encoding);
    expect(answerOf(run)).toEqual(blue);
  });

  test('may have trailers, and hints before its head', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n';
    const { run } = await compare('chat', [
      hints,
      head(`Trailer: x-sum\r\n${asChunks}`),
      chunked(delta('Blue.') + stop),
      '0\r\nx-sum: 1\r\n\r\n',
    ]);
    expect(answerOf(run)).toEqual(blue);
  });

  test('may end with its connection', async () => {
    const { run } = await compare('chat', [head(), delta('Blue.') + stop]);
    expect(answerOf(run)).toEqual(blue);
  });

  test.each([
    ['no last chunk', head(asChunks), chunked(delta('Blue.'))],
    ['a length that it has not', head('Content-Length: 9999\r\n'), Buffer.from(delta('Blue.'))],
    ['no last chunk after its last event', head(asChunks), chunked(delta('Blue.') + stop)],
  ])('that has %s breaks for the program, too', async (_what, first, rest) => {
    const { run, passed } = await compare('chat', [first, rest]);
    expect(passed.isComplete).toBe(false);
    expect(run.output.content).toBe('Blue.');
  });

  test('may fail in the middle, as Anthropic says it', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const { run } = await compare('messages', [head(asChunks), chunked(events(...startEvents, error)), last]);
    expect(answerOf(run)).toEqual({ status: 'Failed', content: 'Blue.', error: 'Overloaded' });
  });

  test('may end with null for what it has counted at its start', async () => {
    const usage = { input_tokens: null, cache_read_input_tokens: null, output_tokens: 4 };
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage };
    const stream = events(...startEvents, end, { type: 'message_stop' });
    const { run } = await compare('messages', [head(asChunks), chunked(stream), last]);
    expect(run.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4 });
  });

  test.each([
    ['breaks off', 'Failed', ''],
    ['ends', 'Completed', 'data: [DONE]\n\n'],
  ])('may have an empty finish reason in each chunk; one that %s is %s', async (_how, status, end) => {
    const choices = [{ index: 0, delta: { content: 'Blue.' }, finish_reason: '' }];
    const stream = `data: ${JSON.stringify({ choices })}\n\n${end}`;
    const { run } = await compare('chat', [head(asChunks), chunked(stream), last]);
    expect(answerOf(run)).toMatchObject({ status, content: 'Blue.' });
  });

  test('may have several choices, calls in parallel, a refusal, audio and images', async () => {
    const chunk = (choice: object, more: object = {}) => `data: ${JSON.stringify({ choices: [choice], ...more })}\n\n`;
    const call = (index: number, fields: object) => chunk({ index: 0, delta: { tool_calls: [{ index, ...fields }] } });
    const stream =
      delta('One') +
      delta('Two', 1) +
      call(0, { id: 'a', function: { name: 'look', arguments: '{"x"' } }) +
      call(1, { id: 'b', function: { name: 'look', arguments: '{"y"' } }) +
      call(0, { function: { arguments: ':1}' } }) +
      call(1, { function: { arguments: ':2}' } }) +
      chunk({ index: 0, delta: { refusal: ' No.' } }) +
      chunk({ index: 0, delta: { audio: { id: 'au', transcript: ' Said.', data: 'AAAA' } } }) +
      chunk({ index: 0, delta: { images: [{ image_url: { url: `data:image/png;base64,${'A'.repeat(600)}` } }] } }) +
      chunk({ index: 0, delta: {}, finish_reason: 'tool_calls' }) +
      chunk({ index: 1, delta: {}, finish_reason: 'stop' }) +
      `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } })}\n\ndata: [DONE]\n\n`;
    const { run } = await compare('chat', [head(asChunks), chunked(...stream.split(/(?<=\n\n)/)), last]);
    expect(run).toMatchObject({
      status: 'Completed',
      usage: { total_tokens: 7 },
      output: {
        content: expect.stringMatching(/^One No\. Said\.\n\[image\] image\/png, 450 bytes.*\n\n\[choice 2\]\nTwo$/s),
        toolCalls: [
          { id: 'a', name: 'look', arguments: '{"x":1}' },
          { id: 'b', name: 'look', arguments: '{"y":2}' },
        ],
      },
    });
  });
});

describe('the head of a response', () => {
  test.each([
    ['nothing', Buffer.from('')],
    ['UTF-8', Buffer.from('\u6210\u529f')],
    ['Latin-1', Buffer.from('Ol\u00e9', 'latin1')],
    ['a control character', Buffer.from('a\u0001b')],
  ])('may have %s as its reason', async (_what, reason) => {
    const start = Buffer.concat([Buffer.from('HTTP/1.1 200 '), reason, Buffer.from('\r\nConnection: close\r\n\r\n')]);
    const { run } = await compare('chat', [start, delta('Blue.') + stop]);
    expect(answerOf(run)).toEqual(blue);
  });

  test("has none of the headers that are Touchstone's own", async () => {
    const own = 'X-Touchstone-Run-Id: other\r\nX-Touchstone-Odd: 1\r\n';
    const { run, passed } = await compare('chat', [head(own), delta('Blue.') + stop]);
    expect(passed.headers['x-touchstone-run-id']).toBe(run.runId);
    expect(passed.headers).not.toHaveProperty('x-touchstone-odd');
  });

  test('with a status that HTTP has not is an error of the API', async () => {
    host.provider.answerWith(({ socket }) => void socket.end('HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}'));
    const response = await fetch(`${host.listener.address}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-own', 'x-touchstone-key': host.key },
      body,
    });
    expect([response.status, await response.json()]).toEqual([
      502,
      { error: expect.objectContaining({ type: 'server_error', code: 'provider_failed' }) },
    ]);
    const run = host.host.storage.runs.read(response.headers.get('x-touchstone-run-id')!)!;
    expect(answerOf(run)).toMatchObject({ status: 'Failed', error: expect.stringContaining('999') });
  });
});

describe('a response without a body', () => {
  test.each([204, 304])('has the status %i, and leaves its connection usable', async (status) => {
    const { run, passed } = await compare('chat', [`HTTP/1.1 ${status} X\r\nConnection: close\r\n\r\n`]);
    expect([passed.status, passed.bytes, run.httpStatus]).toEqual([status, 0, status]);
  });

  test('has no body for HEAD either', async () => {
    const { status, bytes } = await send(`${host.listener.address}/openai/v1/models`, {}, 'HEAD');
    expect([status, bytes]).toEqual([405, 0]);
  });
});

test('headers that HTTP/2 lacks or has only once reach a caller of HTTP/2 as far as they can', async () => {
  const odd =
    'HTTP2-Settings: AAAA\r\nX-Touchstone-Recorded: none\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nETag: "a"\r\nETag: "b"';
  const types = 'Content-Type: application/json\r\nContent-Type: text/plain';
  host.provider.answerWith((call) =>
    call.socket.end(`HTTP/1.1 200 OK\r\n${types}\r\n${odd}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`),
  );
  const { status, headers, text } = await host.send('HTTP/2', {
    method: 'POST',
    path: '/openai/v1/chat/completions',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-own', 'x-touchstone-key': host.key },
    body,
  });
  expect([status, text]).toEqual([200, '{}']);
  expect(headers).toMatchObject({
    'content-type': 'application/json, text/plain',
    etag: '"a", "b"',
    'set-cookie': ['a=1', 'b=2'],
    'x-touchstone-recorded': 'all',
  });
  expect(headers).not.toHaveProperty('http2-settings');
});
