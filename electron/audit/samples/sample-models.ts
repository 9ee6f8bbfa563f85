import type { AiSystem, KeyedProvider } from '../../../shared/contract/common.ts';
import { findEntry } from '../../providers/catalogue/catalogue.ts';
import { cataloguePrices, endpointPrices, type ModelPrices } from '../../providers/model-prices.ts';

/** A model as the samples use it: what it costs and roughly how fast it is. */
export interface SampleModel {
  readonly aiSystem: AiSystem;
  readonly model: string;
  readonly servedBy: string;
  /** Null when they aren't published. */
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

export const sampleModels: readonly SampleModel[] = [
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
