import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditPage } from '../../shared/contract/audit.ts';
import type { AgentThread } from '../../shared/contract/agents.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  host.provider.answerWith((call) => call.chatAnswer({ content: 'Yes.' }));
});
afterAll(() => host.close());

const unknownId = '00000000-0000-4000-8000-000000000000';

async function ask<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }> {
  const request = new Request(`http://127.0.0.1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await host.host.api.fetch(request, { access: 'window' });
  return { status: answer.status, body: (await answer.json()) as Body };
}

interface Answer {
  readonly conversationId: string;
  readonly runId: string;
}

async function agent(): Promise<(message: string, conversationId?: string) => Promise<Answer>> {
  const made = await ask<{ id: string }>('POST', '/agents', {
    name: 'Desk',
    aiSystem: 'OpenAiCompatible',
    model: 'scripted/model',
  });
  return async (message, conversationId) => {
    const path = `/agents/${made.body.id}/run`;
    const { status, body } = await ask<Answer>('POST', path, { message, ...(conversationId && { conversationId }) });
    expect(status).toBe(200);
    return body;
  };
}

async function branch(conversationId: string, runId: string): Promise<string> {
  const answer = await ask<Answer>('POST', `/window/agents/threads/${conversationId}/branches`, { runId });
  expect(answer.status).toBe(201);
  return answer.body.conversationId;
}

const thread = async (conversationId: string) =>
  (await ask<AgentThread>('GET', `/window/agents/threads/${conversationId}`)).body;

/** What was asked along a thread, and between how many ways one chooses there. */
const requested = async (conversationId: string) =>
  (await thread(conversationId)).runs.map(({ input, branches }) => [input.promptText, branches.length]);

/** What the provider was sent last, without the answers. */
function history(): unknown[] {
  const { messages } = host.provider.calls.at(-1)!.body as { messages: { role: string; content: string }[] };
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content);
}

/** How many runs and turns the list says that a conversation has. */
async function counted(conversationId: string): Promise<[runs: number, turns: number]> {
  const { rows } = (await ask<AuditPage>('POST', '/window/audit/search', { filter: { conversationId } })).body;
  return [rows[0]!.runs, rows[0]!.turns];
}

test("lists a branch with the turns before it, which don't count as its own runs", async () => {
  const sendMessage = await agent();
  const first = await sendMessage('one');
  const second = await sendMessage('two', first.conversationId);
  await sendMessage('three', first.conversationId);
  const other = await branch(first.conversationId, second.runId);
  const better = await sendMessage('two, said better', other);
  const best = await branch(other, better.runId);
  await sendMessage('two, said best', best);
  await sendMessage('and on', best);
  expect([await counted(first.conversationId), await counted(other), await counted(best)]).toEqual([
    [3, 3],
    [1, 2],
    [2, 3],
  ]);
});

test('a branch has the history before it, and the original stays unchanged', async () => {
  const sendMessage = await agent();
  const first = await sendMessage('one');
  const second = await sendMessage('two', first.conversationId);
  await sendMessage('three', first.conversationId);
  const other = await branch(first.conversationId, second.runId);
  expect(await requested(other)).toEqual([['one', 0]]);
  await sendMessage('two, said better', other);
  expect(history()).toEqual(['one', 'two, said better']);
  await sendMessage('and on', other);
  expect(history()).toEqual(['one', 'two, said better', 'and on']);
  expect([await requested(other), await requested(first.conversationId)]).toEqual([
    [
      ['one', 0],
      ['two, said better', 2],
      ['and on', 0],
    ],
    [
      ['one', 0],
      ['two', 2],
      ['three', 0],
    ],
  ]);
  const [, turn] = (await thread(other)).runs;
  expect([turn?.conversationId, turn?.branches, turn?.metadata]).toEqual([
    other,
    [first.conversationId, other],
    {
      agentId: expect.any(String),
      memory: { turns: 1, forgottenTurns: 0 },
      branchOf: { conversationId: first.conversationId, runId: second.runId },
    },
  ]);
});

test('branches of the same turn are siblings, and a branch can have branches', async () => {
  const sendMessage = await agent();
  const { conversationId: main, runId } = await sendMessage('one');
  const second = await branch(main, runId);
  const secondRun = await sendMessage('one again', second);
  const third = await branch(second, secondRun.runId);
  await sendMessage('one a third time', third);
  expect((await thread(third)).runs.map(({ branches }) => branches)).toEqual([[main, second, third]]);
  const later = await sendMessage('more', third);
  const deep = await branch(third, later.runId);
  await sendMessage('more, said better', deep);
  expect(history()).toEqual(['one a third time', 'more, said better']);
  expect(await requested(deep)).toEqual([
    ['one a third time', 3],
    ['more, said better', 2],
  ]);
});

test('only a run of the conversation can start a branch, and no API key can create one', async () => {
  const sendMessage = await agent();
  const first = await sendMessage('one');
  const elsewhere = await sendMessage('elsewhere');
  const at = async (conversationId: string, runId: string) =>
    (await ask('POST', `/window/agents/threads/${conversationId}/branches`, { runId })).status;
  expect([
    await at(first.conversationId, elsewhere.runId),
    await at(first.conversationId, unknownId),
    await at(unknownId, first.runId),
    (await ask('GET', `/window/agents/threads/${unknownId}`)).status,
  ]).toEqual([400, 400, 404, 404]);
  const { status } = await host.send('HTTP/1.1', {
    path: `/window/agents/threads/${first.conversationId}`,
    headers: { authorization: `Bearer ${host.key}` },
  });
  expect(status).toBe(404);
});

test('a conversation of another caller can be read but not continued', async () => {
  const made = await ask<{ id: string }>('POST', '/agents', {
    name: 'Desk',
    aiSystem: 'OpenAiCompatible',
    model: 'scripted/model',
  });
  const answer = await host.send('in memory', {
    method: 'POST',
    path: `/agents/${made.body.id}/run`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${host.key}` },
    body: JSON.stringify({ message: 'from a program' }),
  });
  const { conversationId, runId } = JSON.parse(answer.text) as Answer;
  expect([await requested(conversationId), (await thread(conversationId)).isOwn]).toEqual([
    [['from a program', 0]],
    false,
  ]);
  const { status } = await ask('POST', `/window/agents/threads/${conversationId}/branches`, { runId });
  expect(status).toBe(403);
});

test("the window finds an agent's runs from all callers, and no other runs", async () => {
  const make = async () =>
    (await ask<{ id: string }>('POST', '/agents', { name: 'A', aiSystem: 'OpenAiCompatible', model: 'scripted/model' }))
      .body.id;
  const [one, other] = [await make(), await make()];
  const body = JSON.stringify({ message: 'from a program' });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${host.key}` };
  const byProgram = await host.send('in memory', { method: 'POST', path: `/agents/${one}/run`, headers, body });
  const byPerson = await ask<Answer>('POST', `/agents/${one}/run`, { message: 'from a person' });
  await ask('POST', `/agents/${other}/run`, { message: 'to the other' });
  const found = async (agentId: string) => {
    const search = await ask<{ rows: { run: { runId: string } }[] }>('POST', '/window/audit/search', {
      filter: { agentId },
    });
    return search.body.rows.map(({ run }) => run.runId);
  };
  const expected = [byPerson.body.runId, (JSON.parse(byProgram.text) as Answer).runId];
  expect([await found(one.toUpperCase()), (await found(other)).length]).toEqual([expected, 1]);
  const publicQuery = await host.send('in memory', {
    method: 'POST',
    path: '/audit/conversations',
    headers,
    body: JSON.stringify({ agentId: one }),
  });
  expect(publicQuery.status).toBe(400);
});
