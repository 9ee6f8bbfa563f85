// @module-tag slow
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from '../../shared/contract/agents.ts';
import { callJson, jsonRequest, rejectionOf, walk } from '../support/json-call.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { addSource, settledSource } from '../support/source-upload.ts';
import { judgeError, judgeEvents } from '../support/specification-judge.ts';
import { minimalRequest, readAll, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const model = minimalRequest.model;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };

async function create(way: Way, input: Record<string, unknown> = {}): Promise<Agent> {
  const body = { name: 'Helper', model, prompt: 'Be kind.', ...input };
  const answer = await callJson(host, way, 'POST', '/agents', { body });
  expect([answer.status, answer.body]).toEqual([201, expect.any(Object)]);
  return answer.body;
}

/** The provider repeats the last message, loudly. */
function answerLoudly(): void {
  host.provider.answerWith((call) => {
    const messages = call.body['messages'] as { content: string }[];
    const content = `${messages.at(-1)?.content}!`;
    return call.body['stream'] === true ? call.chatStream([content], { usage }) : call.chatAnswer({ content, usage });
  });
}

const sendMessage = (way: Way, agent: Agent, body: Record<string, unknown>, call: { key?: string } = {}) =>
  callJson(host, way, 'POST', `/agents/${agent.id}/run`, { body, ...call });

const lastMessages = () => host.provider.calls.at(-1)?.body['messages'];

const runsOf = async (way: Way, conversationId: string) =>
  (await callJson(host, way, 'GET', `/conversations/${conversationId}`)).body.runs;

const system = { role: 'system', content: 'Be kind.' };
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

describe.each(ways)('%s: agents', (way) => {
  test('both addresses create the same resource', async () => {
    const whole = await callJson(host, way, 'POST', '/v1/agents', { body: { name: 'A', model, prompt: 'Be kind.' } });
    const named = await callJson(host, way, 'POST', '/agents', { body: { name: 'B' } });
    const bare = { configuration: null, dataspaceIds: null, promptId: null, promptVersionId: null };
    const expected = { id: expect.any(String), createdAt: time, ...bare };
    expect([whole.status, whole.body, named.status, named.body]).toEqual([
      201,
      { ...expected, name: 'A', model, aiSystem: 'OpenAiCompatible', prompt: 'Be kind.' },
      201,
      { ...expected, name: 'B', model: 'hl-gpt-4o-mini', aiSystem: 'ServiceAi', prompt: '' },
    ]);
    for (const { body } of [whole, named]) {
      const read = await callJson(host, way, 'GET', `/agents/${body.id.toUpperCase()}`);
      expect([read.status, read.body]).toEqual([200, body]);
    }
    const listed = await callJson(host, way, 'GET', '/agents?pageSize=2');
    expect(listed.body.data).toEqual([named.body, whole.body]);
  });

  test('a change affects only its fields; a model without a provider finds one', async () => {
    const made = await create(way);
    const change = async (body: unknown) => (await callJson(host, way, 'PATCH', `/agents/${made.id}`, { body })).body;
    expect(await change({})).toEqual(made);
    expect(await change({ name: 'Other', prompt: '' })).toEqual({ ...made, name: 'Other', prompt: '' });
    expect(await change({ model: 'gpt-4o' })).toMatchObject({ aiSystem: 'OpenAi', model: 'gpt-4o', name: 'Other' });
    expect(await change({ aiSystem: 'Groq', model: 'llama3-70b-8192' })).toMatchObject({ aiSystem: 'Groq' });
  });

  test('deleting an agent keeps its conversations', async () => {
    answerLoudly();
    const made = await create(way);
    const { conversationId } = (await sendMessage(way, made, { message: 'Hi' })).body;
    const removed = await callJson(host, way, 'DELETE', `/agents/${made.id}`);
    expect([removed.status, removed.text]).toEqual([204, '']);
    judgeError(await callJson(host, way, 'GET', `/agents/${made.id}`), 404);
    judgeError(await callJson(host, way, 'PATCH', `/agents/${made.id}`, { body: {} }), 404);
    judgeError(await callJson(host, way, 'DELETE', `/agents/${made.id}`), 404);
    judgeError(await sendMessage(way, made, { message: 'Hi', conversationId }), 404);
    expect((await walk(host, way, '/agents', 100)).map(({ id }) => id)).not.toContain(made.id);
    expect(await runsOf(way, conversationId)).toHaveLength(1);
  });
});

describe.each(ways)('%s: a turn', (way) => {
  test("is answered and recorded in its conversation with the agent's id; its message is no template", async () => {
    answerLoudly();
    const made = await create(way);
    const message = 'What is {{this}} {{#if';
    const answer = await callJson(host, way, 'POST', `/agents/${made.id}/run`, {
      body: { message, conversationId: null },
      headers: { 'x-app-team': 'red' },
    });
    const { runId, conversationId, messageId } = answer.body;
    expect([answer.status, answer.body]).toEqual([
      200,
      { message: `${message}!`, messageId, runId, conversationId, usage },
    ]);
    expect(answer.headers).toMatchObject({
      'x-served-by': `OpenAiCompatible/${model}`,
      'x-credits-consumed': '1',
      'x-run-id': runId,
      'x-conversation-id': conversationId,
    });
    expect(lastMessages()).toEqual([system, user(message)]);
    expect(await runsOf(way, conversationId)).toEqual([
      expect.objectContaining({
        conversationRunId: runId,
        messageId,
        promptId: null,
        promptRunId: null,
        status: 'Completed',
        metadata: { agentId: made.id, memory: { turns: 0, forgottenTurns: 0 } },
        appHeaders: { team: 'red' },
        input: expect.objectContaining({
          promptText: message,
          renderedPrompt: message,
          replacements: null,
          systemMessage: 'Be kind.',
        }),
      }),
    ]);
  });

  test('includes the turns before it, oldest first, even after a change of the agent', async () => {
    answerLoudly();
    const made = await create(way);
    const { conversationId } = (await sendMessage(way, made, { message: 'one' })).body;
    expect((await sendMessage(way, made, { message: 'two', conversationId })).body.conversationId).toBe(conversationId);
    await callJson(host, way, 'PATCH', `/agents/${made.id}`, { body: { prompt: '' } });
    await sendMessage(way, made, { message: 'three', conversationId: conversationId.toUpperCase() });
    const before = [user('one'), assistant('one!'), user('two'), assistant('two!')];
    expect(lastMessages()).toEqual([...before, user('three')]);
    const runs = await runsOf(way, conversationId);
    expect(runs.at(-1).input.systemMessage).toBe(null);
    expect(runs.map((run: { metadata: { memory: unknown } }) => run.metadata.memory)).toEqual([
      { turns: 0, forgottenTurns: 0 },
      { turns: 1, forgottenTurns: 0 },
      { turns: 2, forgottenTurns: 0 },
    ]);
  });

  test('drops the oldest turns when they no longer fit the context', async () => {
    const digits = '7'.repeat(1200);
    host.provider.answerWith((call) => call.chatAnswer({ content: digits, usage }));
    const made = await create(way);
    const { conversationId } = (await sendMessage(way, made, { message: 'one' })).body;
    for (const message of ['two', 'three', 'four']) await sendMessage(way, made, { message, conversationId });
    // 4096 tokens are assumed of a server that does not tell, a quarter of them is left for the answer.
    const history = [user('two'), assistant(digits), user('three'), assistant(digits)];
    expect(lastMessages()).toEqual([system, ...history, user('four')]);
    expect((await runsOf(way, conversationId)).at(-1).metadata.memory).toEqual({ turns: 2, forgottenTurns: 1 });
  });

  test('excludes failed, truncated and empty turns, which are stored all the same', async () => {
    answerLoudly();
    const made = await create(way);
    const { conversationId } = (await sendMessage(way, made, { message: 'one' })).body;
    const path = `/agents/${made.id}/run`;
    const headers = { accept: 'text/event-stream' };
    const half = async (call: ScriptedCall) => call.openEventStream().chatDelta({ content: 'half' });
    host.provider.answerWith(async (call) => {
      await half(call);
      call.cut();
    });
    const failed = await callJson(host, way, 'POST', path, { body: { message: 'failing', conversationId }, headers });
    expect(judgeEvents(failed)).toMatchObject({ content: 'half', finishReason: null });
    host.provider.answerWith((call) => call.chatAnswer({ content: '', finishReason: 'length' }));
    expect((await sendMessage(way, made, { message: 'silent', conversationId })).body.message).toBe('');
    host.provider.answerWith(null);
    const request = jsonRequest(host, 'POST', path, { body: { message: 'leaving', conversationId }, headers });
    const pending = host.begin(way, request);
    const call = await host.provider.nextCall();
    await half(call);
    const { body } = await pending.response;
    await once(
      body.on('error', () => {}),
      'data',
    );
    pending.leave();
    await call.closed;
    answerLoudly();
    await sendMessage(way, made, { message: 'last', conversationId });
    expect(lastMessages()).toEqual([system, user('one'), assistant('one!'), user('last')]);
    expect((await runsOf(way, conversationId)).map(({ status }: { status: string }) => status)).toEqual([
      'Completed',
      'Failed',
      'Completed',
      'Cancelled',
      'Completed',
    ]);
  });

  test('is streamed like /sse for callers that accept events, and joins the history', async () => {
    answerLoudly();
    const made = await create(way);
    const path = `/agents/${made.id}/run`;
    const headers = { accept: 'text/event-stream' };
    const streamed = await callJson(host, way, 'POST', path, { body: { message: 'one' }, headers });
    expect(judgeEvents(streamed)).toMatchObject({ content: 'one!', finishReason: 'Stop', usage });
    const conversationId = streamed.headers['x-conversation-id'];
    expect((await sendMessage(way, made, { message: 'two', conversationId })).status).toBe(200);
    expect(lastMessages()).toEqual([system, user('one'), assistant('one!'), user('two')]);
  });

  test('is streamed only for callers that request it', async () => {
    answerLoudly();
    const made = await create(way);
    const typeFor = async (accept: string) => {
      const call = { body: { message: 'Hi' }, headers: { accept } };
      const { headers } = await callJson(host, way, 'POST', `/agents/${made.id}/run`, call);
      return String(headers['content-type']).split(';')[0];
    };
    const [events, json] = ['text/event-stream', 'application/json'];
    expect([
      await typeFor('text/event-stream'),
      await typeFor('application/json;q=0.5, text/event-stream'),
      await typeFor('text/event-stream, */*'),
      await typeFor('*/*'),
      await typeFor('application/json'),
      await typeFor('application/json, text/event-stream;q=0.5'),
      await typeFor('text/event-stream;q=0'),
      await typeFor('text/html'),
    ]).toEqual([events, events, events, json, json, json, json, json]);
  });

  test('has a status if it fails before its stream starts, and a last event afterwards', async () => {
    const made = await create(way);
    const call = { body: { message: 'Hi' }, headers: { accept: 'text/event-stream' } };
    host.provider.answerWith((scripted) => scripted.fail(429, 'slow down'));
    judgeError(await callJson(host, way, 'POST', `/agents/${made.id}/run`, call), 429);
    host.provider.answerWith(async (scripted) => {
      scripted.openEventStream();
      await scripted.chatDelta({ content: 'half' });
      scripted.cut();
    });
    const answer = judgeEvents(await callJson(host, way, 'POST', `/agents/${made.id}/run`, call));
    expect([answer.content, answer.error?.code]).toEqual(['half', 'provider_failed']);
  });
});

describe.each(ways)('%s: the configuration of a turn', (way) => {
  const rule = 'Employees may carry over at most five days of unused leave into the next year.';

  async function rulesDataspace(): Promise<string> {
    const { body } = await callJson(host, way, 'POST', '/dataspaces', { body: { name: 'Rules' } });
    const source = await addSource(host, way, rule, { name: 'Leave', dataspaceId: body.id });
    await settledSource(host, way, source.id);
    return body.id;
  }

  const change = async (agent: Agent, body: unknown) => callJson(host, way, 'PATCH', `/agents/${agent.id}`, { body });

  test("sends the agent's parameters to the provider and records them; null removes them", async () => {
    answerLoudly();
    const configuration = { temperature: 0.2, min_p: 0.1 };
    const made = await create(way, { configuration: { ...configuration, seed: null } });
    expect(made.configuration).toEqual(configuration);
    const { conversationId } = (await sendMessage(way, made, { message: 'one' })).body;
    expect(host.provider.calls.at(-1)?.body).toMatchObject(configuration);
    expect((await runsOf(way, conversationId))[0].input.configuration).toEqual(configuration);
    expect((await change(made, { name: 'Other' })).body.configuration).toEqual(configuration);
    expect((await change(made, { configuration: null })).body.configuration).toBe(null);
    await sendMessage(way, made, { message: 'two', conversationId });
    expect(host.provider.calls.at(-1)?.body).not.toHaveProperty('temperature');
  });

  test("searches the agent's dataspaces in every turn, and leaves the passages out of the history", async () => {
    answerLoudly();
    const dataspaceId = await rulesDataspace();
    const made = await create(way, { dataspaceIds: [dataspaceId.toUpperCase()] });
    expect(made.dataspaceIds).toEqual([dataspaceId]);
    const question = 'How many days of unused leave may employees carry over?';
    const first = await sendMessage(way, made, { message: question });
    expect(first.body.citations).toMatchObject([{ index: 1, sourceName: 'Leave', text: rule }]);
    expect((lastMessages() as { content: string }[]).at(-1)!.content).toContain('five days');
    await sendMessage(way, made, { message: 'And of used leave?', conversationId: first.body.conversationId });
    expect((lastMessages() as unknown[]).slice(0, 3)).toEqual([system, user(question), assistant(first.body.message)]);
    expect((await change(made, { dataspaceIds: [] })).body.dataspaceIds).toBe(null);
  });

  test('fails with the reason if a dataspace was deleted', async () => {
    const dataspaceId = await rulesDataspace();
    const made = await create(way, { dataspaceIds: [dataspaceId] });
    await callJson(host, way, 'DELETE', `/dataspaces/${dataspaceId}`);
    const answer = await sendMessage(way, made, { message: 'Hi' });
    judgeError(answer, 409);
    expect(answer.body.error.message).toContain('uses a dataspace that was deleted');
    expect((await change(made, { name: 'Still editable' })).status).toBe(200);
  });

  test('takes the fields that the caller omits from a version of a stored prompt', async () => {
    const version = { systemMessage: 'Be brief.', aiSystem: 'OpenAiCompatible', model, configuration: { top_p: 0.5 } };
    const { body: prompt } = await callJson(host, way, 'POST', '/prompts', {
      body: { name: 'Brief', promptText: 'Answer {{this}}', ...version },
    });
    const promptVersionId = prompt.latestVersionId;
    const based = await callJson(host, way, 'POST', '/agents', { body: { name: 'A', promptVersionId } });
    expect(based.body).toMatchObject({
      prompt: 'Be brief.',
      model,
      aiSystem: 'OpenAiCompatible',
      configuration: { top_p: 0.5 },
      promptId: prompt.id,
      promptVersionId,
    });
    const own = await create(way, { promptVersionId, prompt: 'Be long.', configuration: null });
    expect(own).toMatchObject({ prompt: 'Be long.', configuration: null, promptVersionId });
    const without = { promptId: null, promptVersionId: null };
    expect((await change(own, { promptVersionId: null })).body).toMatchObject(without);
  });

  test.each([
    ['dataspaceIds', [randomUUID()], 'dataspaceIds[0]', 'is not a known dataspace'],
    ['promptVersionId', randomUUID(), 'promptVersionId', 'is not a version of a stored prompt'],
    ['configuration', { model: 'x' }, 'configuration.model', 'is set by the service and cannot be configured'],
    ['configuration', { temperature: 3 }, 'configuration.temperature', 'must be at most 2'],
  ])('rejects a bad %s %j', async (name, value, field, issue) => {
    const made = await create(way);
    const body = { [name]: value };
    const details = [{ field, issue }];
    expect(rejectionOf(await callJson(host, way, 'POST', '/agents', { body: { name: 'A', ...body } }))).toEqual([
      400,
      'invalid_request',
      details,
    ]);
    expect(rejectionOf(await change(made, body))).toEqual([400, 'invalid_request', details]);
  });
});

describe.each(ways)('%s: turns at the same time', (way) => {
  test('run one after the other in one conversation, each with the answer of the one before', async () => {
    answerLoudly();
    const made = await create(way);
    const { conversationId } = (await sendMessage(way, made, { message: 'one' })).body;
    host.provider.answerWith(null);
    const second = sendMessage(way, made, { message: 'two', conversationId });
    const call = await host.provider.nextCall();
    const third = sendMessage(way, made, { message: 'three', conversationId });
    const elsewhere = sendMessage(way, made, { message: 'elsewhere' });
    // A turn of another conversation does not wait: it is the next to come.
    const next = await host.provider.nextCall();
    expect(next.body['messages']).toEqual([system, user('elsewhere')]);
    next.chatAnswer({ content: 'there' });
    answerLoudly();
    call.chatAnswer({ content: 'TWO' });
    expect((await Promise.all([second, third, elsewhere])).map(({ body }) => body.message)).toEqual([
      'TWO',
      'three!',
      'there',
    ]);
    expect(lastMessages()).toEqual([
      system,
      ...[user('one'), assistant('one!'), user('two'), assistant('TWO'), user('three')],
    ]);
  });

  test("don't wait for a queued caller that disconnects", async () => {
    answerLoudly();
    const made = await create(way);
    const { conversationId } = (await sendMessage(way, made, { message: 'one' })).body;
    host.provider.answerWith(null);
    const first = sendMessage(way, made, { message: 'two', conversationId });
    const call = await host.provider.nextCall();
    const path = `/agents/${made.id}/run`;
    const waiting = host.begin(way, jsonRequest(host, 'POST', path, { body: { message: 'left', conversationId } }));
    const last = sendMessage(way, made, { message: 'three', conversationId });
    waiting.leave();
    answerLoudly();
    call.chatAnswer({ content: 'TWO' });
    await Promise.all([first, last]);
    const statuses = await runsOf(way, conversationId);
    expect(statuses.filter(({ status }: { status: string }) => status === 'Completed')).toHaveLength(3);
  });

  test.each(['PATCH', 'DELETE'])('in a queue follow the agent as it is when they start, after a %s', async (method) => {
    answerLoudly();
    const made = await create(way, { prompt: 'Old rules.' });
    const { conversationId } = (await sendMessage(way, made, { message: 'one' })).body;
    host.provider.answerWith(null);
    const first = sendMessage(way, made, { message: 'two', conversationId });
    const call = await host.provider.nextCall();
    const waiting = sendMessage(way, made, { message: 'three', conversationId });
    const body = method === 'PATCH' ? { prompt: 'New rules.' } : undefined;
    await callJson(host, way, method, `/agents/${made.id}`, { body });
    answerLoudly();
    call.chatAnswer({ content: 'TWO' });
    await first;
    const { status } = await waiting;
    expect(status).toBe(method === 'PATCH' ? 200 : 404);
    if (method === 'PATCH') expect(lastMessages()).toContainEqual({ role: 'system', content: 'New rules.' });
  });

  test('wait for the end of a stream that names its conversation at its start', async () => {
    const made = await create(way);
    host.provider.answerWith(null);
    const path = `/agents/${made.id}/run`;
    const headers = { accept: 'text/event-stream' };
    const pending = host.begin(way, jsonRequest(host, 'POST', path, { body: { message: 'one' }, headers }));
    const call = (await host.provider.nextCall()).openEventStream();
    await call.chatDelta({ content: 'ONE' });
    const response = await pending.response;
    // Before its first run ends, the conversation is there already.
    const next = sendMessage(way, made, { message: 'two', conversationId: response.headers['x-conversation-id'] });
    answerLoudly();
    await call.chatEnd();
    await readAll(response.body);
    expect((await next).status).toBe(200);
    expect(lastMessages()).toEqual([system, user('one'), assistant('ONE'), user('two')]);
  });
});

const bad: [path: string, body: Record<string, unknown>, field: string, issue: string][] = [
  ['/v1/agents', { model, prompt: 'x' }, 'name', 'is required'],
  ['/v1/agents', { name: 'A', prompt: 'x' }, 'model', 'is required'],
  ['/v1/agents', { name: 'A', model }, 'prompt', 'is required'],
  ['/v1/agents', { name: 'A', model, prompt: null }, 'prompt', 'must be of type string'],
  ['/v1/agents', { name: '', model, prompt: 'x' }, 'name', 'must not be empty'],
  ['/v1/agents', { name: 'A', model, prompt: 'x', id: randomUUID() }, 'id', 'is not a known field'],
  ['/agents', {}, 'name', 'is required'],
  ['/agents', { name: 5 }, 'name', 'must be of type string'],
  ['/agents', { name: 'A', aiSystem: 'OpenAi' }, 'model', 'is required when aiSystem is given'],
  ['/agents', { name: 'A', tools: [] }, 'tools', 'is not a known field'],
];

describe.each(ways)('%s: rejections', (way) => {
  test.each(bad)('%s rejects %j: %s', async (path, body, field, issue) => {
    const answer = await callJson(host, way, 'POST', path, { body });
    expect(rejectionOf(answer)).toEqual([400, 'invalid_request', [{ field, issue }]]);
  });

  test('rejects an unknown model or provider, also in a change, which then changes nothing', async () => {
    const made = await create(way);
    const changes = [{ model: 'none' }, { aiSystem: 'Groq', model: 'gpt-4o' }, { aiSystem: 'Groq' }, { aiSystem: 'x' }];
    for (const change of changes) {
      judgeError(await callJson(host, way, 'POST', '/agents', { body: { name: 'A', ...change } }), 400);
      judgeError(await callJson(host, way, 'PATCH', `/agents/${made.id}`, { body: change }), 400);
    }
    for (const change of [{ name: null }, { model: null }, { prompt: null }, { createdAt: made.createdAt }]) {
      judgeError(await callJson(host, way, 'PATCH', `/agents/${made.id}`, { body: change }), 400);
    }
    expect((await callJson(host, way, 'GET', `/agents/${made.id}`)).body).toEqual(made);
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{}, 'message', 'is required'],
    [{ message: '' }, 'message', 'must not be empty'],
    [{ message: 5 }, 'message', 'must be of type string'],
    [{ message: 'Hi', conversationId: 'x' }, 'conversationId', 'must be a UUID'],
    [{ message: 'Hi', conversationId: randomUUID() }, 'conversationId', 'is not a conversation'],
    [{ message: 'Hi', replacements: {} }, 'replacements', 'is not a known field'],
  ])('rejects a turn %j and names %s', async (body, field, issue) => {
    const made = await create(way);
    expect(rejectionOf(await sendMessage(way, made, body))).toEqual([400, 'invalid_request', [{ field, issue }]]);
  });

  test("rejects another caller's conversation with 403, and an unknown agent with 404 before that", async () => {
    answerLoudly();
    const made = await create(way);
    const { conversationId } = (await sendMessage(way, made, { message: 'Hi' })).body;
    const other = await sendMessage(way, made, { message: 'Hi', conversationId }, { key: host.issueKey() });
    expect(rejectionOf(other)).toEqual([
      403,
      'forbidden',
      [{ field: 'conversationId', issue: 'belongs to another caller' }],
    ]);
    const nobody = { ...made, id: randomUUID() };
    judgeError(await sendMessage(way, nobody, { message: 'Hi', conversationId }), 404);
    expect(await runsOf(way, conversationId)).toHaveLength(1);
  });

  test('a rejected turn leaves no conversation: credits, keys, missing models', async () => {
    const made = await create(way);
    const spent = host.issueKey({ creditLimit: 0 });
    judgeError(await sendMessage(way, made, { message: 'Hi' }, { key: spent }), 402);
    expect((await callJson(host, way, 'GET', '/conversations', { key: spent })).status).toBe(200);
    const withoutKey = await create(way, { model: 'gpt-4o' });
    judgeError(await sendMessage(way, withoutKey, { message: 'Hi' }), 503);
    const local = await create(way, { model: 'hl-gpt-4.1-mini' });
    judgeError(await sendMessage(way, local, { message: 'Hi' }), 503);
  });

  test("a key with only `run` reads its own messages and the answers, not the agent's system message", async () => {
    answerLoudly();
    const dataspaceIds = [(await callJson(host, way, 'POST', '/dataspaces', { body: { name: 'Rules' } })).body.id];
    const made = await create(way, { prompt: 'Stored instructions.', configuration: { max_tokens: 77 }, dataspaceIds });
    const runs = host.issueKey({ scopes: ['run'] });
    const { body: turn } = await sendMessage(way, made, { message: 'Hi' }, { key: runs });
    const path = `/conversations/${turn.conversationId}`;
    const own = (await callJson(host, way, 'GET', path, { key: runs })).body.runs[0];
    expect(own.input).toMatchObject({ promptText: 'Hi', systemMessage: null, configuration: null, dataspaceIds: null });
    expect(JSON.stringify(own)).not.toContain('Stored instructions');
    const whole = (await callJson(host, way, 'GET', path)).body.runs[0];
    expect(whole.input).toMatchObject({ systemMessage: 'Stored instructions.', dataspaceIds });
  });

  test('a key can use only its scopes; other methods are 405', async () => {
    answerLoudly();
    const made = await create(way);
    const runs = host.issueKey({ scopes: ['run'] });
    const manages = host.issueKey({ scopes: ['manage'] });
    const status = async (method: string, path: string, key: string, body?: unknown) =>
      (await callJson(host, way, method, path, { key, ...(body === undefined ? {} : { body }) })).status;
    const run = `/agents/${made.id}/run`;
    expect([
      await status('GET', '/agents', runs),
      await status('POST', '/agents', runs, {}),
      await status('POST', '/v1/agents', runs, {}),
      await status('GET', `/agents/${randomUUID()}`, runs),
      await status('PATCH', `/agents/${made.id}`, runs, {}),
      await status('DELETE', `/agents/${made.id}`, runs),
      await status('POST', run, manages, {}),
      await status('GET', '/v1/agents', runs),
      await status('GET', run, manages),
      await status('GET', '/agents', 'ts_wrong'),
      await status('POST', run, runs, { message: 'Hi' }),
      await status('GET', `/agents/${made.id}`, manages),
    ]).toEqual([403, 403, 403, 403, 403, 403, 403, 405, 405, 401, 200, 200]);
  });

  test('rejects foreign pages and tokens', async () => {
    for (let index = 0; index < 3; index += 1) await create(way);
    const token = (await callJson(host, way, 'GET', '/agents?pageSize=1')).body.continuationToken;
    for (const query of ['pageSize=0', 'pageSize=101', 'continuationToken=', 'continuationToken=x', 'name=A']) {
      judgeError(await callJson(host, way, 'GET', `/agents?${query}`), 400);
    }
    judgeError(await callJson(host, way, 'GET', `/prompts?continuationToken=${token}`), 400);
    expect((await callJson(host, way, 'GET', `/agents?continuationToken=${token}`)).status).toBe(200);
  });
});

test('rejects a queued turn when the service stops, and records no run', async () => {
  const ending = await startTestHost();
  ending.provider.answerWith((call) => call.chatAnswer({ content: 'ONE' }));
  const made = await callJson(ending, 'in memory', 'POST', '/agents', { body: { name: 'A', model } });
  const path = `/agents/${made.body.id}/run`;
  const first = await callJson(ending, 'in memory', 'POST', path, { body: { message: 'one' } });
  const { conversationId } = first.body;
  ending.provider.answerWith(null);
  const sendAgain = () => callJson(ending, 'in memory', 'POST', path, { body: { message: 'two', conversationId } });
  const active = sendAgain();
  await ending.provider.nextCall();
  const waiting = sendAgain();
  await ending.close();
  const [ended, rejected] = await Promise.all([active, waiting]);
  judgeError(rejected, 503);
  expect([ended.status, ending.provider.calls.length, ending.log]).toEqual([500, 2, []]);
});

test('reports none of this as a failure of the service', () => {
  expect(host.log).toEqual([]);
});
