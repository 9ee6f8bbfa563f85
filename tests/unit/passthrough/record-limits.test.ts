// @module-tag slow
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { textOfMessage } from '../../../shared/contract/messages.ts';
import { readCheckedRequest } from '../../../electron/passthrough/check-prompt.ts';
import { CallRecord, type CallRecordOptions } from '../../../electron/passthrough/call-record.ts';
import { createCallReader } from '../../../electron/passthrough/create-call-reader.ts';
import { parseObject, readJson } from '../../../electron/passthrough/fields.ts';
import { type RequestInput, readPassedRequest } from '../../../electron/passthrough/read-call.ts';
import { readPassedResponse, type ResponseInput } from '../../../electron/passthrough/recorded-response.ts';
import { limitText } from '../../../electron/passthrough/record-limits.ts';
import type { CallApi } from '../../../electron/passthrough/read-request.ts';
import type { RunOutcome } from '../../../electron/storage/run-rows.ts';

const levels = 100_000;
const deep = '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);

function request(api: CallApi, body: string, more: Partial<RequestInput> = {}) {
  const program = { client: null, appHeaders: {} };
  return readPassedRequest({
    api,
    pathModel: null,
    encoding: '',
    body: Buffer.from(body),
    scope: 'key',
    rules: [],
    program,
    ...more,
  });
}

function response(api: CallApi, body: string | Buffer, more: Partial<ResponseInput> = {}) {
  const isStream = Buffer.from(body).toString('utf8', 0, 5) === 'data:';
  const arrivals = { atMs: [1], ends: [body.length] };
  const limits = { isCut: false, isJudged: false };
  return readPassedResponse({
    api,
    body: Buffer.from(body),
    encoding: '',
    isStream,
    arrivals,
    rules: [],
    ...limits,
    ...more,
  });
}

/** The limit of a thread's messages and of JSON text. */
function expectWritable(value: unknown): void {
  expect(JSON.stringify(structuredClone(value)).length).toBeLessThan(2 * deep.length);
}

const called = (given: string) => `[{"id":"c","type":"function","function":{"name":"f","arguments":${given}}}]`;

test.each<[CallApi, string]>([
  ['openai-chat', `{"messages":[{"role":"user","content":[${deep}]}]}`],
  ['openai-chat', `{"messages":[{"role":"assistant","tool_calls":${called(deep)}}]}`],
  ['openai-chat', `{"messages":[{"role":"assistant","tool_calls":${called(JSON.stringify(deep))}}]}`],
  ['openai-chat', `{"messages":[],"tools":[${deep}]}`],
  ['openai-responses', `{"input":[{"type":"function_call","name":"f","arguments":${deep}}]}`],
  ['openai-embeddings', `{"input":"a","other":${deep}}`],
  ['anthropic-messages', `{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":${deep}}]}]}`],
  ['gemini-content', `{"contents":[{"parts":[{"functionResponse":{"name":"f","response":${deep}}}]}]}`],
  ['gemini-content', `{"contents":[],"generationConfig":{"responseSchema":${deep}}}`],
])('a request with JSON of 100,000 levels is recorded: %s', (api, body) => {
  expectWritable(request(api, body));
  expectWritable(request(api, body, { rules: [{ kind: 'email' }] }));
});

test.each<[CallApi, string]>([
  ['openai-chat', `{"error":${deep}}`],
  ['openai-chat', `{"usage":{"prompt_tokens":3,"other":${deep}},"choices":[]}`],
  ['openai-chat', `data: {"error":${deep}}\n\n`],
  ['openai-responses', `{"output":[{"type":"function_call","name":"f","arguments":${deep}}]}`],
  ['anthropic-messages', `{"type":"message","content":[{"type":"tool_use","name":"f","input":${deep}}]}`],
  ['gemini-content', `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${deep}}}]}}]}`],
  ['gemini-content', `[{"error":${deep}}\n]`],
])('a response with JSON of 100,000 levels is recorded: %s', (api, body) => {
  expectWritable(response(api, body));
});

test('of many messages the newest are recorded, cut where later calls cut them, too', () => {
  const body = (count: number) =>
    `{"messages":[${'{},'.repeat(count)}{"role":"assistant","content":"Blue."},{"role":"user","content":"Why?"}]}`;
  const { messages, firstNew, messageKeys } = request('openai-chat', body(60_000));
  expect(messages.length).toBeLessThan(8192);
  expect(textOfMessage(messages[0]!)).toMatch(/^\[\d+ earlier messages are not recorded\]$/);
  expect(messages.slice(firstNew).map(textOfMessage)).toEqual(['Why?']);
  expect(request('openai-chat', body(60_001)).messageKeys.slice(0, 1000)).toEqual(messageKeys.slice(0, 1000));
});

test.each([
  ['messages', { messages: [{ role: 'user', content: Array.from({ length: 8193 }, () => 'a') }] }],
  ['a text of a message', { messages: [{ role: 'user', content: 'a'.repeat(8 * 1_048_576 + 1) }] }],
  ['the system message', { messages: [{ role: 'system', content: 'a'.repeat(8 * 1_048_576 + 1) }] }],
  ['a field', { messages: [], tools: Array.from({ length: 50_000 }, () => 1) }],
])('what is cut in %s has a mark', (_where, body) => {
  const { messages, systemMessage, configuration } = request('openai-chat', JSON.stringify(body));
  expect(JSON.stringify([messages, systemMessage, configuration]).slice(-100)).toMatch(/not.recorded/);
});

const checked = (body: string) => readCheckedRequest({ api: 'openai-chat', body: Buffer.from(body) });

test('what the guard checks is few values, whatever a request has', () => {
  const history = '{"role":"user","content":"earlier"},{"role":"assistant","content":"b"},'.repeat(50_000);
  const added = '{"role":"user","content":"a"},'.repeat(400_000);
  const fields = Array.from({ length: 10_000 }, (_, index) => `"k${index}":["v${index}"]`).join(',');
  const {
    history: earlier,
    added: last,
    configuration,
  } = checked(`{"messages":[${history}${added}{"role":"user","content":"last"}],"prompt":"p",${fields}}`);
  expect(earlier).toEqual([expect.stringMatching(/^earlier\n\nb\n\nearlier/)]);
  expect(last).toMatch(/^a\n\n[^]*\n\nlast$/);
  expect(Object.keys(configuration)).toEqual(['prompt', 'other']);
  expect(configuration['other']).toContain('k9999\nv9999');
});

test('what the guard cannot check says why', () => {
  const reasons = ['', 'null', '[]', '{"a":NaN}', deep, `{"a":[${'0,'.repeat(4_000_001)}0]}`, '{}'].map(
    (body) => checked(body).uncheckable,
  );
  const notJson = 'It is no JSON object.';
  expect(reasons).toEqual([
    ...[notJson, notJson, notJson, notJson],
    'Its JSON is nested more than 256 levels deep.',
    'It has more than four million values.',
    undefined,
  ]);
});

test('a request with more values than a thread has memory for is not recorded', () => {
  expect(() => request('openai-chat', `{"messages":[],"a":[${'0,'.repeat(4_000_001)}0]}`)).toThrow(
    "The call can't be recorded because its request has more than four million values.",
  );
});

test('the guard judges all of a response, in one text, of which less is recorded', () => {
  const calls = Array.from({ length: 20_000 }, (_, index) => ({ id: 'c', function: { name: `f${index}` } }));
  const body = JSON.stringify({ choices: [{ message: { tool_calls: calls } }] });
  const { judged, toolCalls } = response('openai-chat', body, { isJudged: true });
  expect([toolCalls.length, judged!.split('\n').length]).toEqual([8192, 20_000]);
  expect(response('openai-chat', '{"choices":[]}', { isJudged: true }).judged).toBe('');
  expect(response('openai-chat', body).judged).toBeNull();
});

test.each<[CallApi, string]>([
  ['openai-chat', `{"choices":[{"message":{"content":"a"},"logprobs":[NaN]}]}`],
  ['openai-chat', `data: {"choices":[{"delta":{"content":"a"},"logprobs":[NaN]}]}\n\ndata: [DONE]\n\n`],
  ['openai-chat', `data: {"choices":[${'0,'.repeat(4_000_001)}0]}\n\n`],
  ['anthropic-messages', `{"type":"message","content":[{"type":"tool_use","name":"f","input":${deep}}]}`],
  ['gemini-content', `[{"candidates":[NaN]}]`],
  ['gemini-content', `[${deep}]`],
])('a response of which not all can be read says so: %s', (api, body) => {
  expect(response(api, body).isPartial).toBe(true);
});

test.each<[CallApi, string]>([
  ['openai-chat', '{"choices":[]}'],
  ['openai-chat', 'data: {"choices":[]}\n\n: comment\n\ndata:\n\ndata: [DONE]\n\n'],
  ['gemini-content', '[{"candidates":[]}]'],
])('a response of which all can be read says so: %s', (api, body) => {
  expect(response(api, body).isPartial).toBe(false);
});

test('parts of one turn are joined, and cut', () => {
  const answers = '{"role":"assistant","content":"a"},'.repeat(60_000);
  const { messages } = request('openai-chat', `{"messages":[${answers}{"role":"assistant","content":"b"}]}`);
  expect(messages).toHaveLength(1);
  expect(messages[0]!.content.at(-1)).toEqual({ type: 'text', text: '[51809 more parts are not recorded]' });
});

test('a text of 60 MB is cut, with a mark', () => {
  const content = 'x'.repeat(60_000_000);
  const { messages } = request('openai-chat', JSON.stringify({ messages: [{ role: 'user', content }] }));
  const text = textOfMessage(messages[0]!);
  expect(text.slice(8 * 1_048_576)).toBe(' [51611392 more characters are not recorded]');
});

test('a cut leaves no half of a character', () => {
  expect(limitText('a😀b', 2)).toBe('a [3 more characters are not recorded]');
  expect(limitText('a😀b', 3)).toBe('a😀 [1 more characters are not recorded]');
  expect(limitText('a😀', 3)).toBe('a😀');
});

test('the files of messages that are not recorded are not stored', () => {
  const image = (text: string) =>
    `{"type":"image_url","image_url":{"url":"data:image/png;base64,${Buffer.from(text).toString('base64')}"}}`;
  const first = `{"role":"user","content":[${image('early')}]}`;
  const last = `{"role":"user","content":[${image('late')}]}`;
  const { files } = request('openai-chat', `{"messages":[${first},${'{},'.repeat(20_000)}${last}]}`);
  expect(files.map(({ content }) => content.toString())).toEqual(['late']);
});

const frames = Array.from(
  { length: 8000 },
  () => `data: {"choices":[{"delta":{"content":"${Math.random()} "}}]}\n\n`,
).join('');

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('a response with %s is read as far as it came, and not when it is too large', (encoding, compress) => {
  const body = compress(frames);
  const whole = response('openai-chat', body, { encoding, isStream: true });
  const start = response('openai-chat', body.subarray(0, body.length / 2), { encoding, isStream: true });
  expect(whole.content.startsWith(start.content.slice(0, -30))).toBe(true);
  expect(start.content.length).toBeGreaterThan(100);
  const bomb = compress(Buffer.alloc(65 * 1_048_576));
  expect(response('openai-chat', bomb, { encoding: ` ${encoding.toUpperCase()}` })).toMatchObject({
    content: '[The response is not recorded: it is larger than 64 MB when it is decompressed]',
    error: null,
    isComplete: true,
    isUnread: true,
  });
  expect(response('openai-chat', 'no such thing', { encoding })).toMatchObject({
    error: "The provider's response could not be decompressed.",
    isUnread: true,
  });
});

test('a complete response that the record cannot read is no failure, and says why', () => {
  const tooManyValues = `{"data":[${'0,'.repeat(4_000_001)}0]}`;
  expect(response('openai-chat', 'abc', { encoding: 'gzip, br' })).toMatchObject({
    content: '[The response is not recorded: its encoding "gzip, br" is unknown]',
    isComplete: true,
  });
  expect(response('openai-embeddings', tooManyValues)).toMatchObject({
    content: '[The response is not recorded: it has more than four million values]',
    error: null,
  });
  expect(response('openai-embeddings', '{"data":[0,', { isCut: true })).toMatchObject({
    content: '[The response is not recorded: it is larger than 32 MB]',
    error: null,
  });
  const cut = response('openai-chat', frames.slice(0, -20), { isCut: true });
  expect(cut.content).toMatch(/^0\.\d.* \[The rest of the response is not recorded: it is larger than 32 MB\]$/s);
});

test('many parameters, counts and calls are cut, and the first ones stay', () => {
  const fields = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join(',');
  const { configuration } = request('openai-chat', `{"messages":[],"temperature":1,${fields}}`);
  expect(configuration).toMatchObject({ temperature: 1, not_recorded: '50001 fields with too many values' });
  const usage = `{"prompt_tokens":3,"completion_tokens":4,${fields}}`;
  const calls = Array.from({ length: 20_000 }, (_, index) => ({ id: `c${index}`, function: { name: 'f' } }));
  const read = response(
    'openai-chat',
    `{"usage":${usage},"choices":[{"message":{"tool_calls":${JSON.stringify(calls)}}}]}`,
  );
  expect(read.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4 });
  expect(Object.keys(read.rawUsage!).length).toBeLessThan(1000);
  expect(read.toolCalls).toHaveLength(8192);
});

test.each<[CallApi, (tokens: number) => object]>([
  ['openai-chat', (prompt_tokens) => ({ choices: [], usage: { prompt_tokens } })],
  ['anthropic-messages', (input_tokens) => ({ type: 'message', usage: { input_tokens } })],
  ['gemini-content', (promptTokenCount) => ({ usageMetadata: { promptTokenCount } })],
])('a count that no model can have is no usage: %s', (api, body) => {
  expect(response(api, JSON.stringify(body(1_000_000))).usage?.prompt_tokens).toBe(1_000_000);
  for (const tokens of [1e19, 1e300, -1]) expect(response(api, JSON.stringify(body(tokens))).usage).toBeNull();
});

test('JSON of more values than a thread has memory for is not parsed; commas of a text are no values', () => {
  expect(() => readJson(`[${'0,'.repeat(4_000_001)}0]`)).toThrow('too many values');
  const text = ',\\"'.repeat(5_000_000);
  expect(parseObject(`{"a":"${text}\\\\","b":1}`)).toMatchObject({ b: 1 });
});

test('a call whose response cannot be read ends, with what went wrong', async () => {
  const outcomes: RunOutcome[] = [];
  const failures: unknown[] = [];
  const end = async (mustRecord: boolean) => {
    const options: Partial<CallRecordOptions> = {
      runId: 'r',
      api: 'openai-chat',
      level: 'all',
      rules: [],
      secrets: [],
      reader: {
        response: () => ({
          append: () => undefined,
          isCut: false,
          short: null,
          end: () => Promise.reject(new Error('out of memory')),
        }),
      },
      finish: (outcome) => Promise.resolve(void outcomes.push(outcome)),
      signal: new AbortController().signal,
      charge: () => undefined,
      onHidden: () => undefined,
      onFailure: (error) => void failures.push(error),
      mustRecord,
    };
    const record = new CallRecord(options as CallRecordOptions);
    record.begin({ status: 200, statusText: 'OK', headers: {}, raw: [] });
    record.take(Buffer.from('{}'));
    await record.end();
  };
  await end(false);
  await expect(end(true)).rejects.toThrow('out of memory');
  expect(failures).toHaveLength(2);
  expect(outcomes).toMatchObject(
    [1, 2].map(() => ({
      status: 'Failed',
      error: { message: 'The response could not be read for the record: out of memory' },
    })),
  );
});

test('a response is noted after its end, also when the disk does not take the call', async () => {
  const seen: string[] = [];
  const body = { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }] };
  for (const finish of [() => Promise.resolve(), () => Promise.reject(new Error('disk full'))]) {
    const options: Partial<CallRecordOptions> = {
      runId: 'r',
      sentAt: performance.now(),
      api: 'openai-chat',
      level: 'metadata',
      rules: [],
      secrets: [],
      reader: createCallReader(),
      guard: null,
      finish,
      signal: new AbortController().signal,
      charge: () => undefined,
      prices: null,
      onHidden: () => undefined,
      onResponse: ({ content }) => void seen.push(content),
      onFailure: () => void seen.push('failed'),
    };
    const record = new CallRecord(options as CallRecordOptions);
    record.begin({ status: 200, statusText: 'OK', headers: { 'content-type': 'application/json' }, raw: [] });
    record.take(Buffer.from(JSON.stringify(body)));
    await record.end().then(() => seen.push('end'));
    await nextTurn();
  }
  expect(seen).toEqual(['end', 'Hello', 'failed', 'end', 'Hello']);
});
