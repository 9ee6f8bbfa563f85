import { createGoogle } from '@ai-sdk/google';
import { embedAtProvider } from './embed-at-provider.ts';
import { createLanguageModelProvider, type ProviderSettings } from './language-model-provider.ts';
import { listGeminiModels } from './provider-lists.ts';
import type { Provider } from './provider.ts';

/** Google's Gemini API. Its package has no option for `store`, so the field is added to the body. */
export function createGoogleGeminiProvider(settings: ProviderSettings): Provider {
  const google = createGoogle({
    baseURL: settings.baseAddress,
    apiKey: settings.key ?? '',
    fetch: settings.transport.fetch,
  });
  const provider = createLanguageModelProvider(settings, {
    createModel: google,
    listModels: listGeminiModels,
    fixedBody: { store: false },
    adaptOptions: (options) =>
      // Gemini reasons in silence unless asked to show it; a model that takes an effort can show it.
      options.reasoning === undefined || options.reasoning === 'none'
        ? options
        : { ...options, providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } },
  });
  return {
    ...provider,
    embed: embedAtProvider(settings, {
      createModel: google.embeddingModel,
      optionsFor: (isQuestion) => ({ google: { taskType: isQuestion ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT' } }),
    }),
  };
}
