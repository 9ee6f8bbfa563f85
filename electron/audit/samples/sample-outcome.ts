import type { AiSystem, KeyedProvider } from '../../../shared/contract/common.ts';
import type { Usage } from '../../../shared/contract/completions.ts';
import { findEntry } from '../../providers/catalogue.ts';
import { cataloguePrices, costOf, endpointPrices, type ModelPrices } from '../../providers/model-prices.ts';
import type { RunOutcome } from '../../storage/run-rows.ts';
import { sampleData } from './sample-data.ts';
import type { SeededRandom } from '../../../shared/seeded-random.ts';

/** A model of the samples: its prices and approximate speed. */
export interface SampleModel {
  readonly aiSystem: AiSystem;
  readonly model: string;
  readonly servedBy: string;
  /** Null if they aren't published. */
  readonly prices: ModelPrices | null;
  readonly takesTemperature: boolean;
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
  /** How often it is used. */
  readonly weight: number;
}

type Speed = Pick<SampleModel, 'firstTokenMs' | 'tokensPerSecond'>;

function listed(aiSystem: KeyedProvider, name: string, weight: number, speed: Speed): SampleModel {
  const entry = findEntry(aiSystem, name);
  return {
    aiSystem,
    model: name,
    servedBy: `${aiSystem}/${name}`,
    prices: cataloguePrices(entry),
    takesTemperature: entry?.sampling === 'always',
    weight,
    ...speed,
  };
}

const local = {
  prices: { ...endpointPrices({ inputPrice: 0, outputPrice: 0 }), pricesFrom: '2026-11-22' },
  takesTemperature: true,
};

const sampleModels: readonly SampleModel[] = [
  {
    aiSystem: 'ServiceAi',
    model: 'hl-gpt-4.1-mini',
    servedBy: 'on-device/qwen3-0.6b-q8_0.gguf',
    weight: 5,
    firstTokenMs: 640,
    tokensPerSecond: 21,
    ...local,
  },
  listed('OpenAi', 'gpt-6.1-terra', 7, { firstTokenMs: 430, tokensPerSecond: 78 }),
  listed('OpenAi', 'gpt-6-luna', 6, { firstTokenMs: 380, tokensPerSecond: 95 }),
  listed('Anthropic', 'claude-sonnet-5-5', 5, { firstTokenMs: 510, tokensPerSecond: 110 }),
  listed('GoogleGemini', 'gemini-3.8-flash', 3, { firstTokenMs: 720, tokensPerSecond: 62 }),
  listed('Groq', 'openai/gpt-oss-120b', 3, { firstTokenMs: 190, tokensPerSecond: 280 }),
  {
    aiSystem: 'OpenAiCompatible',
    model: 'workshop/qwen3-8b',
    servedBy: 'OpenAiCompatible/workshop/qwen3-8b',
    weight: 2,
    firstTokenMs: 900,
    tokensPerSecond: 34,
    ...local,
  },
];

export function pickModel(random: SeededRandom): SampleModel {
  const total = sampleModels.reduce((sum, { weight }) => sum + weight, 0);
  let remaining = random.next() * total;
  return sampleModels.find(({ weight }) => (remaining -= weight) < 0) ?? sampleModels[0]!;
}

/** Approximate characters per token. */
const charactersOfToken = 4;

function usageOf(prompt: string, answer: string): Usage {
  const prompt_tokens = Math.ceil(prompt.length / charactersOfToken) + 8;
  const completion_tokens = Math.max(1, Math.ceil(answer.length / charactersOfToken));
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function failed(random: SeededRandom, createdAt: number): RunOutcome {
  const error = random.pick(sampleData.failures);
  const totalMs = error.code === 'provider_silent' ? 60_000 : random.between(180, 2400);
  return {
    status: 'Failed',
    content: '',
    reasoning: null,
    finishReason: 'Error',
    error,
    usage: null,
    cost: null,
    credits: 0,
    firstTokenMs: null,
    totalMs,
    completedAt: createdAt + totalMs,
    citations: [],
  };
}

/** A possible outcome of a run with this prompt and answer; one in twelve fails. */
export function sampleOutcome(
  random: SeededRandom,
  model: SampleModel,
  prompt: string,
  answer: string,
  createdAt: number,
): RunOutcome {
  if (random.boolean(0.05)) return failed(random, createdAt);
  const isCancelled = random.boolean(0.035);
  const content = isCancelled ? answer.slice(0, Math.floor(answer.length * random.next())) : answer;
  const usage = usageOf(prompt, content);
  const firstTokenMs = Math.round(model.firstTokenMs * (0.6 + 0.5 * random.next() + 2 * random.next() ** 8));
  const totalMs = Math.round(
    firstTokenMs + (usage.completion_tokens * 1000) / (model.tokensPerSecond * (0.7 + 0.6 * random.next())),
  );
  return {
    status: isCancelled ? 'Cancelled' : 'Completed',
    content,
    reasoning: null,
    finishReason: isCancelled ? 'Cancelled' : 'Stop',
    error: null,
    usage: isCancelled ? null : usage,
    cost: isCancelled ? null : costOf(model.prices, usage),
    credits: 1,
    firstTokenMs,
    totalMs,
    completedAt: createdAt + totalMs,
    citations: [],
  };
}
