import { expect, test } from 'vitest';
import { estimateRun, maxTokensOf } from '../../../../../renderer/screens/playground/run-estimate.tsx';
import { testModel } from './test-model.ts';

const longPrompt = { aboveTokens: 200_000, inputPrice: 2, outputPrice: 8, cachedInputPrice: 0.2 };

test.each([
  ['without max_tokens, up to the limit of the model', testModel(), 1_000, null, 16_000, { min: 0.001, max: 0.081 }],
  ['with a smaller max_tokens', testModel(), 1_000, 200, 200, { min: 0.001, max: 0.002 }],
  ['with max_tokens beyond the limit', testModel(), 0, 99_999, 16_000, { min: 0, max: 0.08 }],
  ['with cached prompts', testModel({ cachedInputPrice: 0.1 }), 1_000, 200, 200, { min: 0.0001, max: 0.002 }],
  ['at the limit of short prompts', testModel({ longPrompt }), 200_000, 0, 0, { min: 0.2, max: 0.2 }],
  ['of a long prompt', testModel({ longPrompt }), 200_001, 100, 100, { min: 0.0400002, max: 0.400802 }],
  ['of a model without a known limit', testModel({ outputTokens: null }), 1_000, null, null, { min: 0.001, max: null }],
  ['of a model without a price', testModel({ outputPrice: null }), 1_000, null, 16_000, null],
  ['of an unknown model', null, 1_000, null, null, null],
])('the estimate of a run %s', (_, model, inputTokens, maxTokens, maxOutputTokens, cost) => {
  const estimate = estimateRun(model, { inputTokens }, maxTokens);
  expect(estimate).toMatchObject({ inputTokens, maxOutputTokens });
  if (cost === null) expect(estimate.cost).toBeNull();
  else {
    expect(estimate.cost?.min).toBeCloseTo(cost.min, 9);
    if (cost.max === null) expect(estimate.cost?.max).toBeNull();
    else expect(estimate.cost?.max).toBeCloseTo(cost.max, 9);
  }
});

test.each([
  ['at its own price', testModel({ audioInputPrice: 3 }), 400, 0.0018],
  ['at the price of text if it has no own price', testModel(), 400, 0.001],
  ['for no more tokens than the provider counted', testModel({ audioInputPrice: 3 }), 9_000, 0.003],
])('the most that audio costs is %s', (_, model, audioTokens, max) => {
  expect(estimateRun(model, { inputTokens: 1_000, audioTokens }, 0).cost?.max).toBeCloseTo(max, 9);
});

test.each([
  ['1,000', 1_000],
  [' 200 ', 200],
  ['0', null],
  ['many', null],
  ['', null],
])('max_tokens written as %j is %s', (text, expected) => {
  expect(maxTokensOf({ parameters: { max_tokens: text } })).toBe(expected);
});
