import { createAnthropic } from '@ai-sdk/anthropic';
import { createLanguageModelProvider, type ProviderSettings } from './language-model-provider.ts';
import { listAnthropicModels } from './provider-lists.ts';
import type { Provider } from './provider.ts';

/** Anthropic on its Messages API, which keeps no prompts unless told to. */
export function createAnthropicProvider(settings: ProviderSettings): Provider {
  return createLanguageModelProvider(settings, {
    createModel: createAnthropic({
      baseURL: settings.baseAddress,
      apiKey: settings.key ?? '',
      fetch: settings.transport.fetch,
    }),
    listModels: listAnthropicModels,
  });
}
