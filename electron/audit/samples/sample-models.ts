import type { AiSystem } from '../../../shared/contract/common.ts';

/** A model as the samples use it: what it costs and how quick it is, about. */
export interface SampleModel {
  readonly aiSystem: AiSystem;
  readonly model: string;
  readonly servedBy: string;
  /** US dollars for a million tokens. */
  readonly promptPrice: number;
  readonly completionPrice: number;
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
  /** How often it is used. */
  readonly weight: number;
}

function model(
  aiSystem: AiSystem,
  name: string,
  weight: number,
  figures: Pick<SampleModel, 'promptPrice' | 'completionPrice' | 'firstTokenMs' | 'tokensPerSecond'>,
  servedBy = `${aiSystem}/${name}`,
): SampleModel {
  return { aiSystem, model: name, servedBy, weight, ...figures };
}

const free = { promptPrice: 0, completionPrice: 0 };

export const sampleModels: readonly SampleModel[] = [
  model(
    'ServiceAi',
    'hl-gpt-4o-mini',
    5,
    { ...free, firstTokenMs: 640, tokensPerSecond: 21 },
    'on-device/qwen3-0.6b-q8_0.gguf',
  ),
  model('OpenAi', 'gpt-4o', 7, { promptPrice: 2.5, completionPrice: 10, firstTokenMs: 430, tokensPerSecond: 78 }),
  model('OpenAi', 'gpt-4o-mini', 6, {
    promptPrice: 0.15,
    completionPrice: 0.6,
    firstTokenMs: 380,
    tokensPerSecond: 95,
  }),
  model('Anthropic', 'claude-3-haiku-20240307', 5, {
    promptPrice: 0.25,
    completionPrice: 1.25,
    firstTokenMs: 510,
    tokensPerSecond: 110,
  }),
  model('GoogleGemini', 'gemini-1.5-pro', 3, {
    promptPrice: 1.25,
    completionPrice: 5,
    firstTokenMs: 720,
    tokensPerSecond: 62,
  }),
  model('Groq', 'llama3-70b-8192', 3, {
    promptPrice: 0.59,
    completionPrice: 0.79,
    firstTokenMs: 190,
    tokensPerSecond: 280,
  }),
  model('OpenAiCompatible', 'workshop/qwen3-8b', 2, { ...free, firstTokenMs: 900, tokensPerSecond: 34 }),
];
