/**
 * The providers that take one key, one line each: the `aiSystem` value of the API and of stored data, and the name that its owner
 * writes, for screens and messages.
 */
export const keyedProviderNames = {
  OpenAi: 'OpenAI',
  Anthropic: 'Anthropic',
  GoogleGemini: 'Google Gemini',
  Groq: 'Groq',
  Cohere: 'Cohere',
} as const;

const otherNames = { ServiceAi: 'Built-in (ServiceAi)', OpenAiCompatible: 'OpenAI-compatible' } as const;

/** The name of a provider for screens and messages. */
export function providerName(aiSystem: keyof typeof keyedProviderNames | keyof typeof otherNames): string {
  return { ...keyedProviderNames, ...otherNames }[aiSystem];
}
