import type { AiSystem, KeyedProvider } from '../../shared/contract/common.ts';
import { createAnthropicProvider } from './anthropic.ts';
import { createCohereProvider } from './cohere.ts';
import { createGoogleGeminiProvider } from './google-gemini.ts';
import { createGroqProvider } from './groq.ts';
import type { ProviderSettings } from './language-model-provider.ts';
import { createOpenAiCompatibleProvider } from './open-ai-compatible.ts';
import { createOpenAiProvider } from './open-ai.ts';
import type { Provider } from './provider.ts';

/** A provider that takes one key. */
export interface RegisteredProvider {
  readonly title: string;
  /** With the version segment, without a slash at the end. */
  readonly baseAddress: string;
  /** Where the key comes from on machines without a keychain. */
  readonly environmentVariable: string;
  /** Page where a person gets a key. */
  readonly keyPage: string;
  readonly create: (settings: ProviderSettings) => Provider;
}

// prettier-ignore
export const registry: Readonly<Record<KeyedProvider, RegisteredProvider>> = {
  OpenAi: { title: 'OpenAI', baseAddress: 'https://api.openai.com/v1', environmentVariable: 'OPENAI_API_KEY', keyPage: 'https://platform.openai.com/api-keys', create: createOpenAiProvider },
  Anthropic: { title: 'Anthropic', baseAddress: 'https://api.anthropic.com/v1', environmentVariable: 'ANTHROPIC_API_KEY', keyPage: 'https://platform.claude.com/settings/keys', create: createAnthropicProvider },
  GoogleGemini: { title: 'Google Gemini', baseAddress: 'https://generativelanguage.googleapis.com/v1beta', environmentVariable: 'GEMINI_API_KEY', keyPage: 'https://aistudio.google.com/apikey', create: createGoogleGeminiProvider },
  Groq: { title: 'Groq', baseAddress: 'https://api.groq.com/openai/v1', environmentVariable: 'GROQ_API_KEY', keyPage: 'https://console.groq.com/keys', create: createGroqProvider },
  Cohere: { title: 'Cohere', baseAddress: 'https://api.cohere.com/v2', environmentVariable: 'COHERE_API_KEY', keyPage: 'https://dashboard.cohere.com/api-keys', create: createCohereProvider },
};

export const createEndpointProvider: (settings: ProviderSettings) => Provider = createOpenAiCompatibleProvider;

/** What people call a provider. */
export function titleOf(aiSystem: AiSystem): string {
  if (aiSystem === 'ServiceAi') return "the service's own models";
  return aiSystem === 'OpenAiCompatible' ? 'a compatible endpoint' : registry[aiSystem].title;
}
