// @module-tag slow
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createGoogle } from '@ai-sdk/google';
import { ApiError, type GenerateContentParameters, GoogleGenAI } from '@google/genai';
import { generateText, streamText } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setProviderKey } from '../../shared/contract/providers.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { defaultSettings } from '../../shared/contract/settings.ts';
import { pngOf } from '../support/image-files.ts';
import { comparableHeaders, ofConnection, rawCall } from '../support/raw-calls.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

/** Google's own library and others, unchanged: each call is made at the provider itself and through Touchstone. */

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  host.host.storage.providerCache.setBaseAddress('GoogleGemini', upstream());
});
afterAll(() => host.close());
beforeEach(() => {
  host.provider.answerWith(answer);
  host.host.storage.settings.update({ recorder: defaultSettings.recorder });
});

const upstream = () => host.provider.baseAddress.replace(/\/v1$/, '/v1beta');
const storedKey = 'AIza-the-key-of-the-keychain';
const ownKey = 'AIza-the-key-of-the-program-itself';
const model = 'gemini-2.5-flash';

interface Base {
  readonly address: string;
  readonly apiKey: string;
  readonly headers: Record<string, string>;
}

function bases(): Record<'direct' | 'passed', Base> {
  return {
    direct: { address: upstream().replace('/v1beta', ''), apiKey: ownKey, headers: {} },
    passed: {
      address: `${host.listener.address}/gemini`,
      apiKey: ownKey,
      headers: { 'x-touchstone-key': host.key },
    },
  };
}

const usageMetadata = {
  promptTokenCount: 9,
  candidatesTokenCount: 4,
  thoughtsTokenCount: 3,
  cachedContentTokenCount: 2,
  totalTokenCount: 16,
};

/** The parts of an answer in its chunks. */
function chunksOf(call: ScriptedCall): object[][] {
  if (call.body['tools'] === undefined)
    return [[{ text: 'I look up.', thought: true }], [{ text: 'Bl' }], [{ text: 'ue.' }]];
  const functionCall = { name: 'weather', args: { city: 'Oslo' } };
  return [[{ functionCall, thoughtSignature: 'c2lnbmVk' }]];
}

function bodyOf(parts: readonly object[], isLast = true): object {
  const candidate = { content: { role: 'model', parts }, index: 0, ...(isLast && { finishReason: 'STOP' }) };
  return { candidates: [candidate], modelVersion: model, responseId: 'resp_1', ...(isLast && { usageMetadata }) };
}

/** Answers as Gemini does: with a call if tools are offered, otherwise with a thought and a text. */
async function answer(call: ScriptedCall): Promise<void> {
  if (call.method === 'GET') return call.json(200, { models: [{ name: `models/${model}` }] });
  if (call.path.includes(':countTokens')) return call.json(200, { totalTokens: 9 });
  const chunks = chunksOf(call);
  const bodies = chunks.map((parts, index) => bodyOf(parts, index === chunks.length - 1));
  if (call.path.includes(':generateContent')) return call.json(200, bodyOf(chunks.flat()));
  if (!call.path.includes('alt=sse')) {
    call.head(200, { 'content-type': 'application/json; charset=UTF-8' });
    for (const [index, body] of bodies.entries())
      await call.write(`${index === 0 ? '[' : ',\r\n'}${JSON.stringify(body, null, 2)}\n`);
    return call.end(']\n');
  }
  call.openEventStream();
  for (const body of bodies) await call.write(`data: ${JSON.stringify(body)}\r\n\r\n`);
  call.end();
}

const question = 'Which colour is the sky?';
const simpleRequest: GenerateContentParameters = { model, contents: question };
const withTools: GenerateContentParameters = {
  ...simpleRequest,
  config: {
    temperature: 0.5,
    maxOutputTokens: 99,
    tools: [
      {
        functionDeclarations: [
          {
            name: 'weather',
            parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
          },
        ],
      },
    ],
  },
};

const libraryOf = ({ address, apiKey, headers }: Base, attempts = 1) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: address, headers, retryOptions: { attempts } } });

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function arrayStream({ address, apiKey, headers }: Base): Promise<string> {
  const response = await fetch(`${address}/v1beta/models/${model}:streamGenerateContent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': apiKey, ...headers },
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: question }] }] }),
  });
  return response.text();
}

const vercel = ({ address, apiKey, headers }: Base) =>
  createGoogle({ baseURL: `${address}/v1beta`, apiKey, headers })(model);

/** What each library returns for one call. */
const calls: Record<string, (base: Base) => Promise<unknown>> = {
  'Google Gen AI': (base) => libraryOf(base).models.generateContent(simpleRequest),
  'Google Gen AI, stream': async (base) => collect(await libraryOf(base).models.generateContentStream(simpleRequest)),
  'Google Gen AI, with tools': (base) => libraryOf(base).models.generateContent(withTools),
  'Google Gen AI, stream with tools': async (base) =>
    collect(await libraryOf(base).models.generateContentStream(withTools)),
  'stream as an array': arrayStream,
  'Vercel AI SDK': async (base) => (await generateText({ model: vercel(base), prompt: question })).text,
  'Vercel AI SDK, stream': (base) => collect(streamText({ model: vercel(base), prompt: question }).textStream),
};

/** What the provider got, without what differs between two calls of any program. */
function sentOf({ method, path, bodyText, headers }: ScriptedCall) {
  const { host: _, connection: __, 'keep-alive': ___, ...rest } = headers;
  return { method, path, bodyText, headers: rest };
}

function newestRuns(count: number): RunDetail[] {
  const { runs } = host.host.storage;
  const { data } = runs.list({ pageSize: count, continuationToken: undefined, draftId: undefined });
  return data.map(({ runId }) => runs.read(runId)!);
}
const newestRun = (): RunDetail => newestRuns(1)[0]!;

function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  return host.send('HTTP/1.1', {
    method: 'POST',
    path: `/gemini/v1beta/models/${path}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const simple = { contents: [{ role: 'user', parts: [{ text: question }] }] };

describe('a library gets through Touchstone what it gets from Google', () => {
  test.each(Object.keys(calls))('%s', async (name) => {
    const { direct, passed } = bases();
    const before = host.provider.calls.length;
    const expected = await calls[name]!(direct);
    const received = await calls[name]!(passed);
    const comparable = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (key, part) => (key === 'sdkHttpResponse' ? undefined : part)));
    expect(comparable(received)).toEqual(comparable(expected));
    const [first, second] = host.provider.calls.slice(before).map(sentOf);
    expect(second).toEqual(first);
    const run = newestRun();
    expect(run).toMatchObject({
      status: 'Completed',
      aiSystem: 'GoogleGemini',
      model,
      origin: { api: 'gemini-content' },
      input: { renderedPrompt: question },
      usage: {
        prompt_tokens: 9,
        completion_tokens: 7,
        details: { cached_tokens: 2, reasoning_tokens: 3, cache_write_tokens: null },
      },
    });
    expect(run.cost!).toBeGreaterThan(0);
    if (name.includes('tools')) {
      expect(run.output).toMatchObject({
        toolCalls: [{ name: 'weather', arguments: '{"city":"Oslo"}' }],
        finishReason: 'ToolCalls',
      });
      expect(run.input.configuration).toMatchObject({
        temperature: 0.5,
        max_tokens: 99,
        tools: [{ type: 'function', function: { name: 'weather' } }],
      });
    } else expect(run.output).toMatchObject({ content: 'Blue.', reasoning: 'I look up.', finishReason: 'Stop' });
    expect(run.frames?.count ?? null).toBe(name.includes('stream') ? (name.includes('tools') ? 1 : 3) : null);
  });

  test('an error of Google, with its status and its message', async () => {
    const error = { code: 400, message: 'Unknown model', status: 'INVALID_ARGUMENT' };
    host.provider.answerWith((call) => call.json(400, { error }));
    const failing = libraryOf(bases().passed).models.generateContent(simpleRequest);
    await expect(failing).rejects.toBeInstanceOf(ApiError);
    await expect(failing).rejects.toMatchObject({ status: 400, message: expect.stringContaining('Unknown model') });
    expect(newestRun()).toMatchObject({ status: 'Failed', output: { error: { message: 'Unknown model' } } });
  });

  test('its retries, which stay in one conversation', async () => {
    let attempts = 0;
    host.provider.answerWith((call) => {
      attempts += 1;
      return attempts === 1 ? call.json(503, { error: { code: 503, message: 'Overloaded' } }) : answer(call);
    });
    await libraryOf(bases().passed, 2).models.generateContent({ model, contents: 'Retry this' });
    const runs = newestRuns(2);
    expect(runs.map(({ status }) => status)).toEqual(['Completed', 'Failed']);
    expect(runs[0]!.conversationId).toBe(runs[1]!.conversationId);
  });

  test('an end when it aborts, which closes the call at Google', async () => {
    host.provider.answerWith(null);
    const controller = new AbortController();
    const config = { abortSignal: controller.signal };
    const reading = libraryOf(bases().passed)
      .models.generateContentStream({ ...simpleRequest, config })
      .then(collect)
      .catch(() => null);
    const call = await host.provider.nextCall();
    call.openEventStream();
    await call.write(`data: ${JSON.stringify(bodyOf([{ text: 'Bl' }], false))}\r\n\r\n`);
    controller.abort();
    await call.closed;
    await reading;
    await expect.poll(() => newestRun().status).toBe('Cancelled');
  });

  test('an error of Touchstone, in the format of Google', async () => {
    const wrong = { ...bases().passed, headers: { 'x-touchstone-key': 'ts_wrong' } };
    await expect(libraryOf(wrong).models.generateContent(simpleRequest)).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('UNAUTHENTICATED'),
    });
    const missing = await post(`${model}:embedContent`, simple, { 'x-goog-api-key': host.key });
    expect([missing.status, JSON.parse(missing.text).error]).toMatchObject([404, { code: 404, status: 'NOT_FOUND' }]);
    const without = await post(`${model}:generateContent`, simple, { 'x-goog-api-key': host.key });
    expect([without.status, JSON.parse(without.text).error]).toMatchObject([
      503,
      { status: 'UNAVAILABLE', message: expect.stringContaining('Gemini has no API key') },
    ]);
  });
});

test.each<[string, string, (call: ScriptedCall) => unknown]>([
  ['a whole answer', ':generateContent', answer],
  ['a stream of events', ':streamGenerateContent?alt=sse', answer],
  ['a stream as an array', ':streamGenerateContent?%24alt=json', answer],
  ['a count of tokens', ':countTokens', answer],
  ['an error', ':generateContent', (call) => call.fail(429, 'Slow down', { 'Retry-After': '3', 'Set-Cookie': 'a=b' })],
])('%s is the same at both ends, to the byte, as without Touchstone', async (_, method, respond) => {
  const sent: object[] = [];
  host.provider.answerWith((call) => {
    const { method: verb, path, bodyText } = call;
    sent.push({ verb, path, bodyText, headers: comparableHeaders(call.rawHeaders, ofConnection) });
    return respond(call);
  });
  const body = '{ "contents":[{"parts":[{"text":"\\u0041 \u00e4"}]}],  "unknownField": {"x":[1, 2]} }';
  const received = [];
  for (const { address, apiKey, headers } of Object.values(bases())) {
    const own = ['Content-Type', 'application/json', 'X-Goog-Api-Key', apiKey, 'X-Custom', 'As It Is', 'Accept', '*/*'];
    const length = ['Host', new URL(address).host, 'Content-Length', String(Buffer.byteLength(body))];
    const all = [...own, ...Object.entries(headers).flat(), ...length];
    const response = await rawCall(`${address}/v1beta/models/${model}${method}`, all, body);
    received.push({ ...response, headers: comparableHeaders(response.headers, [...ofConnection, 'date']) });
  }
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual(sent[0]);
  expect(received[1]).toEqual(received[0]);
});

describe('the key', () => {
  const stored = () =>
    windowClient(host.host).call(setProviderKey, {
      parameters: { aiSystem: 'GoogleGemini' },
      body: { key: storedKey },
    });

  test.each(['header', 'query'])('of Touchstone stands for the stored one, in the %s', async (position) => {
    await stored();
    const inQuery = position === 'query';
    const { status, headers } = await post(
      `${model}:streamGenerateContent?alt=sse${inQuery ? `&key=${host.key}&x=%20` : ''}`,
      simple,
      inQuery ? {} : { 'x-goog-api-key': host.key },
    );
    expect(status).toBe(200);
    const call = host.provider.calls.at(-1)!;
    expect(call.headers['x-goog-api-key']).toBe(storedKey);
    expect(call.path).toBe(`/v1beta/models/${model}:streamGenerateContent?alt=sse${inQuery ? '&x=%20' : ''}`);
    expect(call.rawHeaders.join()).not.toContain(host.key);
    expect(headers['x-touchstone-recorded']).toBe('all');
  });

  test('of the program goes along in the query, and is stored and logged nowhere', async () => {
    const path = `${model}:generateContent?key=${ownKey}`;
    const { headers } = await post(path, simple, { 'x-touchstone-key': host.key });
    expect(host.provider.calls.at(-1)!.path).toBe(`/v1beta/models/${path}`);
    expect(host.provider.calls.at(-1)!.headers['x-goog-api-key']).toBeUndefined();
    const runId = String(headers['x-touchstone-run-id']);
    await expect.poll(() => host.host.storage.exchanges.read(runId)).toContain('[redacted]');
    expect(host.host.storage.exchanges.read(runId)).not.toContain(ownKey);
    host.host.storage.flush();
    const files = [host.host.storage.databaseFile, `${host.host.storage.databaseFile}-wal`];
    for (const file of files) expect((await readFile(file, 'latin1')).includes(ownKey)).toBe(false);
    expect(host.log.join('\n')).not.toContain(ownKey);
  });

  test('is not needed for the provider of a list or a count, which are not recorded', async () => {
    await stored();
    const before = host.host.storage.runs.count();
    const list = await host.send('HTTP/1.1', { path: `/gemini/v1beta/models?pageSize=5&key=${host.key}` });
    expect([list.status, host.provider.calls.at(-1)!.path]).toEqual([200, '/v1beta/models?pageSize=5']);
    const count = await post(`${model}:countTokens`, simple, { 'x-goog-api-key': host.key });
    expect([count.status, JSON.parse(count.text)]).toEqual([200, { totalTokens: 9 }]);
    expect(host.host.storage.runs.count()).toBe(before);
  });
});

describe('what is recorded', () => {
  const own = () => ({ 'x-goog-api-key': ownKey, 'x-touchstone-key': host.key });
  async function recorded(body: object): Promise<RunDetail> {
    const { headers } = await post(`${model}:generateContent`, body, own());
    return host.host.storage.runs.read(String(headers['x-touchstone-run-id']))!;
  }

  test('has parts, calls and results, files by their hash, and parameters under common names', async () => {
    const image = pngOf();
    const run = await recorded({
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Look' }, { inline_data: { mime_type: 'image/png', data: image.toString('base64') } }],
        },
        { role: 'model', parts: [{ text: 'Hm', thought: true }, { text: 'I ' }] },
        { role: 'model', parts: [{ text: 'look.' }, { functionCall: { name: 'look', args: { at: 1 } } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'look', response: { output: 'A dot' } } }, { text: 'So?' }],
        },
      ],
      generationConfig: {
        topK: 3,
        stopSequences: ['END'],
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } },
        thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true },
        candidateCount: 1,
        constructor: 'x',
      },
      tools: [
        {
          function_declarations: [
            { name: 'look', parameters: { type: 'OBJECT', properties: { at: { type: 'NUMBER' } } } },
          ],
        },
        { googleSearch: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
      safetySettings: [],
    });
    const fileId = createHash('sha256').update(image).digest('hex');
    expect(run.input).toMatchObject({
      systemMessage: 'Be brief.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'file', fileId, mediaType: 'image/png' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'toolCall', id: 'call_1', name: 'look', arguments: '{"at":1}' },
          ],
        },
        { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'call_1', content: 'A dot', isError: false }] },
        { role: 'user', content: [{ type: 'text', text: 'So?' }] },
      ],
      configuration: {
        top_k: 3,
        stop: ['END'],
        reasoning_effort: 'low',
        response_format: {
          type: 'json_schema',
          json_schema: { schema: { type: 'object', properties: { a: { type: ['string', 'null'] } } } },
        },
        generationConfig: { candidateCount: 1, constructor: 'x', thinkingConfig: { includeThoughts: true } },
        tools: [
          {
            type: 'function',
            function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'number' } } } },
          },
          { googleSearch: {} },
        ],
        tool_choice: { type: 'function', function: { name: 'look' } },
        safetySettings: [],
      },
    });
    const file = { path: `/files/${fileId}`, headers: { authorization: `Bearer ${host.key}` } };
    await expect.poll(async () => (await host.send('HTTP/1.1', file)).status).toBe(200);
  });

  test('is one conversation for all turns of a chat', async () => {
    const chat = libraryOf(bases().passed).chats.create({ model });
    await collect(await chat.sendMessageStream({ message: 'Hello there' }));
    await chat.sendMessage({ message: 'And at night?' });
    const [second, first] = newestRuns(2);
    expect(second!.conversationId).toBe(first!.conversationId);
    expect(second!.input.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  test('of a stream that breaks is what arrived, also as an array', async () => {
    for (const isEvents of [true, false]) {
      host.provider.answerWith(null);
      const pending = post(`${model}:streamGenerateContent${isEvents ? '?alt=sse' : ''}`, simple, own()).catch(
        () => null,
      );
      const call = await host.provider.nextCall();
      const first = JSON.stringify(bodyOf([{ text: 'Bl' }], false));
      call.head(200, { 'content-type': isEvents ? 'text/event-stream' : 'application/json' });
      await call.write(isEvents ? `data: ${first}\r\n\r\ndata: {"cand` : `[${first}\n,\r\n{"cand`);
      await expect.poll(() => newestRun().status).toBe('Running');
      await new Promise((resolve) => setImmediate(resolve));
      call.cut();
      await pending;
      await expect.poll(() => newestRun().status).toBe('Failed');
      expect(newestRun().output).toMatchObject({ error: { code: 'provider_failed' } });
    }
  });

  test('is redacted before it is written, without signatures', async () => {
    const recorder = { ...defaultSettings.recorder, redaction: [{ kind: 'email' as const }] };
    host.host.storage.settings.update({ recorder });
    const run = await recorded({
      contents: [
        { role: 'user', parts: [{ text: 'Write to bob@example.org' }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'mail', args: { to: 'bob@example.org' } }, thoughtSignature: 'c2lnbmVk' }],
        },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'mail', response: { result: 'Sent to bob@example.org' } } }],
        },
      ],
    });
    expect(host.provider.calls.at(-1)!.bodyText).toContain('bob@example.org');
    const { messages } = host.host.storage.runs.readToContinue(run.runId)!;
    expect(JSON.stringify(messages)).not.toMatch(/bob@|c2lnbmVk/);
  });
});
