import { describe, expect, it } from 'vitest';
import { findEntry } from '../../../electron/providers/catalogue.ts';
import { cataloguePrices, costOf, endpointPrices } from '../../../electron/providers/model-prices.ts';
import type { KeyedProvider } from '../../../shared/contract/common.ts';
import type { UsageDetails } from '../../../shared/contract/completions.ts';

function usage(prompt: number, completion: number, details?: Partial<UsageDetails>) {
  const none = { cached_tokens: null, cache_write_tokens: null, reasoning_tokens: null };
  const totals = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  return details ? { ...totals, details: { ...none, ...details } } : totals;
}

function pricesOf(aiSystem: KeyedProvider, name: string) {
  return cataloguePrices(findEntry(aiSystem, name));
}

// Each expectation is written out from the prices on the provider's own page, per million tokens.
describe('a cost matches the provider’s price list', () => {
  it.each([
    // https://developers.openai.com/api/docs/pricing: gpt-6.1-terra 1 in, 0.05 cached, 1.25 cache write, 5 out;
    // above 272,000 input tokens the whole request costs twice the input and cache prices and 1.5 times the output price.
    ['OpenAi', 'gpt-6.1-terra', usage(10_000, 2_000), null, 10_000 * 1 + 2_000 * 5],
    [
      'OpenAi',
      'gpt-6.1-terra',
      usage(10_000, 2_000, { cached_tokens: 8_000, reasoning_tokens: 1_500 }),
      null,
      2_000 * 1 + 8_000 * 0.05 + 2_000 * 5,
    ],
    [
      'OpenAi',
      'gpt-6.1-terra',
      usage(10_000, 0, { cached_tokens: 6_000, cache_write_tokens: 3_000 }),
      null,
      1_000 * 1 + 6_000 * 0.05 + 3_000 * 1.25,
    ],
    ['OpenAi', 'gpt-6.1-terra', usage(272_000, 100), null, 272_000 * 1 + 100 * 5],
    ['OpenAi', 'gpt-6.1-terra', usage(272_001, 100, { cached_tokens: 1 }), null, 272_000 * 2 + 0.1 + 100 * 7.5],
    // https://platform.claude.com/docs/en/models/opus-5-5/overview: 4 in, 20 out, 5 and 8 for writes of 5 minutes and 1 hour, 0.20 read.
    [
      'Anthropic',
      'claude-opus-5-5',
      usage(150_000, 1_500, { cached_tokens: 140_000, cache_write_tokens: 8_000 }),
      { cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 8_000 } },
      2_000 * 4 + 140_000 * 0.2 + 8_000 * 8 + 1_500 * 20,
    ],
    [
      'Anthropic',
      'claude-opus-5-5',
      usage(150_000, 1_500, { cached_tokens: 140_000, cache_write_tokens: 8_000 }),
      { cache_creation: { ephemeral_5m_input_tokens: 7_000, ephemeral_1h_input_tokens: 1_000 } },
      2_000 * 4 + 140_000 * 0.2 + 7_000 * 5 + 1_000 * 8 + 1_500 * 20,
    ],
    ['Anthropic', 'claude-opus-5-5', usage(10_000, 0, { cache_write_tokens: 10_000 }), {}, 10_000 * 5],
    // https://platform.claude.com/docs/en/models/haiku-5-5/overview: 0.10 and 0.50, above 100,000 tokens of prompt 0.50 and 2.50, cached 0.05.
    ['Anthropic', 'claude-haiku-5-5', usage(100_000, 1_000), null, 100_000 * 0.1 + 1_000 * 0.5],
    [
      'Anthropic',
      'claude-haiku-5-5',
      usage(120_000, 1_000, { cached_tokens: 90_000 }),
      null,
      30_000 * 0.5 + 90_000 * 0.05 + 1_000 * 2.5,
    ],
    // https://ai.google.dev/gemini-api/docs/pricing: gemini-2.5-pro 1.25 in, 0.125 cached, 10 out with its thoughts; above 200,000 2.50, 0.25, 15.
    [
      'GoogleGemini',
      'gemini-2.5-pro',
      usage(11_500, 11_000, { cached_tokens: 10_000, reasoning_tokens: 10_000 }),
      null,
      1_500 * 1.25 + 10_000 * 0.125 + 11_000 * 10,
    ],
    ['GoogleGemini', 'gemini-2.5-pro', usage(300_000, 1_000), null, 300_000 * 2.5 + 1_000 * 15],
    // The same page: gemini-2.5-flash 0.30 in, 1.00 for audio, 0.03 cached, 2.50 out.
    [
      'GoogleGemini',
      'gemini-2.5-flash',
      usage(10_000, 100, { cached_tokens: 3_000 }),
      {
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 2_000 },
          { modality: 'AUDIO', tokenCount: 8_000 },
        ],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 3_000 }],
      },
      2_000 * 0.3 + 5_000 * 1 + 3_000 * 0.03 + 100 * 2.5,
    ],
    // https://groq.com/pricing: gpt-oss-120b 0.15 in, 0.60 out. https://cohere.com/pricing: command-a 2.50 in, 10 out.
    ['Groq', 'openai/gpt-oss-120b', usage(1_000, 1_000), null, 1_000 * 0.15 + 1_000 * 0.6],
    ['Cohere', 'command-a-03-2025', usage(1_000, 1_000, { cached_tokens: 0 }), null, 1_000 * 2.5 + 1_000 * 10],
  ] as const)('%s %s %o', (aiSystem, name, tokens, rawUsage, microDollars) => {
    expect(costOf(pricesOf(aiSystem, name), tokens, rawUsage)?.amount).toBeCloseTo(microDollars / 1e6, 12);
  });
});

it('has the day of its prices', () => {
  expect(costOf(pricesOf('OpenAi', 'gpt-4o'), usage(1, 1))?.pricesFrom).toBe('2026-07-02');
  expect(costOf(pricesOf('OpenAi', 'gpt-6.1-terra'), usage(1, 1))?.pricesFrom).toBe('2026-11-22');
  const today = new Date().toISOString().slice(0, 10);
  expect(costOf(endpointPrices({ inputPrice: 1, outputPrice: 2 }), usage(1, 1))?.pricesFrom).toBe(today);
});

it('is unknown if the price of a used token class is, and cached tokens cost at most as much as others', () => {
  const prices = {
    ...endpointPrices({ inputPrice: 2, outputPrice: 4 }),
    cachedInputPrice: null,
    cacheWritePrice: null,
  };
  expect(costOf(null, usage(1, 1))).toBeNull();
  expect(costOf(prices, usage(1_000_000, 0, { cached_tokens: 500_000 }))?.amount).toBe(2);
  expect(costOf(prices, usage(1_000_000, 0, { cache_write_tokens: 1 }))).toBeNull();
  expect(costOf(prices, usage(1_000_000, 0, { cache_write_tokens: 0 }))?.amount).toBe(2);
});

it.each([null, 5, [null], [{ modality: 'AUDIO', tokenCount: -1 }], [{ modality: 'AUDIO', tokenCount: 1e9 }]])(
  'counts no more audio than there are tokens: %j',
  (promptTokensDetails) => {
    const prices = pricesOf('GoogleGemini', 'gemini-2.5-flash');
    const { amount } = costOf(prices, usage(1_000, 0, { cached_tokens: 400 }), { promptTokensDetails })!;
    expect(amount).toBeGreaterThanOrEqual((600 * 0.3 + 400 * 0.03) / 1e6);
    expect(amount).toBeLessThanOrEqual((600 * 1 + 400 * 0.03) / 1e6);
  },
);

it.each([
  [{ cached_tokens: 10_192 }, null],
  [{ cached_tokens: 5_136, cache_write_tokens: 5_136 }, null],
  [{ cache_write_tokens: 5_136 }, { cache_creation: { ephemeral_1h_input_tokens: 1e9 } }],
  [{ cache_write_tokens: 5_136 }, { cache_creation: { ephemeral_1h_input_tokens: -5 } }],
  [{ cache_write_tokens: 5_136 }, { cache_creation: 'none' }],
])('is never negative or more than all tokens at the highest price, for any report: %o %o', (details, raw) => {
  const { amount } = costOf(pricesOf('Anthropic', 'claude-opus-5-5'), usage(5_136, 10, details), raw)!;
  expect(amount).toBeGreaterThan(0);
  expect(amount).toBeLessThanOrEqual((5_136 * 8 + 10 * 20) / 1e6);
});
