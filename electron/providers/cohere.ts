import { createCohere } from '@ai-sdk/cohere';
import { createLanguageModelProvider, type ProviderSettings } from './language-model-provider.ts';
import { listCohereModels } from './provider-lists.ts';
import type { Provider } from './provider.ts';

/** Cohere's chat, version 2. */
export function createCohereProvider(settings: ProviderSettings): Provider {
  return createLanguageModelProvider(settings, {
    createModel: createCohere({
      baseURL: settings.baseAddress,
      apiKey: settings.key ?? '',
      fetch: settings.transport.fetch,
    }),
    listModels: listCohereModels,
  });
}
