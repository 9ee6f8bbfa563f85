import { keyedProviders, type AiSystem, type KeyedProvider } from '../../shared/contract/common.ts';
import { providerName } from '../../shared/provider-names.ts';
import { createAnthropicProvider } from './anthropic/client.ts';
import { detailsOf } from './catalogue.ts';
import { createCohereProvider } from './cohere/client.ts';
import { createGoogleGeminiProvider } from './google-gemini/client.ts';
import { createGroqProvider } from './groq/client.ts';
import type { ProviderSettings } from './language-model-provider.ts';
import { createOpenAiProvider } from './open-ai/client.ts';
import { createOpenAiCompatibleProvider } from './open-ai-compatible.ts';
import type { ProviderDetails } from './provider-details.ts';
import type { Provider } from './provider.ts';

type CreateProvider = (settings: ProviderSettings) => Provider;

/** A provider that takes one key. */
export interface RegisteredProvider extends ProviderDetails {
  readonly title: string;
  readonly create: CreateProvider;
}

const clientOf: Readonly<Record<KeyedProvider, CreateProvider>> = {
  OpenAi: createOpenAiProvider,
  Anthropic: createAnthropicProvider,
  GoogleGemini: createGoogleGeminiProvider,
  Groq: createGroqProvider,
  Cohere: createCohereProvider,
};

export const registry = Object.fromEntries(
  keyedProviders.map((name): [KeyedProvider, RegisteredProvider] => [
    name,
    { ...detailsOf[name], title: providerName(name), create: clientOf[name] },
  ]),
) as Readonly<Record<KeyedProvider, RegisteredProvider>>;

export const createEndpointProvider: CreateProvider = createOpenAiCompatibleProvider;

/** The name of a provider in messages. */
export function titleOf(aiSystem: AiSystem): string {
  if (aiSystem === 'ServiceAi') return "the service's own models";
  return aiSystem === 'OpenAiCompatible' ? 'a compatible endpoint' : registry[aiSystem].title;
}
