import type { AiSystem } from './contract/common.ts';

/** Provider names as their owners write them, for screens and messages. The API and stored data use the `aiSystem` value. */
const providerNames: Record<AiSystem, string> = {
  ServiceAi: 'Built-in (ServiceAi)',
  OpenAi: 'OpenAI',
  Anthropic: 'Anthropic',
  GoogleGemini: 'Google Gemini',
  Groq: 'Groq',
  Cohere: 'Cohere',
  OpenAiCompatible: 'OpenAI-compatible',
};

export function providerName(aiSystem: AiSystem): string {
  return providerNames[aiSystem];
}
