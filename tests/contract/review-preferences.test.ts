import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { textMessage } from '../../shared/contract/messages.ts';
import { recordRun } from '../support/audit-runs.ts';
import { jsonRequest } from '../support/json-call.ts';
import { createReviewWorld } from '../support/review-world.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
beforeEach(() =>
  host.provider.answerWith((call) => call.chatAnswer({ content: `Answer ${host.provider.calls.length}` })),
);
afterAll(() => host.close());

const { lead, recordRuns, createQueue } = createReviewWorld(() => host);

interface Line {
  readonly input: { readonly messages: unknown[]; readonly tools?: unknown[]; readonly parallel_tool_calls?: boolean };
  readonly preferred_output: unknown[];
  readonly non_preferred_output: unknown[];
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

/** Reviews all items that a filter finds, the newest first, and exports the preferences. */
async function exportAfter(filter: object, reviews: readonly Record<string, unknown>[]): Promise<Line[]> {
  const { path, answers } = await createQueue(filter);
  for (const review of reviews) {
    const { item } = (await lead('POST', `${path}/reservations`)).body;
    expect((await lead('POST', `${path}/items/${item.id}/reviews`, answers(true, review))).status).toBe(201);
  }
  expect((await lead('POST', `${path}/reservations`)).status).toBe(204);
  const { text } = await host.send('in memory', jsonRequest(host, 'GET', `${path}/export?format=preferences`));
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Line);
}

const findTool = { type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } };

async function converse(agent: object, messages: readonly string[]) {
  const made = await lead('POST', '/agents', {
    name: 'Desk',
    aiSystem: 'OpenAiCompatible',
    model: 'scripted/model',
    ...agent,
  });
  let conversationId: string | undefined;
  const sent: unknown[] = [];
  for (const message of messages) {
    const answer = await lead('POST', `/agents/${made.body.id}/run`, {
      message,
      ...(conversationId && { conversationId }),
    });
    expect([answer.status, answer.body]).toEqual([200, expect.any(Object)]);
    ({ conversationId } = answer.body);
    sent.push(host.provider.calls.at(-1)!.body['messages']);
  }
  return { filter: { agentId: made.body.id as string }, sent };
}

test.each([
  ['a system message', { prompt: 'Be kind.' }],
  ['a template', { prompt: '{{role "system"}}Be kind.{{history}}{{role "user"}}Asked: {{message}}' }],
  ['a template without the history', { prompt: '{{role "system"}}Be kind.{{role "user"}}Asked: {{message}}' }],
])('has all messages that an agent with %s sent to its provider', async (_, agent) => {
  const { filter, sent } = await converse(agent, ['One', 'Two', 'Three']);
  const lines = await exportAfter(filter, [{ text: 'Better three' }, { text: 'Better two' }, { text: 'Better one' }]);
  expect(lines.map(({ input }) => input)).toEqual(sent.toReversed().map((messages) => ({ messages })));
  expect(lines[0]!.preferred_output).toEqual([assistant('Better three')]);
  expect(lines[0]!.non_preferred_output).toEqual([assistant(expect.stringMatching(/^Answer \d+$/) as never)]);
});

test('has the system message, the earlier turns, the tools and their calls of a recorded call', async () => {
  const messages = [
    textMessage('user', 'Where is my parcel?'),
    { role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 'find', arguments: '{"id":7}' }] },
    { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'c1', content: 'in Lyon', isError: false }] },
    textMessage('assistant', 'In Lyon.'),
    textMessage('user', 'And since when?'),
  ];
  const toolCalls = [{ id: 'c2', name: 'find', arguments: '{"id":7,"history":true}' }];
  const { workspaceId } = await recordRuns(1);
  await recordRun(
    host.host,
    {
      workspaceId,
      systemMessage: 'Answer shortly.',
      messages: messages as never,
      configuration: { tools: [findTool], parallel_tool_calls: false },
      origin: { api: 'openai-chat', client: null },
    },
    { content: '', toolCalls },
  );
  const [line] = await exportAfter({ workspaceId }, [{ text: 'Since Monday.' }, {}]);
  expect(line).toEqual({
    input: {
      messages: [
        { role: 'system', content: 'Answer shortly.' },
        user('Where is my parcel?'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"id":7}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'in Lyon' },
        assistant('In Lyon.'),
        user('And since when?'),
      ],
      tools: [findTool],
      parallel_tool_calls: false,
    },
    preferred_output: [assistant('Since Monday.')],
    non_preferred_output: [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c2', type: 'function', function: { name: 'find', arguments: '{"id":7,"history":true}' } }],
      },
    ],
  });
});

test('pairs the best and the worst answer to the same input, of which the system message is a part', async () => {
  const { workspaceId } = await recordRuns(3, (index) => ({
    renderedPrompt: 'Who pays?',
    systemMessage: index === 0 ? 'Be brief.' : 'Be kind.',
  }));
  const lines = await exportAfter({ workspaceId }, [{ useful: 2 }, { useful: 9 }, { useful: -5 }]);
  expect(lines.map(({ input }) => input.messages)).toEqual([
    [{ role: 'system', content: 'Be kind.' }, user('Who pays?')],
  ]);
});

test('leaves out what is not recorded whole, what has files, and runs without an answer', async () => {
  const { workspaceId } = await recordRuns(1, () => ({
    origin: { api: 'openai-responses', client: null },
    configuration: { previous_response_id: 'resp_1' },
  }));
  const file = { type: 'file', fileId: 'a'.repeat(64), mediaType: 'image/png', name: 'a.png', bytes: 1 };
  await recordRun(host.host, { workspaceId, messages: [{ role: 'user', content: [file as never] }] });
  await recordRun(host.host, { workspaceId }, { status: 'Failed', content: '' });
  // A turn of an agent whose earlier turns are not here.
  const turn = await recordRun(host.host, { workspaceId, metadata: { memory: { turns: 1, forgottenTurns: 0 } } });
  host.host.storage.turns.noteAgent(turn.runId, randomUUID());
  const reviews = Array.from({ length: 4 }, () => ({ text: 'x' }));
  expect(await exportAfter({ workspaceId }, reviews)).toEqual([]);
});
