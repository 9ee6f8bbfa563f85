import { createGroq } from '@ai-sdk/groq';
import { createLanguageModelProvider, type ProviderSettings } from '../language-model-provider.ts';
import { listOpenAiModels } from '../provider-lists.ts';
import { isStrictSchema } from '../model-translation.ts';
import type { Provider } from '../provider.ts';

/** Groq's chat completions. */
export function createGroqProvider(settings: ProviderSettings): Provider {
  return createLanguageModelProvider(settings, {
    createModel: createGroq({
      baseURL: settings.baseAddress,
      apiKey: settings.key ?? '',
      fetch: settings.transport.fetch,
    }),
    listModels: listOpenAiModels,
    adaptOptions: (options, { configuration }) => ({
      ...options,
      providerOptions: {
        groq: {
          strictJsonSchema: isStrictSchema(configuration),
          // An effort of Groq's own, which the common option does not have.
          ...(configuration.reasoning_effort === 'default' ? { reasoningEffort: 'default' } : {}),
        },
      },
    }),
  });
}
