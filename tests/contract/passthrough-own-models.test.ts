// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defaultSettings } from '../../shared/contract/settings.ts';
import { gzipSync } from 'node:zlib';
import { foundRuns } from '../support/guarded-host.ts';
import { callJson, type JsonCall } from '../support/json-call.ts';
import { startTestHost, type TestHost, ways } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  host.host.storage.providerCache.setBaseAddress('OpenAi', host.provider.baseAddress);
  const route = { kind: 'provider' as const, aiSystem: 'OpenAiCompatible' as const, model: 'scripted/model' };
  host.host.storage.settings.update({ serviceRoutes: { 'hl-gpt-4o-mini': route, 'hl-gpt-4.1-mini': route } });
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' })));
afterEach(() => void host.host.storage.settings.update({ recorder: defaultSettings.recorder }));

const post = (way: (typeof ways)[number], path: string, call: JsonCall) => callJson(host, way, 'POST', path, call);
const ask = (content: string) => [{ role: 'user', content }];

describe.each(ways)('what a key sees of an agent that it calls as a model, %s', (way) => {
  const template = '{{role "system"}}SECRET rules.{{history}}{{role "user"}}SECRET: {{message}}';

  async function createAgent(kind: string, prompt: string): Promise<{ id: string; name: string }> {
    const name = `${kind} ${way}`;
    const { body } = await post(way, '/v1/agents', { body: { name, model: 'hl-gpt-4o-mini', prompt } });
    return body;
  }

  test.each([
    ['text', 'SECRET rules.'],
    ['template', template],
  ])('is only what it sent; the prompt is a %s', async (kind, prompt) => {
    const agent = await createAgent(kind, prompt);
    const key = host.issueKey({ scopes: ['run'] });
    const called = [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }];
    const messages = [
      ...ask('Hello'),
      { role: 'assistant', content: null, tool_calls: called },
      { role: 'tool', tool_call_id: 'c', content: 'Seen' },
      { role: 'assistant', content: 'Blue.' },
      ...ask('And the sea?'),
    ];
    const chat = await post(way, '/openai/v1/chat/completions', {
      key,
      body: { model: `agent/${agent.name}`, messages },
    });
    expect(chat.status).toBe(200);
    expect(host.provider.calls.at(-1)!.bodyText).toContain('SECRET');
    const path = `/conversations/${chat.headers['x-touchstone-conversation-id']}`;
    const { status, text } = await callJson(host, way, 'GET', path, { key });
    expect([status, text.includes('And the sea?'), text.includes('SECRET')]).toEqual([200, true, false]);
    const runId = String(chat.headers['x-touchstone-run-id']);
    expect(await foundRuns(host, { agentId: agent.id })).toEqual([runId]);
    expect(host.host.storage.runs.read(runId)).toMatchObject({ title: 'And the sea?' });
  });

  test.each(['while it has the template', 'after it lost the template'])(
    'is not in its conversation when results of its tools are sent, %s',
    async (edit) => {
      const agent = await createAgent(`tools ${edit}`, template);
      const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
      const path = `/agents/${agent.id}`;
      const change = (body: unknown) => callJson(host, way, 'PATCH', path, { body });
      expect((await change({ configuration: { tools } })).status).toBe(200);
      const key = host.issueKey({ scopes: ['run'] });
      host.provider.answerWith((call) => call.chatCalls([{ id: 'call_1', name: 'look', arguments: '{}' }]));
      const model = `agent/${agent.name}`;
      const first = await post(way, '/openai/v1/responses', { key, body: { model, input: 'Hello', stream: true } });
      host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
      if (edit.startsWith('after')) expect((await change({ prompt: 'Be brief.' })).status).toBe(200);
      const input = [{ type: 'function_call_output', call_id: 'call_1', output: 'Seen' }];
      const body = { model, input, previous_response_id: `resp_${first.headers['x-touchstone-run-id']}` };
      const second = await post(way, '/openai/v1/responses', { key, body });
      expect(second.status, second.text).toBe(200);
      expect(host.provider.calls.at(-1)!.bodyText).toContain('SECRET: Hello');
      const conversation = `/conversations/${second.headers['x-touchstone-conversation-id']}`;
      const read = await callJson(host, way, 'GET', conversation, { key });
      expect(read.text).not.toContain('SECRET');
      expect(
        read.body.runs.map(({ input: { promptText } }: { input: object & { promptText: string } }) => promptText),
      ).toEqual(['Hello', 'Hello']);
    },
  );

  test('is not shown by another model that continues its response', async () => {
    const agent = await createAgent('continued', template);
    const key = host.issueKey({ scopes: ['run'] });
    const first = await post(way, '/openai/v1/responses', {
      key,
      body: { model: `agent/${agent.name}`, input: 'Hello' },
    });
    const next = { previous_response_id: first.body.id, input: 'Repeat that' };
    const other = await post(way, '/openai/v1/responses', { key, body: { ...next, model: 'service/hl-gpt-4o-mini' } });
    expect([other.status, other.body.error]).toEqual([
      400,
      expect.objectContaining({ param: 'previous_response_id', message: expect.stringContaining('an agent') }),
    ]);
    const same = await post(way, '/openai/v1/responses', { key, body: { ...next, model: `agent/${agent.name}` } });
    expect(same.status).toBe(200);
  });
});

describe.each(ways)('a call that names one of its models, %s', (way) => {
  const named = (model: string, text: string) => JSON.stringify({ model, messages: ask(text) });
  const long = 'secret '.repeat(700_000);
  const send = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    host.send(way, {
      method: 'POST',
      path,
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer sk-own-provider-key',
        'x-touchstone-key': host.key,
        ...headers,
      },
      body,
    });
  const gzip = { 'content-encoding': 'gzip' };

  test.each<[string, number, () => string | Buffer, Record<string, string>]>([
    ['that is too long', 413, () => named('on-device/default', long), {}],
    ['that is too long when it is decompressed', 413, () => gzipSync(named('on-device/default', long)), gzip],
    ['that is no JSON', 400, () => named('on-device/default', 'Hi').replace(/\}$/, ',"top_p":NaN}'), {}],
    ['that names none', 400, () => named('agent/nobody', 'Hi'), {}],
  ])('never reaches a provider, even one %s', async (_what, status, body, headers) => {
    const before = host.provider.calls.length;
    const answer = await send('/openai/v1/chat/completions', body(), headers);
    expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([status, 'invalid_request_error']);
    expect(host.provider.calls).toHaveLength(before);
  });

  test('may be compressed', async () => {
    const { status, headers } = await send(
      '/openai/v1/chat/completions',
      gzipSync(named('service/hl-gpt-4o-mini', 'Hi')),
      gzip,
    );
    expect(status).toBe(200);
    expect(host.host.storage.runs.read(String(headers['x-touchstone-run-id']))).toMatchObject({
      aiSystem: 'ServiceAi',
      title: 'Hi',
    });
  });

  test.each([
    ['long', () => named('gpt-4o', `"agent/${long}`), {}],
    ['compressed', () => gzipSync(named('gpt-4o', 'What is "agent/Guide"?')), gzip],
  ])('only in a %s text is passed on', async (_what, body, headers) => {
    const answer = await send('/openai/v1/chat/completions', body(), headers);
    expect(answer.status).toBe(200);
    expect(host.provider.calls.at(-1)!.path).toBe('/v1/chat/completions');
    const run = host.host.storage.runs.read(String(answer.headers['x-touchstone-run-id']))!;
    expect([run.model, run.title]).toEqual(['gpt-4o', expect.stringMatching(/^(What is )?"agent\//)]);
  });

  test("is a compatible endpoint's own, if its model has such a name", async () => {
    const { status, headers } = await send('/openai/scripted/v1/chat/completions', named('agent/foo', 'Hi'));
    expect(status).toBe(200);
    expect(host.host.storage.runs.read(String(headers['x-touchstone-run-id']))?.model).toBe('scripted/agent/foo');
  });
});

describe.each(ways)('the rules of recording for a call of one of its models, %s', (way) => {
  const body = {
    model: 'service/hl-gpt-4o-mini',
    messages: [{ role: 'system', content: 'Write to eve@example.org' }, ...ask('I am bob@example.org')],
  };
  const chat = (call: JsonCall = {}) => post(way, '/openai/v1/chat/completions', { body, ...call });
  const recorded = ({ headers }: { headers: Record<string, unknown> }) => headers['x-touchstone-recorded'];
  const runOf = ({ headers }: { headers: Record<string, unknown> }) =>
    host.host.storage.runs.read(String(headers['x-touchstone-run-id']))!;
  const setRecorder = (recorder: Partial<typeof defaultSettings.recorder>) =>
    void host.host.storage.settings.update({ recorder: { ...defaultSettings.recorder, ...recorder } });
  type Counts = { calls: number; recorded: number; lastRejection: unknown; hidden: { kind: string; count: number }[] };
  const counts = async (): Promise<Counts> =>
    (await host.host.api.fetch(new Request('http://window.test/window/recorder'), { access: 'window' })).json();
  const hiddenIn = ({ hidden }: { hidden: { kind: string; count: number }[] }) =>
    hidden.find(({ kind }) => kind === 'email')?.count ?? 0;
  beforeEach(() => host.provider.answerWith((call) => call.chatAnswer({ content: 'Mail ada@example.org' })));

  test.each<[string, () => JsonCall]>([
    ['its header', () => ({ headers: { 'x-touchstone-record': 'none' } })],
    ['its key', () => ({ key: host.issueKey({ recordLevel: 'none' }) })],
    [
      'its path',
      () => {
        setRecorder({ levels: { ...defaultSettings.recorder.levels, 'openai-chat': 'none' } });
        return {};
      },
    ],
  ])('records nothing if %s says so', async (_what, callOf) => {
    const call = callOf();
    const before = host.host.storage.runs.count();
    const answer = await chat(call);
    expect([answer.status, answer.body.choices[0].message.content]).toEqual([200, 'Mail ada@example.org']);
    expect([recorded(answer), answer.headers['x-touchstone-run-id'], host.host.storage.runs.count()]).toEqual([
      'none',
      undefined,
      before,
    ]);
  });

  test('charges a call of which nothing is recorded', async () => {
    const key = host.issueKey({ creditLimit: 1 });
    const none = { key, headers: { 'x-touchstone-record': 'none' } };
    const { status, headers } = await chat(none);
    expect([status, (await chat(none)).status]).toEqual([200, 402]);
    expect([headers['x-credits-consumed'], headers['x-credits-remaining']]).toEqual(['1', '0']);
    expect([headers['x-run-id'], headers['x-conversation-id']]).toEqual([undefined, undefined]);
  });

  test.each([false, true])('answers with the headers of a completion, as a stream: %s', async (stream) => {
    if (stream) host.provider.answerWith((call) => call.chatStream(['Blue.']));
    const key = host.issueKey({ creditLimit: 3 });
    const { headers } = await post(way, '/openai/v1/chat/completions', { key, body: { ...body, stream } });
    expect(headers).toMatchObject({
      'x-served-by': 'OpenAiCompatible/scripted/model',
      'x-credits-consumed': '1',
      'x-credits-remaining': '2',
      'x-run-id': headers['x-touchstone-run-id'],
      'x-conversation-id': headers['x-touchstone-conversation-id'],
    });
  });

  test.each([false, true])('names the recorded run if it fails, as a stream: %s', async (stream) => {
    host.provider.answerWith((call) => call.fail(400, 'Overloaded'));
    const counted = await counts();
    const failed = await post(way, '/openai/v1/chat/completions', { body: { ...body, stream } });
    expect([failed.status, recorded(failed)]).toEqual([400, 'all']);
    expect(runOf(failed)).toMatchObject({ status: 'Failed', conversationId: failed.headers['x-conversation-id'] });
    expect((await counts()).lastRejection).toEqual(counted.lastRejection);
  });

  test('records only the metadata if its key says so, and continues no such response', async () => {
    const key = host.issueKey({ recordLevel: 'metadata' });
    const answer = await chat({ key, headers: { 'x-app-team': 'blue' } });
    const { status, title, input, output, usage, appHeaders } = runOf(answer);
    expect([recorded(answer), status, title, usage?.total_tokens, appHeaders]).toEqual([
      'metadata',
      'Completed',
      '',
      12,
      { team: 'blue' },
    ]);
    expect([input.systemMessage, input.renderedPrompt, input.configuration, output.content]).toEqual([
      null,
      '',
      null,
      '',
    ]);
    expect(host.host.storage.exchanges.read(runOf(answer).runId)).toBeNull();
    const { model } = body;
    const first = await post(way, '/openai/v1/responses', { key, body: { model, input: 'Hi' } });
    const next = { model, input: 'Go on', previous_response_id: first.body.id };
    const second = await post(way, '/openai/v1/responses', { key, body: next });
    expect([second.status, second.body.error.param]).toEqual([400, 'previous_response_id']);
  });

  test('redacts what is recorded, and counts it; the model and the program get it whole', async () => {
    setRecorder({ redaction: [{ kind: 'email' }] });
    const earlier = await counts();
    const before = host.host.storage.runs.count();
    const answer = await chat({ headers: { 'user-agent': 'tool (me@example.org)' } });
    expect(answer.body.choices[0].message.content).toBe('Mail ada@example.org');
    expect(host.provider.calls.at(-1)!.bodyText).toContain('bob@example.org');
    const run = runOf(answer);
    expect([recorded(answer), host.host.storage.runs.count()]).toEqual(['all', before + 1]);
    expect(JSON.stringify(run)).not.toContain('@example.org');
    expect([run.title, run.output.content]).toEqual([
      expect.stringMatching(/^I am \[/),
      expect.stringMatching(/^Mail \[/),
    ]);
    expect(host.host.storage.exchanges.read(run.runId)).toBeNull();
    const { calls, recorded: records, hidden } = await counts();
    expect([calls - earlier.calls, records - earlier.recorded]).toEqual([1, 1]);
    expect(hiddenIn({ hidden }) - hiddenIn(earlier)).toBe(2);
  });

  test('redacts a streamed answer', async () => {
    setRecorder({ redaction: [{ kind: 'email' }] });
    host.provider.answerWith((call) => call.chatStream(['Mail ada@exam', 'ple.org']));
    const answer = await chat({ body: { ...body, stream: true } });
    expect(answer.text).toContain('ple.org');
    expect(runOf(answer)).toMatchObject({
      status: 'Completed',
      output: { content: expect.stringMatching(/^Mail \[/) },
    });
  });

  test('rejects a level that there is none of', async () => {
    const { status, body: error } = await chat({ headers: { 'x-touchstone-record': 'some' } });
    expect([status, error.error.message]).toEqual([400, expect.stringContaining('x-touchstone-record')]);
  });
});

describe.each(ways)('lists of models, %s', (way) => {
  const get = (path: string, key?: string, headers = {}) =>
    host.send(way, { method: 'GET', path, headers: { authorization: `Bearer ${key ?? host.key}`, ...headers } });
  const namesIn = (text: string) => (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id);

  test("are Touchstone's own without a key for OpenAI, with names of prompts and agents for who manages them", async () => {
    const name = `Listed over ${way}`;
    await post(way, '/v1/agents', { body: { name, model: 'hl-gpt-4o-mini', prompt: 'Be brief.' } });
    for (const promptText of ['One', 'Two'])
      await post(way, '/v1/prompts', { body: { name: `Double over ${way}`, version: { promptText } } });
    const all = await get('/openai/v1/models');
    expect(all.status).toBe(200);
    expect(JSON.parse(all.text)).toMatchObject({
      object: 'list',
      data: expect.arrayContaining([
        { id: 'service/hl-gpt-4o-mini', object: 'model', created: 0, owned_by: 'touchstone' },
        { id: `agent/${name}`, object: 'model', created: expect.any(Number), owned_by: 'touchstone' },
      ]),
    });
    const double = namesIn(all.text).filter((id) => id.includes('Double'));
    expect(double).toEqual([]);
    const few = await get('/openai/v1/models', host.issueKey({ scopes: ['run'] }));
    expect(namesIn(few.text).every((id) => /^(?:service|on-device)\//.test(id))).toBe(true);
    const one = await get(`/openai/v1/models/${encodeURIComponent(`agent/${name}`)}`);
    expect(JSON.parse(one.text)).toMatchObject({ id: `agent/${name}`, object: 'model' });
    const none = await get('/openai/v1/models/agent%2FNobody');
    expect([none.status, JSON.parse(none.text).error.message]).toEqual([404, expect.stringContaining('agent/Nobody')]);
  });

  test.each([
    ['/openai/v1/models', '/v1/models'],
    ['/openai/v1/models/ft:gpt%2F4?x=1', '/v1/models/ft:gpt%2F4?x=1'],
    ['/anthropic/v1/models?limit=2', '/v1/models?limit=2'],
    ['/anthropic/v1/models/claude-opus-4-5', '/v1/models/claude-opus-4-5'],
    ['/openai/scripted/v1/models?x=1', '/v1/models?x=1'],
    ['/openai/scripted/v1/models/meta%2Fllama%3A8b?x=1', '/v1/models/meta%2Fllama%3A8b?x=1'],
    ['/openai/scripted/v1/models/meta/llama:8b', '/v1/models/meta/llama:8b'],
    ['/openai/%73cripted/v1/models/v1/models', '/v1/models/v1/models'],
    ['/openai/scripted/v1/models/agent/Nobody', '/v1/models/agent/Nobody'],
  ])("are the provider's with its key: %s", async (path, sent) => {
    host.host.storage.providerCache.setBaseAddress('Anthropic', host.provider.baseAddress);
    host.provider.answerWith((call) => call.json(200, { object: 'list', data: [{ id: 'gpt-9', own: 1 }] }));
    const keys = { authorization: 'Bearer sk-own', 'x-touchstone-key': host.key };
    const { status, text } = await get(path, undefined, keys);
    expect([status, text]).toEqual([200, '{"object":"list","data":[{"id":"gpt-9","own":1}]}']);
    expect(host.provider.calls.at(-1)).toMatchObject({ method: 'GET', path: sent });
  });

  test('say that a key is missing for Anthropic', async () => {
    expect((await get('/anthropic/v1/models')).status).toBe(503);
  });
});

test.each([
  ['functions', [{ name: 'look' }]],
  ['logit_bias', { 50256: -100 }],
  ['logprobs', true],
])('a parameter that own models would leave out is rejected: %s', async (name, value) => {
  const body = { model: 'service/hl-gpt-4o-mini', messages: ask('Hello'), [name]: value };
  const answer = await post('HTTP/1.1', '/openai/v1/chat/completions', { body });
  expect([answer.status, answer.body.error.param]).toEqual([400, name]);
});

test.each([
  ['chat/completions', { messages: [] }, 'messages', 'messages: must not be empty'],
  ['responses', { input: [] }, 'input', 'input: must not be empty'],
  [
    'chat/completions',
    { messages: [{ role: 'system', content: 'Be brief.' }] },
    'messages',
    'messages: must have a message that is no system message',
  ],
  ['responses', { instructions: 'Be brief.' }, 'input', 'input: must have a message that is no system message'],
])('a call of %s needs a message: %j', async (path, fields, param, message) => {
  const body = { model: 'service/hl-gpt-4o-mini', ...fields };
  const answer = await post('in memory', `/openai/v1/${path}`, { body });
  expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ param, message })]);
});

test('an agent with dataspaces needs a message to search for', async () => {
  const { body: dataspace } = await post('in memory', '/dataspaces', { body: { name: 'Searched' } });
  const agent = { name: 'Searcher', model: 'hl-gpt-4o-mini', prompt: '', dataspaceIds: [dataspace.id] };
  await post('in memory', '/v1/agents', { body: agent });
  const messages = [{ role: 'assistant', content: 'Hello' }];
  const { status, body } = await post('in memory', '/openai/v1/chat/completions', {
    body: { model: 'agent/Searcher', messages },
  });
  expect([status, body.error]).toEqual([
    400,
    expect.objectContaining({ param: 'messages', message: expect.stringContaining('no user message') }),
  ]);
});

test('a parameter at its default is no obstacle', async () => {
  const body = {
    model: 'service/hl-gpt-4o-mini',
    messages: ask('Hello'),
    logprobs: false,
    logit_bias: {},
    functions: [],
  };
  expect((await post('HTTP/1.1', '/openai/v1/chat/completions', { body })).status).toBe(200);
});

describe('an answer of one of the own models that a program refers to', () => {
  test('is left out if it is empty', async () => {
    const model = 'service/hl-gpt-4o-mini';
    host.provider.answerWith((call) => call.chatAnswer({ content: '', finishReason: 'length' }));
    const first = await post('HTTP/1.1', '/openai/v1/responses', { body: { model, input: 'Which colour?' } });
    expect(first.body).toMatchObject({ status: 'incomplete' });
    const next = { model, previous_response_id: first.body.id, input: 'In one word' };
    expect((await post('HTTP/1.1', '/openai/v1/responses', { body: next })).status).toBe(200);
    expect(host.provider.calls.at(-1)!.body['messages']).toEqual([...ask('Which colour?'), ...ask('In one word')]);
  });

  test('stands for its texts and calls, for its own key only', async () => {
    const model = 'service/hl-gpt-4o-mini';
    const first = await post('HTTP/1.1', '/openai/v1/responses', { body: { model, input: 'Which colour?' } });
    const reference = { type: 'item_reference', id: first.body.output[0].id };
    const input = [...ask('Which colour?'), reference, reference, ...ask('And at night?')];
    const second = await post('HTTP/1.1', '/openai/v1/responses', { body: { model, input } });
    expect(second.status).toBe(200);
    expect(host.provider.calls.at(-1)!.body['messages']).toMatchObject([
      { role: 'user', content: 'Which colour?' },
      { role: 'assistant', content: 'Blue.' },
      { role: 'user', content: 'And at night?' },
    ]);
    for (const [key, wrong] of [
      [host.issueKey(), input],
      [host.key, [{ type: 'item_reference', id: 'msg_1' }]],
    ] as const) {
      const { status, text } = await post('HTTP/1.1', '/openai/v1/responses', { key, body: { model, input: wrong } });
      expect([status, text]).toEqual([400, expect.stringContaining('item_reference')]);
    }
  });
});
