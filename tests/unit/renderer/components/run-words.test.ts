import { expect, test } from 'vitest';
import { blockedWords, completeWords, failureWords, finishMeaning } from '../../../../renderer/components/run-words.ts';
import { AppError } from '../../../../shared/app-error.ts';

test('explains only unusual finish reasons', () => {
  expect([finishMeaning('Stop'), finishMeaning(null)]).toEqual([null, null]);
  expect(finishMeaning('Length')).toContain('max_tokens');
  expect(finishMeaning('ContentFilter')).toContain('content filter');
});

test('describes the end of a run', () => {
  expect(['Stop', 'ContentFilter', null].map(completeWords)).toEqual([
    'Complete (stop)',
    'Complete (content filter)',
    'Complete',
  ]);
});

test.each([
  ['provider_key_refused', { aiSystem: 'OpenAi', model: 'm' }, 'OpenAI rejected the request', ['set-key', 'run-again']],
  [
    'provider_not_configured',
    { aiSystem: 'OpenAiCompatible', model: 'attic/m' },
    '"attic" is not set up',
    ['open-endpoints', 'pick-model'],
  ],
  [
    'model_not_installed',
    { aiSystem: 'ServiceAi', model: 'm' },
    'On-device model not downloaded',
    ['install-model', 'pick-model'],
  ],
  [
    'rate_limited',
    { aiSystem: 'Groq', model: 'm' },
    'Rate limit or quota of Groq reached',
    ['run-again', 'pick-model'],
  ],
  ['something_new', { aiSystem: 'Groq', model: 'm' }, 'The run failed', ['run-again']],
] as const)('the failure %s has its words and its way out', (code, run, title, remedies) => {
  const words = failureWords({ code, message: 'Why.', error: null }, { ...run, text: 'some' });
  expect(words).toEqual({ title, reason: 'Why. Partial answer kept.', remedies });
});

test('an invalid model offers the picker', () => {
  const error = new AppError('invalid_request', 'No.', {
    details: [{ field: 'model', issue: 'is not a model of OpenAi' }],
  });
  const words = failureWords(
    { code: error.code, message: error.message, error },
    { aiSystem: 'OpenAi', model: 'gpt-9', text: '' },
  );
  expect(words).toEqual({
    title: "gpt-9 can't be used",
    reason: 'No. model: is not a model of OpenAi',
    remedies: ['pick-model'],
  });
});

test("a message that starts with the title doesn't repeat it", () => {
  const message = 'Rate limit or quota of "workshop" reached. Retry in 30 s. Provider message: Slow down';
  const run = { aiSystem: 'OpenAiCompatible', model: 'workshop/m', text: '' } as const;
  expect(failureWords({ code: 'rate_limited', message, error: null }, run)).toMatchObject({
    title: 'Rate limit or quota of "workshop" reached',
    reason: 'Retry in 30 s. Provider message: Slow down',
  });
});

test("says what the guard kept from the caller, and doesn't blame the provider", () => {
  const words = (content: string, withheld: string | null) =>
    blockedWords({ output: { content }, moderation: { prompt: null, answer: { withheld } } } as never);
  expect([words('', 'rude'), words('Polite.', 'rude'), words('Polite.', null)]).toEqual([
    'The guard blocked the answer.',
    'The guard blocked the rest of the answer.',
    null,
  ]);
  expect(blockedWords({ output: { content: '' } } as never)).toBeNull();
});
