import { expect, test } from 'vitest';
import type { ThreadRun } from '../../../../../shared/contract/agents.ts';
import {
  historyText,
  readHistory,
  openCallsOf,
  shownTurns,
  branchesOf,
} from '../../../../../renderer/screens/agents/use-conversation.ts';
import type { AgentTurn } from '../../../../../renderer/stores/live-runs.ts';

function stored(conversationRunId: string, status: ThreadRun['status'], content: string): ThreadRun {
  return {
    conversationRunId,
    status,
    aiSystem: 'ServiceAi',
    model: 'hl-gpt-4.1-mini',
    input: { promptText: `ask ${conversationRunId}`, messages: [] },
    output: { content, reasoning: null, finishReason: null, error: null },
    usage: null,
    timing: { firstTokenMs: null, totalMs: null },
    createdAt: '2026-11-20T09:00:00.000Z',
    metadata: { memory: { turns: 1, forgottenTurns: 2 } },
    conversationId: 'c',
    branches: [],
  } as unknown as ThreadRun;
}

const live: AgentTurn = {
  key: 'k',
  conversationId: 'c',
  runId: 'two',
  message: 'ask two',
  continued: null,
  toolCalls: [],
  text: 'more tha',
  reasoning: '',
  isReasoningLive: false,
  citations: [],
  warnings: [],
  state: 'streaming',
  finishReason: null,
  usage: null,
  servedBy: null,
  credits: null,
  sentAt: 0,
  startedAt: 0,
  firstTokenAt: null,
  endedAt: null,
  changedAt: 0,
  error: null,
  wire: { method: 'POST', path: '', headers: {}, body: '', frames: [], status: null, responseHeaders: [] },
  frameCount: 0,
};

const brief = (turns: ReturnType<typeof shownTurns>) => turns.map(({ key, text, state }) => [key, text, state]);

test("a turn has the tokens and the cost of its run, which a live one doesn't have yet", () => {
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  const run = { ...stored('one', 'Completed', 'yes'), usage, cost: { amount: 0.5, currency: 'USD', pricesFrom: null } };
  expect(shownTurns([run as ThreadRun], { ...live, usage })).toMatchObject([
    { usage, cost: 0.5 },
    { usage, cost: null },
  ]);
});

test("a turn is last until the host returns it, then at its position with the window's text", () => {
  const first = stored('one', 'Completed', 'yes');
  expect(brief(shownTurns([first], live))).toEqual([
    ['one', 'yes', 'completed'],
    ['two', 'more tha', 'streaming'],
  ]);
  const shown = shownTurns([first, stored('two', 'Running', '')], live);
  expect(brief(shown)[1]).toEqual(['two', 'more tha', 'streaming']);
  expect(shown[1]?.memory).toEqual({ turns: 1, forgottenTurns: 2 });
});

test("the host's record takes precedence after the end", () => {
  const ended = { ...live, state: 'completed' as const, text: 'more than that' };
  expect(brief(shownTurns([stored('two', 'Running', '')], ended))).toEqual([['two', 'more than that', 'completed']]);
  expect(brief(shownTurns([stored('two', 'Completed', 'more than that.')], ended))).toEqual([
    ['two', 'more than that.', 'completed'],
  ]);
});

test('describes the history in words, except for a first message', () => {
  expect(readHistory({ memory: { turns: 3 } })).toBeNull();
  expect(readHistory(null)).toBeNull();
  expect(historyText({ turns: 0, forgottenTurns: 0 })).toBeNull();
  expect(historyText({ turns: 1, forgottenTurns: 0 })).toBe('1 earlier turn in context');
  expect(historyText({ turns: 4, forgottenTurns: 2 })).toBe('4 earlier turns in context, 2 turns dropped');
});

test('a turn has links to the branches before and after its own', () => {
  const branches = ['a', 'b', 'c'];
  expect([
    branchesOf({ conversationId: 'b', branches }),
    branchesOf({ conversationId: 'a', branches }),
    branchesOf({ conversationId: 'a', branches: [] }),
    branchesOf({ conversationId: null, branches }),
  ]).toEqual([
    { number: 2, count: 3, previous: 'a', next: 'c' },
    { number: 1, count: 3, previous: null, next: 'b' },
    null,
    null,
  ]);
});

const calls = [{ id: 'a', name: 'clock', arguments: '{}' }];
const ids = ['01a20000-0000-7000-8000-000000000001', '01a20000-0000-7000-8000-000000000002'] as const;
const calling = {
  ...stored(ids[0], 'Completed', ''),
  output: { content: '', reasoning: null, finishReason: 'ToolCalls', error: null, toolCalls: calls },
} as ThreadRun;

function continuation(status: ThreadRun['status'], content: string): ThreadRun {
  const toolResult = { type: 'toolResult' as const, toolCallId: 'a', content: 'Noon', isError: false };
  const called = { role: 'assistant' as const, content: [{ type: 'toolCall' as const, ...calls[0]! }] };
  const messages = [called, { role: 'tool' as const, content: [toolResult] }];
  const run = stored(ids[1], status, content);
  return { ...run, input: { ...run.input, messages }, metadata: { continuedRunIds: [ids[0]] } };
}

test('a turn has the results of its calls from the run that continued it, and can be given others', () => {
  const results = [{ toolCallId: 'a', content: 'Noon', isError: false }];
  const turns = shownTurns([calling, continuation('Completed', 'It is noon.')], null);
  expect(turns).toMatchObject([
    { toolCalls: calls, results, continued: null },
    { results: null, continued: { runId: ids[0], results } },
  ]);
  expect(openCallsOf(turns, turns[0]!)).toEqual({ answered: turns[1] });
  expect(openCallsOf(turns, turns[1]!)).toBeNull();
});

test('calls are open until a turn follows: a failed continuation leaves them open, another message does not', () => {
  const failed = shownTurns([calling, continuation('Failed', '')], null);
  expect(openCallsOf(failed, failed[0]!)).toEqual({ answered: null });
  const left = shownTurns([calling, stored('two', 'Completed', 'yes')], null);
  expect(openCallsOf(left, left[0]!)).toBeNull();
  const cut = { ...calling, output: { ...calling.output, finishReason: 'Length' } };
  const [turn] = shownTurns([cut], null);
  expect(openCallsOf([turn!], turn!)).toBeNull();
});
