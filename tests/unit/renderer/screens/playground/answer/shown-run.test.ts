import { expect, test } from 'vitest';
import { AppError } from '../../../../../../shared/app-error.ts';
import type { RunDetail } from '../../../../../../shared/contract/runs.ts';
import type { LiveRun } from '../../../../../../renderer/stores/playground-run.ts';
import { failureWords } from '../../../../../../renderer/screens/playground/answer/failure-words.ts';
import {
  finishMeaning,
  shownKept,
  shownLive,
  withKept,
} from '../../../../../../renderer/screens/playground/answer/shown-run.ts';
import { testModel } from '../test-model.ts';

const live: LiveRun = {
  key: 'key',
  draftId: 'draft',
  runId: '00000000-0000-4000-8000-000000000001',
  state: 'streaming',
  request: { promptText: 'x'.repeat(400), aiSystem: 'OpenAi', model: 'gpt-test' },
  transport: 'sse',
  sentAt: 0,
  startedAt: 1_000,
  firstTokenAt: 1_400,
  endedAt: null,
  text: 'y'.repeat(800),
  reasoning: '',
  isReasoningLive: false,
  usage: null,
  finishReason: null,
  warnings: [],
  citations: [],
  servedBy: 'OpenAi/gpt-test',
  credits: 1,
  creditsRemaining: null,
  error: null,
  wire: { method: 'POST', path: '', headers: {}, body: '', frames: [], status: 200, responseHeaders: [] },
  frameCount: 0,
};

const kept: RunDetail = {
  runId: '00000000-0000-4000-8000-000000000001',
  conversationId: '00000000-0000-4000-8000-000000000002',
  messageId: '00000000-0000-4000-8000-000000000003',
  callerId: '00000000-0000-4000-8000-000000000004',
  status: 'Completed',
  aiSystem: 'OpenAi',
  model: 'gpt-test',
  servedBy: 'OpenAi/gpt-test',
  createdAt: '2026-11-20T09:00:00.000Z',
  completedAt: '2026-11-20T09:00:02.000Z',
  totalMs: 2_400,
  firstTokenMs: 400,
  usage: { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 },
  cost: 0.0042,
  errorCode: null,
  title: 'x',
  draftId: 'draft',
  input: {
    promptText: 'x',
    systemMessage: null,
    replacements: null,
    renderedPrompt: 'x',
    configuration: null,
    dataspaceIds: null,
  },
  output: { content: 'y', reasoning: 'because', finishReason: 'Stop', error: null },
  appHeaders: {},
  metadata: null,
  citations: [],
  warnings: [],
  credits: 1,
};

test('while a run streams its tokens and its cost are estimates', () => {
  expect(shownLive(live, testModel(), 3_400).metrics).toEqual({
    runningSince: 1_000,
    firstTokenMs: 400,
    totalMs: null,
    speed: 100,
    inputTokens: 100,
    outputTokens: 200,
    isEstimated: true,
    cost: 0.0011,
    credits: 1,
  });
});

test('when it has ended the provider has counted, and the host knows the cost', () => {
  const ended = { ...live, state: 'completed' as const, endedAt: 3_400, usage: kept.usage };
  expect(withKept(shownLive(ended, testModel({ inputPrice: null }), 9_000), kept)).toMatchObject({
    reasoning: 'because',
    metrics: { runningSince: null, totalMs: 2_400, isEstimated: false, cost: 0.0042 },
  });
});

test('a run of the history looks as it did', () => {
  expect(shownKept({ ...kept, status: 'Cancelled' })).toMatchObject({
    state: 'stopped',
    text: 'y',
    failure: null,
    metrics: { firstTokenMs: 400, totalMs: 2_400, speed: 100, cost: 0.0042 },
  });
});

test('only ends other than the usual one are explained', () => {
  expect([finishMeaning('Stop'), finishMeaning(null)]).toEqual([null, null]);
  expect(finishMeaning('Length')).toContain('max_tokens');
  expect(finishMeaning('ContentFilter')).toContain('content filter');
});

test.each([
  ['provider_key_refused', { aiSystem: 'OpenAi', model: 'm' }, 'OpenAi refused the key', ['set-key', 'run-again']],
  [
    'provider_not_configured',
    { aiSystem: 'OpenAiCompatible', model: 'attic/m' },
    'attic is not set up',
    ['open-endpoints', 'pick-model'],
  ],
  [
    'model_not_installed',
    { aiSystem: 'ServiceAi', model: 'm' },
    'The on-device model is not here yet',
    ['install-model', 'pick-model'],
  ],
  ['rate_limited', { aiSystem: 'Groq', model: 'm' }, 'The rate limit of Groq is reached', ['run-again', 'pick-model']],
  ['something_new', { aiSystem: 'Groq', model: 'm' }, 'The run failed', ['run-again']],
] as const)('the failure %s has its words and its way out', (code, run, title, remedies) => {
  const words = failureWords({ code, message: 'Why.', error: null }, { ...run, text: 'some' });
  expect(words).toEqual({ title, reason: 'Why. The text until then is kept.', remedies });
});

test('a model that is not valid leads to another one', () => {
  const error = new AppError('invalid_request', 'No.', {
    details: [{ field: 'model', issue: 'is not a model of OpenAi' }],
  });
  const words = failureWords(
    { code: error.code, message: error.message, error },
    { aiSystem: 'OpenAi', model: 'gpt-9', text: '' },
  );
  expect(words).toEqual({
    title: 'gpt-9 cannot be used',
    reason: 'No. model: is not a model of OpenAi',
    remedies: ['pick-model'],
  });
});
