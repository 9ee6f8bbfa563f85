import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkRunToolCalls } from '../../shared/contract/schemas.ts';
import { judgeError } from '../support/specification-judge.ts';
import { answerCalls, chatCalls } from '../support/tool-calls.ts';
import { completionCall, minimalRequest, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(null));

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    strict: true,
  },
};
const clock = { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } };
const configuration = { tools: [weather, clock], tool_choice: 'auto', parallel_tool_calls: true };

/** As the model wrote it, spaces included. */
const paris = '{ "city": "Paris" }';
const calls = [
  { id: 'call_1', name: 'weather', arguments: paris },
  { id: 'call_2', name: 'clock', arguments: '{}' },
];

interface Chunk {
  index: number;
  id?: string;
  name?: string;
  arguments: string;
}
interface Answer {
  runId: string;
  finishReason: string;
  content: string;
  toolCalls: unknown[];
  chunks: Chunk[];
}

const paths = ['/api/completions/sync', '/api/completions/sse', '/api/completions/stream', '/api/completions'] as const;

interface StreamedPart {
  runId: string;
  choice?: { finish_reason?: string; message: { content?: string; toolCalls?: Chunk[] } };
}

/** What a response says, whichever way it came. */
function read(path: string, text: string): Answer {
  if (!path.endsWith('sse') && !path.endsWith('stream')) {
    const { choices, runId } = JSON.parse(text);
    const { message, finish_reason: finishReason } = choices[0];
    return { runId, finishReason, content: message.content, toolCalls: message.toolCalls ?? [], chunks: [] };
  }
  const parts: StreamedPart[] = path.endsWith('sse')
    ? text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
    : JSON.parse(text);
  const chunks: Chunk[] = parts.flatMap((part) => part.choice?.message.toolCalls ?? []);
  const toolCalls: (typeof calls)[number][] = [];
  for (const { index, id, name, arguments: piece } of chunks) {
    if (id !== undefined) toolCalls[index] = { id, name: name ?? '', arguments: '' };
    toolCalls[index]!.arguments += piece;
  }
  return {
    runId: parts[0]!.runId,
    finishReason: parts.at(-1)?.choice?.finish_reason ?? '',
    content: parts.map((part) => part.choice?.message.content ?? '').join(''),
    toolCalls,
    chunks,
  };
}

async function complete(way: Way, path: string, body: Record<string, unknown>, key = host.key): Promise<Answer> {
  const answer = await host.send(way, completionCall({ key }, path, body));
  expect(answer.text).toSatisfy(() => answer.status === 200);
  return read(path, answer.text);
}

/** A continuation has no prompt. */
function continueCall(path: string, body: Record<string, unknown>, key = host.key) {
  return { ...completionCall({ key }, path), body: JSON.stringify(body) };
}

async function callTools(way: Way = 'in memory', key = host.key): Promise<Answer> {
  host.provider.answerWith((call) => void answerCalls(call, calls));
  return complete(way, '/api/completions/sync', { configuration }, key);
}

const results = [
  { toolCallId: 'call_2', content: '12:00' },
  { toolCallId: 'call_1', content: '{"sky":"blue"}', isError: true },
];

describe.each(ways)('%s', (way) => {
  test.each(paths)('%s returns the calls as the model wrote them, and records them', async (path) => {
    host.provider.answerWith((call) => void answerCalls(call, calls, 'One moment.'));
    const answer = await complete(way, path, { configuration });
    expect(answer).toMatchObject({ finishReason: 'ToolCalls', content: 'One moment.', toolCalls: calls });
    if (answer.chunks.length > 0) {
      expect(answer.chunks.filter(({ id }) => id !== undefined)).toHaveLength(2);
      expect(answer.chunks.filter(({ index }) => index === 0).length).toBeGreaterThan(2);
    }
    expect(host.provider.calls.at(-1)?.body).toMatchObject({
      tools: [weather, clock],
      tool_choice: 'auto',
      parallel_tool_calls: true,
    });
    expect(host.host.storage.runs.read(answer.runId)).toMatchObject({
      status: 'Completed',
      output: { content: 'One moment.', toolCalls: calls, finishReason: 'ToolCalls' },
    });
  });

  test.each(paths)('%s returns arguments in JSON where the provider writes none', async (path) => {
    const called = ['', '{}', ''].map((given, index) => ({ id: `call_${index}`, name: 'clock', arguments: given }));
    host.provider.answerWith((call) => void answerCalls(call, called));
    const { toolCalls } = await complete(way, path, { configuration });
    expect(toolCalls).toEqual(called.map((call) => ({ ...call, arguments: '{}' })));
  });

  test.each(paths)('%s continues a run with the results of its calls', async (path) => {
    const first = await callTools(way);
    host.provider.answerWith((call) =>
      call.body['stream'] === true ? void call.chatStream(['Blue']) : call.chatAnswer({ content: 'Blue' }),
    );
    const response = await host.send(way, continueCall(path, { continueRunId: first.runId, toolResults: results }));
    expect([response.status, response.text]).toEqual([200, expect.any(String)]);
    const answer = read(path, response.text);
    expect(answer).toMatchObject({ finishReason: 'Stop', content: 'Blue', toolCalls: [] });
    expect(host.provider.calls.at(-1)?.body).toMatchObject({
      model: 'model',
      tools: [weather, clock],
      messages: [
        { role: 'user', content: minimalRequest.promptText },
        { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'weather' } }, { id: 'call_2' }] },
        { role: 'tool', tool_call_id: 'call_1', content: '{"sky":"blue"}' },
        { role: 'tool', tool_call_id: 'call_2', content: '12:00' },
      ],
    });
    const [before, after] = [first, answer].map(({ runId }) => host.host.storage.runs.read(runId)!);
    expect(after!.conversationId).toBe(before!.conversationId);
    expect(after!.input).toMatchObject({
      promptText: minimalRequest.promptText,
      messages: [
        { role: 'user', content: [{ type: 'text', text: minimalRequest.promptText }] },
        { role: 'assistant', content: calls.map((call) => ({ type: 'toolCall', ...call })) },
        {
          role: 'tool',
          content: [
            { type: 'toolResult', toolCallId: 'call_1', content: '{"sky":"blue"}', isError: true },
            { type: 'toolResult', toolCallId: 'call_2', content: '12:00', isError: false },
          ],
        },
      ],
    });
  });

  test.each<[string, Record<string, unknown>, string, RegExp]>([
    [
      'a tool without a schema',
      { tools: [{ type: 'function', function: { name: 'a' } }] },
      'tools[0].function.parameters',
      /^is required$/,
    ],
    [
      'a flat tool without a schema',
      { tools: [{ type: 'function', name: 'a' }] },
      'tools[0].parameters',
      /^is required$/,
    ],
    ['a tool without a function', { tools: [{ type: 'function' }] }, 'tools[0].function', /^is required$/],
    [
      'an invalid name',
      { tools: [{ type: 'function', function: { ...weather.function, name: 'a b' } }] },
      'tools[0].function.name',
      /letters, digits/,
    ],
    ['two tools with one name', { tools: [weather, clock, weather] }, 'tools[2].function.name', /tools\[0\]/],
    [
      'a schema over 100 KB',
      { tools: [{ type: 'function', function: { name: 'a', parameters: { description: 'é'.repeat(51_200) } } }] },
      'tools[0].function.parameters',
      /100 KB/,
    ],
    [
      'a schema that is too deep',
      { tools: [{ type: 'function', function: { name: 'a', parameters: nested(40) } }] },
      'tools[0].function.parameters',
      /32 levels/,
    ],
    [
      'an invalid schema',
      { tools: [weather, { type: 'function', function: { name: 'a', parameters: { type: 'text' } } }] },
      'tools[1].function.parameters',
      /^at \/type must be one of/,
    ],
    [
      'an unknown tool as choice',
      { tools: [weather], tool_choice: { type: 'function', function: { name: 'b' } } },
      'tool_choice',
      /unknown tool "b"/,
    ],
    ['a forced call without tools', { tool_choice: 'required' }, 'tool_choice', /there is none/],
    ['another choice', { tools: [weather], tool_choice: 'sometimes' }, 'tool_choice', /must be `auto`/],
    [
      'too many tools',
      {
        tools: Array.from({ length: 129 }, (_, index) => ({
          type: 'function',
          function: { ...clock.function, name: `t${index}` },
        })),
      },
      'tools',
      /at most 128/,
    ],
    [
      'parallel calls that are no boolean',
      { tools: [weather], parallel_tool_calls: 'yes' },
      'parallel_tool_calls',
      /boolean/,
    ],
  ])('rejects %s with 400 and its field, without a run', async (_, invalid, field, issue) => {
    const before = host.provider.calls.length;
    const answer = await host.send(way, completionCall(host, '/api/completions/sse', { configuration: invalid }));
    judgeError(answer, 400);
    expect(JSON.parse(answer.text).error.details).toContainEqual({
      field: `configuration.${field}`,
      issue: expect.stringMatching(issue),
    });
    expect(host.provider.calls.length).toBe(before);
  });
});

function nested(levels: number): object {
  let schema: object = { type: 'string' };
  for (let level = 1; level < levels; level += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

describe('a continuation', () => {
  test.each<[string, object, number, string | null]>([
    ['without results', { toolResults: undefined }, 400, 'toolResults'],
    [
      'with an unknown call',
      { toolResults: [...results, { toolCallId: 'call_3', content: '' }] },
      400,
      'toolResults[2].toolCallId',
    ],
    ['with two results for a call', { toolResults: [results[0], results[0]] }, 400, 'toolResults[1].toolCallId'],
    ['with a missing result', { toolResults: [results[0]] }, 400, 'toolResults'],
    ['of no run', { continueRunId: crypto.randomUUID() }, 404, null],
    ['of something else', { continueRunId: '1; DROP TABLE runs' }, 400, 'continueRunId'],
    ['with another prompt', { promptText: 'Other' }, 400, 'promptText'],
    ['with replacements', { replacements: { a: 'b' } }, 400, 'replacements'],
    ['with dataspaces', { dataspaceIds: [] }, 400, 'dataspaceIds'],
    ['in another conversation', { metadata: { conversationId: crypto.randomUUID() } }, 400, 'metadata.conversationId'],
    [
      'with results of another kind',
      { toolResults: [{ toolCallId: 'call_1', content: { a: 1 } }] },
      400,
      'toolResults[0].content',
    ],
    ['on a model without tools', { aiSystem: 'Groq', model: 'groq/compound' }, 400, 'model'],
  ])('rejects %s', async (_, change, status, field) => {
    const { runId } = await callTools();
    const before = host.provider.calls.length;
    const body = { continueRunId: runId, toolResults: results, ...change };
    const answer = await host.send('in memory', continueCall('/api/completions/sync', body));
    judgeError(answer, status);
    if (field !== null) expect(JSON.parse(answer.text).error.details[0].field).toBe(field);
    expect(host.provider.calls.length).toBe(before);
  });

  test("rejects another caller's run with 404, and results without a run with 400", async () => {
    const { runId } = await callTools('in memory', host.issueKey({ name: 'another' }));
    const body = { continueRunId: runId, toolResults: results };
    judgeError(await host.send('in memory', continueCall('/api/completions/sync', body)), 404);
    // The window shows the runs of all callers, so it says why.
    const inWindow = await host.host.api.fetch(
      new Request('http://window.test/api/completions/sync', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
      { access: 'window' },
    );
    expect([inWindow.status, await inWindow.text()]).toEqual([400, expect.stringContaining('run it here to try')]);
    const alone = completionCall(host, '/api/completions/sync', { toolResults: results });
    judgeError(await host.send('in memory', alone), 400);
  });

  test('says why a run whose texts the retention has removed, or all of it, is not continued', async () => {
    const { runId } = await callTools();
    const send = async (id: string) =>
      await host.send('in memory', continueCall('/api/completions/sync', { continueRunId: id, toolResults: results }));
    host.host.storage.retention.apply('anonymise', Date.now() + 1000, 1000);
    const anonymous = await send(runId);
    judgeError(anonymous, 400);
    expect(anonymous.text).toContain('The retention has removed the texts of this run.');
    const inWindow = await host.host.api.fetch(
      new Request('http://window.test/api/completions/sync', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ continueRunId: crypto.randomUUID(), toolResults: results }),
      }),
      { access: 'window' },
    );
    expect([inWindow.status, await inWindow.text()]).toEqual([404, expect.stringContaining('has been deleted')]);
  });

  test('rejects a run without calls with 400', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Hi' }));
    const { runId } = await complete('in memory', '/api/completions/sync', {});
    const body = { continueRunId: runId, toolResults: [] };
    judgeError(await host.send('in memory', continueCall('/api/completions/sync', body)), 400);
  });

  test("names the runs before it, regardless of the caller's metadata", async () => {
    const first = await callTools();
    host.provider.answerWith((call) => void answerCalls(call, [calls[0]!]));
    const send = async (body: object): Promise<string> => {
      const answer = await host.send('in memory', continueCall('/api/completions/sync', { ...body }));
      return read('/api/completions/sync', answer.text).runId;
    };
    const metadata = { draftId: 'draft', continuedRunIds: [crypto.randomUUID()] };
    const second = await send({ continueRunId: first.runId.toUpperCase(), toolResults: results, metadata });
    const third = await send({ continueRunId: second, toolResults: [{ toolCallId: 'call_1', content: '' }] });
    const metadataOf = (runId: string) => host.host.storage.runs.read(runId)?.metadata;
    expect(metadataOf(second)).toEqual({ draftId: 'draft', continuedRunIds: [first.runId] });
    expect(metadataOf(third)).toEqual({ continuedRunIds: [first.runId, second] });
  });

  test.each([
    [{ type: 'any' }, undefined],
    [{ type: 'tool', name: 'weather' }, undefined],
    [{ type: 'auto' }, { type: 'auto' }],
  ])('drops the choice %j of a provider if it forces a call', async (choice, next) => {
    host.provider.answerWith((call) => void answerCalls(call, [calls[0]!]));
    const body = { configuration: { ...configuration, tool_choice: choice } };
    const { runId } = await complete('in memory', '/api/completions/sync', body);
    expect(host.provider.calls.at(-1)?.body['tool_choice']).toEqual(choice);
    const step = { continueRunId: runId, toolResults: [{ toolCallId: 'call_1', content: 'Rain' }] };
    expect((await host.send('in memory', continueCall('/api/completions/sync', step))).status).toBe(200);
    expect(host.provider.calls.at(-1)?.body['tool_choice']).toEqual(next);
  });

  test('can be continued itself, drops a forced choice, and ends at 4 MB', async () => {
    host.provider.answerWith((call) => void answerCalls(call, [calls[0]!]));
    const body = { configuration: { ...configuration, tool_choice: 'required' } };
    let { runId } = await complete('in memory', '/api/completions/sync', body);
    const content = 'x'.repeat(1_500_000);
    for (const length of [3, 5]) {
      const step = { continueRunId: runId, toolResults: [{ toolCallId: 'call_1', content }] };
      const answer = await host.send('in memory', continueCall('/api/completions/sync', step));
      expect(answer.status).toBe(200);
      ({ runId } = read('/api/completions/sync', answer.text));
      expect(host.provider.calls.at(-1)?.body['messages']).toHaveLength(length);
      expect(host.provider.calls.at(-1)?.body['tool_choice']).toBeUndefined();
    }
    const tooLong = { continueRunId: runId, toolResults: [{ toolCallId: 'call_1', content }] };
    const answer = await host.send('in memory', continueCall('/api/completions/sync', tooLong));
    judgeError(answer, 400);
    expect(JSON.parse(answer.text).error.details[0]).toMatchObject({
      field: 'continueRunId',
      issue: expect.stringContaining('4 MB'),
    });
  });
});

test('checks the arguments of the calls against the schemas of their tools', async () => {
  const check = async (called: (typeof calls)[number][], tools: object[] = [weather, clock]) => {
    host.provider.answerWith((call) => void answerCalls(call, called));
    const { runId } = await complete('in memory', '/api/completions/sync', { configuration: { tools } });
    const { calls: checks } = await windowClient(host.host).call(checkRunToolCalls, { parameters: { id: runId } });
    return checks.map(({ outcome, isKnownTool, errors }) => ({ outcome, isKnownTool, errors }));
  };
  const valid = { outcome: 'valid', isKnownTool: true, errors: [] };
  const called = (name: string, text: string) => ({ id: crypto.randomUUID(), name, arguments: text });
  expect(
    await check([
      called('weather', paris),
      called('weather', '{"city": 1}'),
      called('weather', '{"city": '),
      called('clock', ''),
      called('other', '{}'),
    ]),
  ).toEqual([
    valid,
    { outcome: 'invalid', isKnownTool: true, errors: [{ path: '/city', message: 'must be a string' }] },
    { outcome: 'not-json', isKnownTool: true, errors: [] },
    valid,
    { outcome: 'none', isKnownTool: false, errors: [] },
  ]);
  expect(await check([called('search', '{}')], [{ type: 'web_search' }])).toEqual([
    { outcome: 'none', isKnownTool: true, errors: [] },
  ]);
  const unknown = { parameters: { id: crypto.randomUUID() } };
  await expect(windowClient(host.host).call(checkRunToolCalls, unknown)).rejects.toThrow('no run with this id');
});

test('more than 128 calls fail the run', async () => {
  const many = Array.from({ length: 129 }, (_, index) => ({ id: `c${index}`, name: 'clock', arguments: '{}' }));
  host.provider.answerWith((call) => void answerCalls(call, many));
  for (const path of ['/api/completions/sync', '/api/completions/sse']) {
    const answer = await host.send('in memory', completionCall(host, path, { configuration }));
    expect(answer.text).toContain('called more than 128 tools');
  }
});

test("sends a provider's own tools and the flat format of a function", async () => {
  host.provider.answerWith((call) => call.chatAnswer({ content: 'Hi' }));
  const own = { type: 'web_search', depth: 2 };
  await complete('in memory', '/api/completions/sync', {
    configuration: { tools: [own], tool_choice: { type: 'any' } },
  });
  expect(host.provider.calls.at(-1)?.body).toMatchObject({ tools: [own], tool_choice: { type: 'any' } });
  const flat = { type: 'function', ...clock.function };
  await complete('in memory', '/api/completions/sync', { configuration: { tools: [own, flat] } });
  expect(host.provider.calls.at(-1)?.body['tools']).toEqual([clock, own]);
});

test('drops tools with a warning for a model without them, and rejects a forced call with 400', async () => {
  const body = { aiSystem: 'Groq', model: 'groq/compound', configuration: { tools: [weather] } };
  host.provider.answerWith((call) => call.chatAnswer({ content: 'Hi' }));
  const answer = await host.send('in memory', completionCall(host, '/api/completions/sync', body));
  expect(JSON.parse(answer.text).warnings).toContainEqual(expect.objectContaining({ parameter: 'tools' }));
  expect(host.provider.calls.at(-1)?.body['tools']).toBeUndefined();
  const forced = { ...body, configuration: { tools: [weather], tool_choice: 'required' } };
  judgeError(await host.send('in memory', completionCall(host, '/api/completions/sync', forced)), 400);
});

test('the reasoning before a call goes back only to the model that made it, behind a built-in model too', async () => {
  const { settings } = host.host.storage;
  const route = (model: string) =>
    settings.update({
      serviceRoutes: {
        ...settings.read().serviceRoutes,
        'hl-gpt-4o-mini': { kind: 'provider', aiSystem: 'OpenAiCompatible', model },
      },
    });
  route('scripted/one');
  const message = { role: 'assistant', content: null, reasoning_content: 'My thought', tool_calls: chatCalls(calls) };
  host.provider.answerWith((call) => call.json(200, { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
  const path = '/api/completions/sync';
  const first = await complete('in memory', path, { aiSystem: 'ServiceAi', model: 'hl-gpt-4o-mini', configuration });
  host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue' }));
  const sentTo = async (model: string): Promise<string> => {
    route(model);
    const body = { continueRunId: first.runId, toolResults: results };
    expect((await host.send('in memory', continueCall(path, body))).status).toBe(200);
    return JSON.stringify(host.provider.calls.at(-1)?.body);
  };
  expect(await sentTo('scripted/one')).toContain('My thought');
  expect(await sentTo('scripted/two')).not.toContain('My thought');
});
