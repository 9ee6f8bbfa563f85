// @module-tag slow
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { defaultSettings } from '../../shared/contract/settings.ts';
import { logImport, logPreview } from '../../shared/contract/log-imports.ts';
import type { ConversationRun } from '../../shared/contract/conversations.ts';
import { callJson, jsonRequest } from '../support/json-call.ts';
import { chatAttributes, otlpRequest, type TestSpan } from '../support/otlp-log.ts';
import { formOf, uploadRequest, type UploadPart } from '../support/source-upload.ts';
import { startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

async function send(
  way: Way,
  path: string,
  content: string | Buffer,
  fileName: string,
  fields: Record<string, string> = {},
) {
  const parts: UploadPart[] = Object.entries(fields).map(([name, value]) => ({ name, content: value }));
  const form = formOf([...parts, { name: 'file', content, fileName }]);
  const answer = await host.send(way, { ...uploadRequest(host, form), path });
  return { status: answer.status, body: JSON.parse(answer.text) };
}

/** Resolves with the first state for which `isReached` is true. */
function stateOf(id: string, isReached: (state: string | null) => boolean): Promise<void> {
  const { api } = host.host;
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const request = new Request('http://touchstone/window/audit/imports/events', { signal: controller.signal });
    const follow = async () => {
      const response = await api.fetch(request, { access: 'window' });
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        for (const line of chunk.split('\n').filter((each) => each.startsWith('data: {'))) {
          const list = JSON.parse(line.slice(6)).data as { id: string; state: string }[];
          if (!isReached(list.find((each) => each.id === id)?.state ?? null)) continue;
          controller.abort();
          return resolve();
        }
      }
    };
    follow().catch((error: unknown) => (controller.signal.aborted ? resolve() : reject(error as Error)));
  });
}

async function imported(way: Way, content: string | Buffer, fileName: string, fields: Record<string, string> = {}) {
  const { status, body } = await send(way, '/audit/imports', content, fileName, fields);
  expect([status, logImport.parse(body)]).toEqual([202, body]);
  await stateOf(body.id, (state) => state !== 'Running');
  const read = await callJson(host, way, 'GET', `/audit/imports/${body.id}`);
  return logImport.parse(read.body);
}

async function runsOf(way: Way, filter: Record<string, unknown>): Promise<ConversationRun[]> {
  const { body } = await callJson(host, way, 'POST', '/audit/conversations', { body: filter });
  return body.conversations.flatMap(({ runs }: { runs: ConversationRun[] }) => runs);
}

async function removed(way: Way, id: string): Promise<void> {
  const { status } = await callJson(host, way, 'DELETE', `/audit/imports/${id}`);
  expect(status).toBe(202);
  await stateOf(id, (state) => state === null);
}

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const tool: TestSpan = { spanId: '00000000000000ff', attributes: { 'gen_ai.operation.name': 'execute_tool' } };
const other: TestSpan = { spanId: '00000000000000fe', attributes: { 'http.request.method': 'GET' } };

describe.each(ways)('%s: imported logs', (way) => {
  test('traces of OpenTelemetry become runs of one conversation, with what was left out', async () => {
    const second = chatAttributes('And the second?', 'Purple pelican');
    const failed = { 'gen_ai.operation.name': 'chat', 'gen_ai.system': 'mistral_ai', 'gen_ai.request.model': 'large' };
    const log =
      line(
        otlpRequest([{ spanId: '0000000000000001', attributes: chatAttributes('Which bird?', 'A pelican') }, tool]),
      ) +
      'not json\n' +
      line(
        otlpRequest([
          { spanId: '0000000000000002', attributes: second },
          { spanId: '0000000000000003', attributes: failed, status: { code: 2, message: 'quota' } },
          other,
        ]),
      );
    const preview = await send(way, '/audit/imports/preview', log, 'traces.jsonl');
    expect(logPreview.parse(preview.body)).toMatchObject({
      format: 'otlp',
      columns: [],
      report: {
        calls: 3,
        duplicates: 0,
        conversations: 1,
        withoutUsage: 1,
        withoutAnswer: 1,
        costFromLog: 0,
        costFromCatalogue: 2,
        leftOut: [
          { reason: 'Operation "execute_tool" is not a call of a model', entries: 1 },
          { reason: 'Lines that are not valid JSON', entries: 1 },
          { reason: 'Spans without a call of a model', entries: 1 },
        ],
      },
    });
    expect(await runsOf(way, {})).toEqual([]);
    const batch = await imported(way, log, 'traces.jsonl');
    expect(batch).toMatchObject({ name: 'traces.jsonl', state: 'Completed', progress: 1, imported: 3, failure: null });
    expect(await runsOf(way, {})).toMatchObject([
      {
        status: 'Completed',
        aiSystem: 'OpenAi',
        model: 'gpt-4o-mini',
        origin: { api: 'import', client: 'claims-bot' },
        input: { renderedPrompt: 'Which bird?' },
        output: { content: 'A pelican', finishReason: 'Stop' },
        usage: { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 },
        timing: { totalMs: 1500, firstTokenMs: null },
        createdAt: '2026-11-20T12:00:00.000Z',
      },
      { output: { content: 'Purple pelican' } },
      {
        status: 'Failed',
        aiSystem: 'OpenAiCompatible',
        model: 'mistral_ai/large',
        output: { content: '', error: { message: 'quota' } },
        usage: null,
        cost: null,
      },
    ]);
    const again = await imported(way, log, 'copy.jsonl');
    expect(again).toMatchObject({ imported: 0, report: { calls: 0, duplicates: 3 } });
    await removed(way, again.id);
    expect(await runsOf(way, {})).toHaveLength(3);
    await removed(way, batch.id);
    expect(await runsOf(way, {})).toEqual([]);
  });

  test('messages as events, of both generations, and as numbered attributes', async () => {
    const base = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': 'x' };
    const details = { ...chatAttributes('From an event', 'Event answer'), 'gen_ai.system_instructions': 'Be kind' };
    const indexed = {
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'Numbered',
      'gen_ai.completion.0.content': 'One',
      'gen_ai.usage.prompt_tokens': 4,
      'gen_ai.usage.completion_tokens': 1,
    };
    const log = JSON.stringify(
      otlpRequest([
        {
          spanId: '0000000000000001',
          attributes: base,
          events: [{ name: 'gen_ai.client.inference.operation.details', attributes: details }],
        },
        {
          spanId: '0000000000000002',
          attributes: base,
          events: [
            { name: 'gen_ai.user.message', attributes: { content: 'Old event' } },
            {
              name: 'gen_ai.choice',
              attributes: { message: '{"role":"assistant","content":"Old answer"}', finish_reason: 'length' },
            },
          ],
        },
        { spanId: '0000000000000003', attributes: { ...base, ...indexed } },
      ]),
      null,
      2,
    );
    const batch = await imported(way, log, 'events.json');
    const runs = await runsOf(way, {});
    expect(
      runs.map(({ input, output }) => [input.systemMessage, input.renderedPrompt, output.content, output.finishReason]),
    ).toEqual([
      ['Be kind', 'From an event', 'Event answer', 'Stop'],
      [null, 'Old event', 'Old answer', 'Length'],
      [null, 'Numbered', 'One', null],
    ]);
    await removed(way, batch.id);
  });

  test('spans of the AI SDK, whose messages have names of their own', async () => {
    const call = { toolCallId: 'call_1', toolName: 'weather', input: { city: 'Oslo' } };
    const messages = [
      { role: 'system', content: 'You forecast' },
      { role: 'user', content: [{ type: 'text', text: 'How cold?' }] },
      { role: 'assistant', content: [{ type: 'tool-call', ...call }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'text', value: '5 degrees' } }] },
    ];
    const definition = { type: 'function', name: 'weather', description: 'Weather', inputSchema: { type: 'object' } };
    const span = (spanId: string, sent: readonly object[], more: Record<string, unknown>) => ({
      spanId,
      attributes: {
        'ai.operationId': 'ai.streamText.doStream',
        'ai.prompt.messages': JSON.stringify(sent),
        'ai.prompt.tools': [JSON.stringify(definition)],
        'ai.response.msToFirstChunk': 250,
        'gen_ai.system': 'openai.chat',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.input_tokens': 9,
        'gen_ai.usage.output_tokens': 4,
        ...more,
      },
    });
    const log = JSON.stringify(
      otlpRequest([
        { spanId: '0000000000000001', attributes: { 'ai.operationId': 'ai.streamText', 'ai.model.id': 'gpt-4o' } },
        span('0000000000000002', messages.slice(0, 2), {
          'ai.response.toolCalls': JSON.stringify([call]),
          'ai.response.finishReason': 'tool-calls',
        }),
        span('0000000000000003', messages, { 'ai.response.text': 'Cold.', 'ai.response.finishReason': 'stop' }),
      ]),
    );
    const batch = await imported(way, log, 'ai-sdk.json');
    const answered = { id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' };
    const runs = await runsOf(way, {});
    expect(runs).toMatchObject([
      {
        aiSystem: 'OpenAi',
        model: 'gpt-4o',
        input: {
          systemMessage: 'You forecast',
          renderedPrompt: 'How cold?',
          configuration: {
            tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
          },
        },
        output: { content: '', toolCalls: [answered], finishReason: 'ToolCalls' },
        usage: { total_tokens: 13 },
        timing: { firstTokenMs: 250 },
      },
      { output: { content: 'Cold.', finishReason: 'Stop' } },
    ]);
    expect(runs[1]!.input.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'How cold?' }] },
      { role: 'assistant', content: [{ type: 'toolCall', ...answered }] },
      { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'call_1', content: '5 degrees', isError: false }] },
    ]);
    await removed(way, batch.id);
  });

  test('a provider of any name', async () => {
    const span = {
      spanId: '0000000000000001',
      attributes: { ...chatAttributes('A?', 'B'), 'gen_ai.provider.name': 'constructor' },
    };
    const batch = await imported(way, JSON.stringify(otlpRequest([span])), 'names.json');
    expect(await runsOf(way, {})).toMatchObject([
      { aiSystem: 'OpenAiCompatible', model: expect.stringMatching(/^constructor\//) },
    ]);
    await removed(way, batch.id);
  });

  test('observations of Langfuse, with their cost, session and tools', async () => {
    const generation = {
      id: 'gen-1',
      traceId: 'trace-1',
      sessionId: 'session-1',
      type: 'GENERATION',
      model: 'claude-sonnet-4-5',
      startTime: '2026-11-01T10:00:00.000Z',
      endTime: '2026-11-01T10:00:02.500Z',
      completionStartTime: '2026-11-01T10:00:00.400Z',
      input: [
        { role: 'system', content: 'You help' },
        { role: 'user', content: 'Find the order' },
      ],
      output: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"id":7}' } }],
      },
      usageDetails: { input: 10, output: 5, input_cached_tokens: 90, total: 105 },
      costDetails: { total: 0.25 },
      modelParameters: { temperature: '0.2' },
    };
    const observations = [generation, { ...generation, id: 'span-1', type: 'SPAN' }];
    // As the API returns them, and as files have them.
    const page = await imported(way, JSON.stringify({ data: observations, meta: { page: 1 } }), 'page.json');
    expect(page).toMatchObject({ format: 'langfuse', imported: 1 });
    await removed(way, page.id);
    const batch = await imported(way, JSON.stringify(observations), 'langfuse.json');
    expect(batch.report.leftOut).toEqual([
      { reason: 'Observations of the type SPAN, not calls of a model', entries: 1 },
    ]);
    expect(await runsOf(way, {})).toMatchObject([
      {
        aiSystem: 'Anthropic',
        input: { systemMessage: 'You help', renderedPrompt: 'Find the order', configuration: { temperature: 0.2 } },
        output: {
          content: '',
          toolCalls: [{ id: 'call_1', name: 'find', arguments: '{"id":7}' }],
          finishReason: 'ToolCalls',
        },
        usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, details: { cached_tokens: 90 } },
        cost: { amount: 0.25, pricesFrom: null },
        timing: { firstTokenMs: 400, totalMs: 2500 },
      },
    ]);
    await removed(way, batch.id);
  });

  test('chats of OpenAI, equal ones as often as they are in the file', async () => {
    const chat = {
      messages: [
        { role: 'user', content: 'Hi {{x}} {{#each y}}' },
        { role: 'assistant', content: 'Hello' },
      ],
    };
    const call = {
      request: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Two?' }], temperature: 1 },
      response: {
        id: 'chatcmpl-1',
        created: 1_700_000_000,
        choices: [{ message: { role: 'assistant', content: '2' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      },
    };
    const log = line(chat) + line(chat) + line(call) + line({ prompt: 'no messages' });
    const batch = await imported(way, log, 'chats.jsonl');
    expect(batch).toMatchObject({
      format: 'openai-chat',
      imported: 3,
      report: { withoutTime: 2, leftOut: [{ reason: 'Lines without messages', entries: 1 }] },
    });
    const runs = await runsOf(way, {});
    expect(runs.filter(({ output }) => output.content === 'Hello')).toHaveLength(2);
    expect(runs).toContainEqual(
      expect.objectContaining({
        createdAt: '2023-11-14T22:13:20.000Z',
        input: expect.objectContaining({ renderedPrompt: 'Two?', configuration: { temperature: 1 } }),
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      }),
    );
    const again = await imported(way, log, 'chats.jsonl');
    expect(again.imported).toBe(0);
    await removed(way, again.id);
    await removed(way, batch.id);
  });

  test('CSV with detected and with chosen columns', async () => {
    const csv =
      'Frage,Antwort,model,time,latency_ms\nWie spät?,"Zwölf, Uhr",gpt-4o,1764400000,250.5\n,leer,gpt-4o,1,1\n';
    expect(await send(way, '/audit/imports/preview', csv, 'a.csv')).toMatchObject({
      status: 400,
      body: { error: { message: 'The file has no column for the prompt; choose one.' } },
    });
    const columns = JSON.stringify({ Frage: 'prompt', Antwort: 'answer' });
    expect(await send(way, '/audit/imports/preview', csv, 'a.csv', { columns: '{"Frage":"title"}' })).toMatchObject({
      status: 400,
      body: { error: { details: [{ field: 'columns' }] } },
    });
    const batch = await imported(way, csv, 'a.csv', { columns, name: 'Old calls' });
    expect(batch).toMatchObject({
      name: 'Old calls',
      imported: 1,
      report: { leftOut: [{ reason: 'Rows without a prompt', entries: 1 }] },
    });
    expect(await runsOf(way, {})).toMatchObject([
      {
        model: 'gpt-4o',
        input: { renderedPrompt: 'Wie spät?' },
        output: { content: 'Zwölf, Uhr' },
        timing: { totalMs: 250.5 },
      },
    ]);
    await removed(way, batch.id);
  });

  test('rejects files that are no logs', async () => {
    for (const [content, message] of [
      ['', 'The file is empty.'],
      ['{', 'The file is neither JSON nor lines of JSON.'],
      ['{"a":1}', 'The file is none of the logs'],
      ['[]', 'The file is none of the logs'],
      [Buffer.from([123, 0xff, 0xfe]), 'The file is not in UTF-8.'],
    ] as const) {
      const answer = await send(way, '/audit/imports', content, 'x.json');
      expect(answer).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining(message) } } });
    }
    expect((await callJson(host, way, 'GET', '/audit/imports')).body).toEqual({ data: [] });
  });

  test('records traces that a program sends, once', async () => {
    const request = otlpRequest([{ spanId: '0000000000000009', attributes: chatAttributes('Live?', 'Yes') }, other]);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await callJson(host, way, 'POST', '/v1/traces', { body: request });
      expect([answer.status, answer.body]).toEqual([200, { partialSuccess: {} }]);
    }
    expect(await runsOf(way, {})).toMatchObject([{ output: { content: 'Yes' } }]);
    const { data } = (await callJson(host, way, 'GET', '/audit/imports')).body;
    expect(data).toMatchObject([
      {
        imported: 1,
        report: { duplicates: 1, leftOut: [{ entries: 2 }] },
        name: expect.stringMatching(/^Traces from /),
      },
    ]);
    await removed(way, data[0].id);
    expect(await runsOf(way, {})).toEqual([]);
  });
});

test.each(ways)('takes traces with gzip, and rejects what is no gzip or too large, %s', async (way) => {
  const sendPacked = (encoding: string, body: Buffer) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    return host.send(way, { ...jsonRequest(host, 'POST', '/v1/traces', { headers }), body });
  };
  const span = { spanId: '00000000000000c1', attributes: chatAttributes('Packed?', 'Yes') };
  const json = JSON.stringify(otlpRequest([span]));
  expect((await sendPacked('gzip', gzipSync(json))).status).toBe(200);
  expect(await runsOf(way, {})).toMatchObject([{ output: { content: 'Yes' } }]);
  for (const { id } of (await callJson(host, way, 'GET', '/audit/imports')).body.data) await removed(way, id);

  const bomb = gzipSync(Buffer.alloc(64 * 1_048_576, ' '));
  for (const [encoding, body, status, message] of [
    ['gzip', Buffer.from(json), 400, 'The request body is not valid gzip.'],
    ['gzip', gzipSync(json).subarray(0, 40), 400, 'The request body is not valid gzip.'],
    ['gzip', bomb, 413, 'The request body is larger than 4 MB'],
    ['br', Buffer.from(json), 415, 'Send the body with gzip or without content-encoding.'],
  ] as const) {
    const answer = await sendPacked(encoding, body);
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([status, expect.stringContaining(message)]);
  }
});

describe.each(ways)('the rules of recording, %s', (way) => {
  afterEach(() => void host.host.storage.settings.update({ recorder: defaultSettings.recorder }));
  const span = {
    spanId: '00000000000000b1',
    attributes: { ...chatAttributes('I am bob@example.org', 'Mail ada@example.org'), 'user.email': 'eve@example.org' },
  };

  test.each([
    ['none', []],
    ['metadata', [{ input: { renderedPrompt: '', systemMessage: null }, output: { content: '' }, metadata: {} }]],
  ] as const)('apply to traces: of a key with "%s", no text is stored', async (recordLevel, stored) => {
    const key = host.issueKey({ recordLevel });
    const { status } = await callJson(host, way, 'POST', '/v1/traces', { key, body: otlpRequest([span], 'bob') });
    expect(status).toBe(200);
    const runs = await runsOf(way, {});
    expect(runs).toMatchObject(stored);
    expect(runs).toHaveLength(stored.length);
    expect(JSON.stringify(runs)).not.toContain('@example.org');
    if (recordLevel === 'metadata') expect(runs[0]!.usage).toMatchObject({ total_tokens: 150 });
    for (const { id } of (await callJson(host, way, 'GET', '/audit/imports')).body.data) await removed(way, id);
  });

  test('redact traces and files before they are stored', async () => {
    const recorder = { ...defaultSettings.recorder, redaction: [{ kind: 'email' as const }] };
    host.host.storage.settings.update({ recorder });
    expect((await callJson(host, way, 'POST', '/v1/traces', { body: otlpRequest([span]) })).status).toBe(200);
    const file = JSON.stringify(otlpRequest([{ ...span, spanId: '00000000000000b2' }]));
    await imported(way, file, 'traces.json');
    const runs = await runsOf(way, {});
    expect(runs).toHaveLength(2);
    expect(JSON.stringify(runs)).not.toContain('@example.org');
    expect(runs[0]!.output.content).toMatch(/^Mail \[/);
    for (const { id } of (await callJson(host, way, 'GET', '/audit/imports')).body.data) await removed(way, id);
  });
});

test('a call has another run on another host, and is known by the ID that earlier versions gave its run', async () => {
  const log = line(
    otlpRequest([{ spanId: '00000000000000aa', attributes: chatAttributes('Which host?', 'This one') }]),
  );
  const second = await startTestHost();
  onTestFinished(() => second.close());
  const runIdOn = async (from: TestHost): Promise<string> => {
    const answer = await callJson(from, 'HTTP/1.1', 'POST', '/v1/traces', { body: JSON.parse(log) });
    expect(answer.status).toBe(200);
    from.host.storage.flush();
    const database = new Database(from.host.storage.databaseFile, { readonly: true });
    const id = database.prepare('SELECT id FROM runs ORDER BY sequence DESC LIMIT 1').pluck().get() as string;
    database.close();
    return id;
  };
  const [runId, otherRunId] = [await runIdOn(host), await runIdOn(second)];
  expect(runId).not.toBe(otherRunId);
  const database = new Database(host.host.storage.databaseFile);
  database.prepare('UPDATE runs SET id = ? WHERE id = ?').run('0e9183d7-8952-8629-a0a1-2ac8eb81bedd', runId);
  database.close();
  const preview = await send('HTTP/1.1', '/audit/imports/preview', log, 'calls.jsonl');
  expect(preview.body.report).toMatchObject({ calls: 0, duplicates: 1 });
  const again = await imported('HTTP/1.1', log, 'calls.jsonl');
  expect(again).toMatchObject({ imported: 0, report: { duplicates: 1 } });
  for (const { id } of (await callJson(host, 'HTTP/1.1', 'GET', '/audit/imports')).body.data)
    await removed('HTTP/1.1', id);
});

test('stores messages once that calls of a log repeat, finds each of them, and removes them with the import', async () => {
  const turns = ['Purple pelicans?', 'Where do they fish?', 'Do they sleep?'];
  const calls = turns.map((_, last) => {
    const sent = turns.slice(0, last + 1).flatMap((text, index) => [
      { role: 'user', parts: [{ type: 'text', content: text }] },
      { role: 'assistant', parts: [{ type: 'text', content: `Answer ${index}` }] },
    ]);
    return {
      spanId: `00000000000000a${last}`,
      start: Date.UTC(2026, 10, 20, 12, last),
      attributes: {
        ...chatAttributes('', `Answer ${last}`),
        'gen_ai.input.messages': JSON.stringify(sent.slice(0, -1)),
      },
    };
  });
  // The second call comes first: what it repeats is new there.
  const batch = await imported('HTTP/1.1', line(otlpRequest([calls[1]!, calls[0]!, calls[2]!])), 'turns.jsonl');
  const { storage } = host.host;
  const stored = (): number => {
    const database = new Database(storage.databaseFile, { readonly: true });
    const count = database.prepare('SELECT count(*) FROM shared_messages').pluck().get() as number;
    database.close();
    return count;
  };
  expect(stored()).toBe(5);
  const runs = (await runsOf('HTTP/1.1', {})).filter(({ output }) => /^Answer \d$/.test(output.content));
  const texts = runs
    .map(({ input }) => ({ roles: input.messages.map(({ role }) => role[0]).join(''), text: input.renderedPrompt }))
    .toSorted((first, second) => first.roles.length - second.roles.length);
  expect(texts).toEqual([
    { roles: 'u', text: 'Purple pelicans?' },
    { roles: 'uau', text: 'Purple pelicans?\n\nAnswer 0\n\nWhere do they fish?' },
    { roles: 'uauau', text: 'Do they sleep?' },
  ]);
  expect(runs.map(({ input }) => input.promptText).join()).toContain('Do they sleep?');
  await removed('HTTP/1.1', batch.id);
  expect(stored()).toBe(0);
});

test('lines with JSON of 100,000 levels and with many messages are imported as far as the record has room', async () => {
  const deep = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
  const answer = (content: string) => `{"role":"assistant","content":"${content}"}`;
  const calls = `[{"id":"c","function":{"name":"f","arguments":${deep}}}]`;
  const lines = [
    `{"messages":[{"role":"user","content":[${deep}]},${answer('Deep question')}]}`,
    `{"messages":[{"role":"user","content":"Look."},{"role":"assistant","tool_calls":${calls}}]}`,
    `{"messages":[{"role":"user","content":"Call."},{"role":"assistant","content":"Called","tool_calls":[${Array.from({ length: 20_000 }, (_, index) => `{"id":"${index}","function":{"name":"f","arguments":"{}"}}`).join()}]}]}`,
    `{"messages":[${'{},'.repeat(100_000)}${answer('Early')},{"role":"user","content":"Why?"},${answer('Many messages')}]}`,
  ];
  const batch = await imported('HTTP/1.1', `${lines.join('\n')}\n`, 'hostile.jsonl');
  expect(batch).toMatchObject({ state: 'Completed', imported: 4, failure: null });
  const runs = await runsOf('HTTP/1.1', {});
  expect(runs.find(({ output }) => output.content === 'Called')!.output.toolCalls).toHaveLength(8192);
  const found = runs.find(({ output }) => output.content === 'Many messages')!;
  const { input } = host.host.storage.runs.read(found.conversationRunId)!;
  expect(input.messages!.length).toBeLessThan(8192);
  expect(runs.some(({ output }) => output.content === 'Deep question')).toBe(true);
  await removed('HTTP/1.1', batch.id);
});

test('a key needs the scope of the endpoint', async () => {
  const runner = host.issueKey({ scopes: ['run'] });
  const auditor = host.issueKey({ scopes: ['audit'] });
  const get = async (key: string, method: string, path: string) =>
    (
      await host.send('in memory', {
        method,
        path,
        headers: { 'x-hl-api-key': key, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{"resourceSpans":[]}' }),
      })
    ).status;
  expect(await get(runner, 'GET', '/audit/imports')).toBe(403);
  expect(await get(auditor, 'GET', '/audit/imports')).toBe(403);
  expect(await get(auditor, 'POST', '/v1/traces')).toBe(403);
  expect(await get(runner, 'POST', '/v1/traces')).toBe(200);
});
