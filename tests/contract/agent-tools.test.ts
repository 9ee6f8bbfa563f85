// @module-tag slow
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Agent } from '../../shared/contract/agents.ts';
import type { ToolCall } from '../../shared/contract/tools.ts';
import { escapedText, foundRuns, guardOf, threat } from '../support/guarded-host.ts';
import { callJson, rejectionOf } from '../support/json-call.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { judgeError, judgeEvents } from '../support/specification-judge.ts';
import { minimalRequest, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';
import { answerCalls } from '../support/tool-calls.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
const setGuard = guardOf(() => host);

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = { type: 'function', function: { name: 'weather', description: 'The weather of a city', parameters } };
const clock = { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } };
const configuration = { tools: [weather, clock], tool_choice: 'auto' };

const paris = { id: 'call_1', name: 'weather', arguments: '{ "city": "Paris" }' };
const time = { id: 'call_2', name: 'clock', arguments: '{}' };
const results = [
  { toolCallId: 'call_2', content: '12:00' },
  { toolCallId: 'call_1', content: '{"sky":"blue"}', isError: true },
];

/** The model calls tools when it is asked about the weather, and repeats any other message. */
beforeEach(() => answerWeather([paris, time]));

function answerWeather(called: readonly ToolCall[], content: string | null = null): void {
  host.provider.answerWith((call) => {
    const last = (call.body['messages'] as { role: string; content: string }[]).at(-1)!;
    if (last.role === 'user' && last.content.includes('weather')) return void answerCalls(call, called, content);
    return answer(call, `${last.content}!`);
  });
}

function answer(call: ScriptedCall, content: string) {
  return call.body['stream'] === true ? call.chatStream([content]) : call.chatAnswer({ content });
}

interface Options {
  readonly way?: Way;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

async function create(input: Record<string, unknown> = {}): Promise<Agent> {
  const body = { name: 'Helper', model: minimalRequest.model, prompt: 'Be kind.', configuration, ...input };
  const response = await callJson(host, 'in memory', 'POST', '/agents', { body });
  expect([response.status, response.body]).toEqual([201, expect.any(Object)]);
  return response.body;
}

async function change(agent: Agent, body: Record<string, unknown>): Promise<void> {
  expect((await callJson(host, 'in memory', 'PATCH', `/agents/${agent.id}`, { body })).status).toBe(200);
}

function sendMessage(agent: Agent, body: Record<string, unknown>, { way = 'in memory', ...call }: Options = {}) {
  return callJson(host, way, 'POST', `/agents/${agent.id}/run`, { body, ...call });
}

/** A message whose answer calls tools. */
async function callTools(agent: Agent, options: Options = {}, conversationId: string | null = null) {
  const { status, body } = await sendMessage(agent, { message: 'What is the weather?', conversationId }, options);
  expect([status, body.toolCalls?.length]).toEqual([200, expect.any(Number)]);
  return body as { runId: string; conversationId: string };
}

const lastMessages = () => host.provider.calls.at(-1)?.body['messages'] as { role: string }[];

const runsOf = async (conversationId: string, key = host.key) =>
  (await callJson(host, 'in memory', 'GET', `/conversations/${conversationId}`, { key })).body.runs;

const system = { role: 'system', content: 'Be kind.' };
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => expect.objectContaining({ role: 'assistant', content });
const called = (...calls: ToolCall[]) =>
  expect.objectContaining({
    role: 'assistant',
    tool_calls: calls.map(({ id, name }) =>
      expect.objectContaining({ id, function: expect.objectContaining({ name }) }),
    ),
  });
const result = (toolCallId: string, content: string) => ({ role: 'tool', tool_call_id: toolCallId, content });
const question = 'What is the weather?';
const weatherTurn = [
  user(question),
  called(paris, time),
  result('call_1', '{"sky":"blue"}'),
  result('call_2', '12:00'),
  assistant('12:00!'),
];

describe.each(ways)('%s: a turn that calls tools', (way) => {
  test('is continued with their results, and remembered in order', async () => {
    const agent = await create();
    const first = await sendMessage(agent, { message: 'Hi' }, { way });
    const { conversationId } = first.body;
    const calling = await sendMessage(agent, { message: question, conversationId }, { way });
    expect([calling.status, calling.body]).toEqual([
      200,
      expect.objectContaining({ message: '', toolCalls: [paris, time], conversationId }),
    ]);
    expect(host.provider.calls.at(-1)?.body).toMatchObject({ tools: [weather, clock], tool_choice: 'auto' });

    const body = { continueRunId: calling.body.runId.toUpperCase(), toolResults: results };
    const continued = await sendMessage(agent, body, { way });
    expect([continued.status, continued.body]).toEqual([
      200,
      expect.objectContaining({ message: '12:00!', conversationId }),
    ]);
    expect(continued.body).not.toHaveProperty('toolCalls');
    const before = [system, user('Hi'), assistant('Hi!')];
    expect(lastMessages()).toEqual([...before, ...weatherTurn.slice(0, -1)]);

    await sendMessage(agent, { message: 'Thanks', conversationId }, { way });
    expect(lastMessages()).toEqual([...before, ...weatherTurn, user('Thanks')]);
    const runs = await runsOf(conversationId);
    expect(runs.map((run: { metadata: { memory: unknown } }) => run.metadata.memory)).toEqual([
      { turns: 0, forgottenTurns: 0 },
      { turns: 1, forgottenTurns: 0 },
      { turns: 1, forgottenTurns: 0 },
      { turns: 2, forgottenTurns: 0 },
    ]);
    expect(runs[2]).toMatchObject({
      conversationRunId: continued.body.runId,
      metadata: { agentId: agent.id },
      input: {
        promptText: question,
        systemMessage: 'Be kind.',
        messages: [
          { role: 'user' },
          { role: 'assistant', content: [paris, time].map((call) => ({ type: 'toolCall', ...call })) },
          {
            role: 'tool',
            content: [
              { toolCallId: 'call_1', isError: true },
              { toolCallId: 'call_2', isError: false },
            ],
          },
        ],
      },
    });
    expect(await foundRuns(host, { agentId: agent.id })).toHaveLength(1);
  });

  test('is streamed, and continued as a stream', async () => {
    const agent = await create();
    const headers = { accept: 'text/event-stream' };
    answerWeather([paris, time], 'One moment.');
    const calling = await sendMessage(agent, { message: question }, { way, headers });
    const parts = calling.text
      .split('\n')
      .flatMap((line) => (line.startsWith('data: ') ? JSON.parse(line.slice(6)) : []));
    const chunks = parts.flatMap((part) => part.choice?.message.toolCalls ?? []);
    expect(chunks.filter(({ id }: { id?: string }) => id !== undefined)).toMatchObject([
      { index: 0, id: 'call_1', name: 'weather' },
      { index: 1, id: 'call_2', name: 'clock' },
    ]);
    expect(parts.map((part) => part.choice?.message.content ?? '').join('')).toBe('One moment.');
    expect(parts.at(-1)?.choice).toMatchObject({ finish_reason: 'ToolCalls' });
    const body = { continueRunId: calling.headers['x-run-id'], toolResults: results };
    const continued = await sendMessage(agent, body, { way, headers });
    expect(judgeEvents(continued)).toMatchObject({ content: '12:00!', finishReason: 'Stop' });
    expect(continued.headers['x-conversation-id']).toBe(calling.headers['x-conversation-id']);
    expect(lastMessages().at(2)).toMatchObject({ role: 'assistant', content: 'One moment.' });
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['a message, too', { message: 'Hi' }, 'message', "can't be sent with tool results"],
    ['no results', { toolResults: undefined }, 'toolResults', 'is required'],
    ['a missing result', { toolResults: [results[0]] }, 'toolResults', 'has no result for the call call_1 of weather'],
    [
      'an unknown call',
      { toolResults: [...results, { toolCallId: 'x', content: '' }] },
      'toolResults[2].toolCallId',
      'is not a call of this run',
    ],
    [
      'two results for one call',
      { toolResults: [results[0], results[0]] },
      'toolResults[1].toolCallId',
      'already has a result',
    ],
    ['a conversation that nobody has', { conversationId: randomUUID() }, 'conversationId', 'is not a conversation'],
    ['other fields', { promptText: 'Hi' }, 'promptText', 'is not a known field'],
  ])('is not continued with %s', async (_, changed, field, issue) => {
    const agent = await create();
    const { runId } = await callTools(agent);
    const before = host.provider.calls.length;
    const body = { continueRunId: runId, toolResults: results, ...changed };
    const rejected = await sendMessage(agent, body, { way });
    expect(rejectionOf(rejected)).toEqual([400, 'invalid_request', [{ field, issue }]]);
    expect(host.provider.calls.length).toBe(before);
  });
});

describe("a run that can't be continued", () => {
  const issueOf = async (agent: Agent, body: Record<string, unknown>, key = host.key) =>
    rejectionOf(await sendMessage(agent, { toolResults: results, ...body }, { key }));
  const rejected = (issue: string) => [400, 'invalid_request', [{ field: 'continueRunId', issue }]];

  test('is unknown, of another caller, of another agent, or a completion', async () => {
    const [agent, other] = [await create(), await create()];
    const { runId } = await callTools(agent);
    expect((await sendMessage(agent, { continueRunId: randomUUID(), toolResults: results })).status).toBe(404);
    const stranger = await sendMessage(agent, { continueRunId: runId, toolResults: results }, { key: host.issueKey() });
    judgeError(stranger, 404);
    expect(await issueOf(other, { continueRunId: runId })).toEqual(rejected('is not a turn of this agent'));
    const body = { ...minimalRequest, promptText: question, configuration };
    const completion = await callJson(host, 'in memory', 'POST', '/api/completions/sync', { body });
    expect(await issueOf(agent, { continueRunId: completion.body.runId })).toEqual(
      rejected('is not a turn of this agent'),
    );
    const asCompletion = { continueRunId: runId, toolResults: results };
    const sent = await callJson(host, 'in memory', 'POST', '/api/completions/sync', { body: asCompletion });
    expect(rejectionOf(sent)).toEqual(rejected('is a turn of an agent'));
    expect(sent.body.error.message).toContain('POST /agents/{id}/run');
  });

  test('called no tools, or results came without a run', async () => {
    const agent = await create();
    const { body } = await sendMessage(agent, { message: 'Hi' });
    expect(await issueOf(agent, { continueRunId: body.runId })).toEqual(rejected('has no tool calls'));
    expect(rejectionOf(await sendMessage(agent, { message: 'Hi', toolResults: [] }))).toEqual([
      400,
      'invalid_request',
      [{ field: 'toolResults', issue: 'needs continueRunId' }],
    ]);
  });

  test('is not the newest of its conversation: a message that came since leaves the turn out of the history', async () => {
    const agent = await create();
    const { runId, conversationId } = await callTools(agent);
    expect((await sendMessage(agent, { message: 'Never mind', conversationId })).status).toBe(200);
    expect(lastMessages()).toEqual([system, user('Never mind')]);
    const issue = 'is not the newest completed run of the conversation';
    expect(await issueOf(agent, { continueRunId: runId })).toEqual(rejected(issue));
    const elsewhere = await sendMessage(agent, { message: 'Hi' });
    const there = { continueRunId: runId, conversationId: elsewhere.body.conversationId };
    expect(await issueOf(agent, there)).toEqual(rejected(issue));
  });

  test('is continued once, also by two callers at the same time', async () => {
    const agent = await create();
    const { runId, conversationId } = await callTools(agent);
    const body = { continueRunId: runId, toolResults: results };
    const sent = await Promise.all([sendMessage(agent, body), sendMessage(agent, body)]);
    expect(sent.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(await runsOf(conversationId)).toHaveLength(2);
  });
});

test('a failed continuation can be sent again, and calls can follow calls', async () => {
  const agent = await create({ configuration: { ...configuration, tool_choice: 'required' } });
  const { runId, conversationId } = await callTools(agent);
  const body = { continueRunId: runId, toolResults: results };
  host.provider.answerWith((call) => call.fail(500, 'overloaded'));
  judgeError(await sendMessage(agent, body), 502);
  const again = { id: 'call_3', name: 'clock', arguments: '{}' };
  host.provider.answerWith((call) => void answerCalls(call, [again], 'Let me see.'));
  const second = await sendMessage(agent, body);
  expect(second.body.toolCalls).toEqual([again]);
  // The model would never come to an answer.
  expect(host.provider.calls.at(-1)?.body).not.toHaveProperty('tool_choice');
  host.provider.answerWith((call) => answer(call, 'Blue.'));
  const toolResults = [{ toolCallId: 'call_3', content: '13:00' }];
  expect((await sendMessage(agent, { continueRunId: second.body.runId, toolResults })).body.message).toBe('Blue.');
  await sendMessage(agent, { message: 'Thanks', conversationId });
  expect(lastMessages()).toEqual([
    system,
    ...weatherTurn.slice(0, -1),
    { role: 'assistant', content: 'Let me see.', tool_calls: [expect.objectContaining({ id: 'call_3' })] },
    result('call_3', '13:00'),
    assistant('Blue.'),
    user('Thanks'),
  ]);
  expect(host.provider.calls.at(-1)?.body['tool_choice']).toBe('required');
});

test('a turn ends as it began, whatever its agent has become', async () => {
  const agent = await create();
  const { runId, conversationId } = await callTools(agent);
  await change(agent, { prompt: 'Be rude.', aiSystem: 'Groq', model: 'llama-3.3-70b-versatile', configuration: null });
  await sendMessage(agent, { continueRunId: runId, toolResults: results });
  expect(host.provider.calls.at(-1)?.body).toMatchObject({ model: 'model', tools: [weather, clock] });
  expect(lastMessages()).toEqual([system, ...weatherTurn.slice(0, -1)]);
  // Without tools, the model gets what was said.
  await sendMessage(agent, { message: 'Thanks', conversationId });
  const rude = { ...system, content: 'Be rude.' };
  expect(lastMessages()).toEqual([rude, user(question), assistant('12:00!'), user('Thanks')]);
});

test('results that fill the context are left out of the history, what was said is not', async () => {
  const agent = await create();
  const { runId, conversationId } = await callTools(agent);
  // 4096 tokens are assumed of a server that does not tell.
  const toolResults = [
    { toolCallId: 'call_1', content: 'x'.repeat(50_000) },
    { toolCallId: 'call_2', content: 'Noon' },
  ];
  expect((await sendMessage(agent, { continueRunId: runId, toolResults })).status).toBe(200);
  await sendMessage(agent, { message: 'Thanks', conversationId });
  expect(lastMessages()).toEqual([system, user(question), assistant('Noon!'), user('Thanks')]);
});

test('a prompt that sets roles keeps the history in its place', async () => {
  const prompt =
    '{{role "system"}}Rules.{{role "user"}}Ping{{role "model"}}Pong{{history}}{{role "user"}}They say: {{message}}';
  const agent = await create({ prompt });
  const key = host.issueKey({ scopes: ['run'] });
  const { conversationId } = (await sendMessage(agent, { message: 'Hi' }, { key })).body;
  const { runId } = await callTools(agent, { key }, conversationId);
  await change(agent, { prompt: 'Be rude.' });
  await sendMessage(agent, { continueRunId: runId, toolResults: results }, { key });
  const fixed = [{ role: 'system', content: 'Rules.' }, user('Ping'), assistant('Pong')];
  const said = [user('Hi'), assistant('They say: Hi!')];
  const turn = [user(`They say: ${question}`), ...weatherTurn.slice(1, -1)];
  expect(lastMessages()).toEqual([...fixed, ...said, ...turn]);
  // The caller sees its message, the calls and the results, but not the template.
  const runs = await runsOf(conversationId, key);
  expect(runs[2].input.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(runs[2].input.renderedPrompt).toBe(`${question}\n\n{"sky":"blue"}\n\n12:00`);
  expect(JSON.stringify(runs)).not.toMatch(/They say: What|Rules|Pong/);
});

test('a branch continues the run that it begins with in another way', async () => {
  const agent = await create();
  const window = async (method: string, path: string, body?: unknown) => {
    const request = new Request(`http://window.test${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await host.host.api.fetch(request, { access: 'window' })).json();
  };
  const run = (body: unknown) => window('POST', `/agents/${agent.id}/run`, body);
  const calling = await run({ message: question });
  const first = await run({ continueRunId: calling.runId, toolResults: results });
  const threads = '/window/agents/threads';
  const branches = `${threads}/${first.conversationId}/branches`;
  const { conversationId } = await window('POST', branches, { runId: first.runId });
  const toolResults = [results[1], { toolCallId: 'call_2', content: '18:00' }];
  const second = await run({ conversationId, continueRunId: calling.runId, toolResults });
  expect([second.message, second.conversationId]).toEqual(['18:00!', conversationId]);
  await run({ message: 'Thanks', conversationId });
  const changed = weatherTurn.with(3, result('call_2', '18:00')).with(4, assistant('18:00!'));
  expect(lastMessages()).toEqual([system, ...changed, user('Thanks')]);
  const { runs } = await window('GET', `${threads}/${conversationId}`);
  expect(runs.map(({ conversationRunId }: { conversationRunId: string }) => conversationRunId).slice(0, 2)).toEqual([
    calling.runId,
    second.runId,
  ]);
  expect(runs[1].branches).toEqual([first.conversationId, conversationId]);
});

test.each<[string, unknown, string]>([
  [
    'a tool without a schema',
    { tools: [{ type: 'function', function: { name: 'a' } }] },
    'tools[0].function.parameters',
  ],
  [
    'an invalid schema',
    { tools: [weather, { type: 'function', function: { name: 'a', parameters: { type: 'text' } } }] },
    'tools[1].function.parameters',
  ],
  ['two tools with one name', { tools: [weather, weather] }, 'tools[1].function.name'],
  [
    'an unknown tool as choice',
    { tools: [weather], tool_choice: { type: 'function', function: { name: 'b' } } },
    'tool_choice',
  ],
])('an agent with %s is 400 that names the field', async (_, bad, field) => {
  const agent = await create({ configuration: null });
  const made = { name: 'A', model: minimalRequest.model, prompt: '', configuration: bad };
  for (const [method, path, body] of [
    ['POST', '/agents', made],
    ['POST', '/v1/agents', made],
    ['PATCH', `/agents/${agent.id}`, { configuration: bad }],
  ] as const) {
    const rejected = await callJson(host, 'in memory', method, path, { body });
    judgeError(rejected, 400);
    expect(rejected.body.error.details.map((detail: { field: string }) => detail.field)).toEqual([
      `configuration.${field}`,
    ]);
  }
});

describe('with the guard refusing prompts', () => {
  test.each([
    ['a result', threat],
    ['a result escaped in JSON', `{"page":"${escapedText(threat)}"}`],
  ])('%s that is flagged is 400 that names it', async (_, content) => {
    const agent = await create();
    const { runId } = await callTools(agent);
    setGuard({ prompts: 'refuse', answers: 'off' });
    const before = host.provider.calls.length;
    const toolResults = [results[1], { toolCallId: 'call_2', content }];
    const rejected = await sendMessage(agent, { continueRunId: runId, toolResults });
    const details = [{ field: 'toolResults[1].content', issue: expect.stringContaining('violence') }];
    expect(rejectionOf(rejected)).toEqual([400, 'invalid_request', details]);
    expect(host.provider.calls.length).toBe(before);
    expect((await sendMessage(agent, { continueRunId: runId, toolResults: results })).status).toBe(200);
  });

  test.each(['calls', 'results'])('%s from before the guard are not sent with a later message', async (which) => {
    const agent = await create();
    const text = which === 'calls' ? JSON.stringify({ text: threat }) : '{}';
    answerWeather([{ ...paris, arguments: text }]);
    const { runId, conversationId } = await callTools(agent);
    host.provider.answerWith((call) => answer(call, 'Done.'));
    const toolResults = [{ toolCallId: 'call_1', content: which === 'calls' ? 'Posted.' : threat }];
    expect((await sendMessage(agent, { continueRunId: runId, toolResults })).status).toBe(200);
    setGuard({ prompts: 'refuse', answers: 'off' });
    const before = host.provider.calls.length;
    const rejected = await sendMessage(agent, { message: 'Thanks', conversationId });
    const details = [{ field: 'conversationId', issue: expect.stringContaining('violence') }];
    expect(rejectionOf(rejected)).toEqual([400, 'invalid_request', details]);
    expect(host.provider.calls.length).toBe(before);
  });
});

test('the audit finds calls and results of an agent by their words', async () => {
  const agent = await create();
  answerWeather([{ ...paris, arguments: '{"city":"Timbuktu"}' }]);
  const { runId } = await callTools(agent);
  const toolResults = [{ toolCallId: 'call_1', content: '{"wind":"harmattan"}' }];
  const continued = await sendMessage(agent, { continueRunId: runId, toolResults });
  expect(await foundRuns(host, { text: 'timbuktu', agentId: agent.id })).toContain(runId);
  expect(await foundRuns(host, { text: 'harmattan' })).toEqual([continued.body.runId]);
});

test('nothing of this was a failure of the service', () => {
  expect(host.log).toEqual([]);
});

describe.each(ways)('metadata of a caller with names that the service uses itself, %s', (way) => {
  const own = {
    ...minimalRequest,
    promptText: 'What is the {{topic}}?',
    replacements: { topic: 'weather' },
    systemMessage: 'Mine.',
    configuration,
  };
  const claim = async (metadata: Record<string, unknown>, key: string): Promise<Record<string, string>> => {
    const { status, headers } = await callJson(host, way, 'POST', '/api/completions/sync', {
      body: { ...own, metadata },
      key,
    });
    expect(status).toBe(200);
    return headers as Record<string, string>;
  };

  test.each([{ agentId: 'support-7' }, { agentId: 'support-7', isTemplate: true }, { anonymised: true }])(
    '%j, changes nothing for its run',
    async (metadata) => {
      const key = host.issueKey({ scopes: ['run'] });
      const headers = await claim(metadata, key);
      const conversation = await callJson(host, way, 'GET', `/conversations/${headers['x-conversation-id']}`, { key });
      const input = { systemMessage: 'Mine.', renderedPrompt: question, configuration };
      expect(conversation.body).toMatchObject({ name: question, runs: [{ agentId: null, input, metadata }] });
      const body = { continueRunId: headers['x-run-id'], toolResults: results };
      expect((await callJson(host, way, 'POST', '/api/completions/sync', { body, key })).status).toBe(200);
      const dataset = { name: 'Mine', selection: { runIds: [headers['x-run-id']] } };
      const made = await callJson(host, way, 'POST', '/datasets/from-runs', { body: dataset });
      expect(made.body).toMatchObject({ rowCount: 1, skippedRuns: 0 });
      const added = { runIds: [headers['x-run-id']] };
      const grown = await callJson(host, way, 'POST', `/datasets/${made.body.id}/from-runs`, { body: added });
      expect(grown.body).toMatchObject({ rowCount: 2, skippedRuns: 0 });
    },
  );

  test('does not make its run a turn of an agent', async () => {
    const agent = await create();
    const key = host.issueKey({ scopes: ['run'] });
    const headers = await claim({ agentId: agent.id }, key);
    const forged = await sendMessage(agent, { continueRunId: headers['x-run-id'], toolResults: results }, { way, key });
    expect(rejectionOf(forged)).toEqual([
      400,
      'invalid_request',
      [{ field: 'continueRunId', issue: 'is not a turn of this agent' }],
    ]);
  });
});
