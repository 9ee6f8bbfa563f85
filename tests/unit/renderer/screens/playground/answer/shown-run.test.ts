import { expect, test } from 'vitest';
import type { RunDetail } from '../../../../../../shared/contract/runs.ts';
import type { CompletionRun } from '../../../../../../renderer/stores/live-runs.ts';
import {
  isSameButLonger,
  shownStored,
  shownLive,
  withStored,
} from '../../../../../../renderer/screens/playground/answer/shown-run.ts';
import { testModel } from '../test-model.ts';

const live: CompletionRun = {
  key: 'key',
  runId: '00000000-0000-4000-8000-000000000001',
  conversationId: null,
  state: 'streaming',
  request: { promptText: 'x'.repeat(400), aiSystem: 'OpenAi', model: 'gpt-test' },
  transport: 'sse',
  steps: [],
  toolCalls: [],
  sentAt: 0,
  startedAt: 1_000,
  firstTokenAt: 1_400,
  endedAt: null,
  changedAt: 3_400,
  text: 'y'.repeat(800),
  reasoning: '',
  isReasoningLive: false,
  usage: null,
  finishReason: null,
  warnings: [],
  citations: [],
  servedBy: 'OpenAi/gpt-test',
  credits: 1,
  error: null,
  wire: { method: 'POST', path: '', headers: {}, body: '', frames: [], status: 200, responseHeaders: [] },
  frameCount: 0,
};

const stored: RunDetail = {
  agentId: null,
  isAnonymised: false,
  draftId: 'draft',
  runId: '00000000-0000-4000-8000-000000000001',
  conversationId: '00000000-0000-4000-8000-000000000002',
  messageId: '00000000-0000-4000-8000-000000000003',
  callerId: '00000000-0000-4000-8000-000000000004',
  status: 'Completed',
  aiSystem: 'OpenAi',
  model: 'gpt-test',
  servedBy: 'OpenAi/gpt-test',
  origin: { api: 'completions', client: null },
  httpStatus: null,
  createdAt: '2026-11-20T09:00:00.000Z',
  completedAt: '2026-11-20T09:00:02.000Z',
  totalMs: 2_400,
  firstTokenMs: 400,
  usage: { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 },
  cost: 0.0042,
  pricesFrom: '2026-11-22',
  errorCode: null,
  title: 'x',
  input: {
    promptText: 'x',
    systemMessage: null,
    replacements: null,
    renderedPrompt: 'x',
    messages: [],
    configuration: null,
    dataspaceIds: null,
  },
  output: { content: 'y', reasoning: 'because', finishReason: 'Stop', error: null },
  appHeaders: {},
  rawUsage: null,
  metadata: null,
  citations: [],
  warnings: [],
  credits: 1,
};

test('while a run streams its tokens are estimates and its cost is unknown', () => {
  expect(shownLive(live).metrics).toEqual({
    runningSince: 1_000,
    firstTokenMs: 400,
    totalMs: null,
    speed: 100,
    usage: { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 },
    isEstimated: true,
    cost: null,
    reasoningCost: null,
    credits: 1,
    effort: null,
  });
});

test('after its end the provider has counted, and the host has the cost', () => {
  const ended = { ...live, state: 'completed' as const, endedAt: 3_400, usage: stored.usage };
  expect(withStored(shownLive(ended), stored)).toMatchObject({
    reasoning: 'because',
    metrics: { runningSince: null, totalMs: 2_400, isEstimated: false, cost: 0.0042 },
  });
});

test('an ended run shows the same metrics as after a reload', () => {
  const ended = { ...live, state: 'completed' as const, endedAt: 3_487, usage: stored.usage };
  const { metrics } = withStored(shownLive(ended), stored);
  expect(metrics).toEqual(shownStored(stored).metrics);
  expect(metrics).toMatchObject({ firstTokenMs: 400, totalMs: 2_400, speed: 100 });
  const stopped: RunDetail = { ...stored, status: 'Cancelled', usage: null, cost: null };
  const stoppedLive = { ...ended, state: 'stopped' as const, usage: null };
  expect(withStored(shownLive(stoppedLive), stopped, testModel()).metrics).toEqual(
    shownStored(stopped, testModel()).metrics,
  );
});

test('the reported reasoning has its share of the cost, unless the prices have changed since', () => {
  const details = { cached_tokens: null, cache_write_tokens: null, reasoning_tokens: 150 };
  const reasoned: RunDetail = { ...stored, usage: { ...stored.usage!, details } };
  const share = (run: RunDetail, model = testModel()) => shownStored(run, model).metrics.reasoningCost;
  expect(share(reasoned)).toBeCloseTo(0.00075, 9);
  expect(share(stored)).toBeNull();
  expect(share({ ...reasoned, cost: null })).toBeNull();
  expect(share(reasoned, testModel({ outputPrice: null }))).toBeNull();
  expect(share(reasoned, testModel({ outputPrice: 500 }))).toBeNull();
  const longPrompt = { aboveTokens: 99, inputPrice: 2, outputPrice: 10, cachedInputPrice: null };
  expect(share(reasoned, testModel({ longPrompt }))).toBeCloseTo(0.0015, 9);
});

test('the speed of an answer that arrived at once is that of its whole time, live and after a reload', () => {
  const atOnce = { ...live, transport: 'sync' as const, firstTokenAt: 3_000, endedAt: 3_000, usage: stored.usage };
  expect(shownLive(atOnce).metrics.speed).toBe(100);
  expect(shownStored({ ...stored, firstTokenMs: 2_000, totalMs: 2_000 }).metrics.speed).toBe(100);
});

test('the live speed includes reasoning, before the answer and after it has started', () => {
  const reasoning = { ...live, changedAt: 2_400, text: '', reasoning: 'z'.repeat(400) };
  expect(shownLive(reasoning).metrics).toMatchObject({
    speed: 100,
    usage: { completion_tokens: 100 },
  });
  const answering = { ...reasoning, changedAt: 3_400, text: 'y'.repeat(400) };
  expect(shownLive(answering).metrics).toMatchObject({
    speed: 100,
    usage: { completion_tokens: 200 },
  });
});

test('a stopped run keeps its metrics in the history, as estimates', () => {
  const stopped: RunDetail = {
    ...stored,
    status: 'Cancelled',
    usage: null,
    cost: null,
    input: { ...stored.input, renderedPrompt: 'x'.repeat(400) },
    output: { ...stored.output, content: 'y'.repeat(800), reasoning: null },
  };
  expect(shownStored(stopped, testModel()).metrics).toEqual({
    runningSince: null,
    firstTokenMs: 400,
    totalMs: 2_400,
    speed: 100,
    usage: { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 },
    isEstimated: true,
    cost: 0.0011,
    reasoningCost: null,
    credits: 1,
    effort: null,
  });
});

test('a run of the history looks the same as before', () => {
  expect(shownStored({ ...stored, status: 'Cancelled' })).toMatchObject({
    state: 'stopped',
    text: 'y',
    failure: null,
    metrics: { firstTokenMs: 400, totalMs: 2_400, speed: 100, cost: 0.0042 },
  });
});

test('the requested effort is beside whether the model got it', () => {
  const configuration = { reasoning_effort: 'minimal' };
  const request = { ...live.request, configuration };
  expect(shownLive({ ...live, request }).metrics.effort).toEqual({ requested: 'minimal', isSent: true });
  expect(shownLive(live).metrics.effort).toBeNull();
  const warning = { code: 'parameter-dropped', parameter: 'reasoning_effort', message: 'not sent' } as const;
  const run = { ...stored, input: { ...stored.input, configuration }, warnings: [warning] };
  expect(shownStored(run).metrics.effort).toEqual({ requested: 'minimal', isSent: false });
});

test('the stored text replaces a streamed one that started with reasoning', () => {
  const shown = withStored(shownLive({ ...live, text: 'So.\n</think>\nYes' }), {
    ...stored,
    output: { ...stored.output, content: 'Yes', reasoning: 'So.' },
  });
  expect(shown).toMatchObject({ text: 'Yes', reasoning: 'So.' });
});

test('tokens change only what grows with them, so that nothing else is drawn again', () => {
  const shown = shownLive(live);
  const longer = shownLive({ ...live, text: `${live.text} more`, changedAt: 4_000, frameCount: 9 });
  expect(isSameButLonger(shown, longer)).toBe(true);
  expect(isSameButLonger(shownLive({ ...live, text: '' }), longer)).toBe(false);
  expect(isSameButLonger(shown, shownLive({ ...live, state: 'stopped' }))).toBe(false);
  expect([isSameButLonger(null, shown), isSameButLonger(shown, null), isSameButLonger(null, null)]).toEqual([
    false,
    false,
    true,
  ]);
});
