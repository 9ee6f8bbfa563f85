import type { Model } from '../../../../../shared/contract/providers.ts';

/** A model with the given facts and otherwise usual ones. */
export function testModel(details: Partial<Model> = {}): Model {
  return {
    aiSystem: 'OpenAi',
    name: 'gpt-test',
    title: 'GPT Test',
    origin: 'catalogue',
    contextTokens: 128_000,
    outputTokens: 16_000,
    inputPrice: 1,
    cachedInputPrice: null,
    audioInputPrice: null,
    longPrompt: null,
    canCountTokens: false,
    fileKinds: ['image', 'pdf', 'audio', 'text'],
    callsTools: true,
    outputPrice: 5,
    capabilities: [],
    parameters: [],
    shutdownDate: null,
    hasEnded: false,
    replacement: null,
    isReady: true,
    servedBy: null,
    ...details,
  };
}
