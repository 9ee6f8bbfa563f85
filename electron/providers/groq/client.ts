import { chatText } from '../plain-events.ts';
import { createLanguageModelProvider, type ProviderSettings } from '../language-model-provider.ts';
import { listOpenAiModels } from '../provider-lists.ts';
import { isStrictSchema, parallelCalls } from '../model-translation.ts';
import type { Provider } from '../provider.ts';
import { splitThinking } from '../split-thinking.ts';

/** Groq's chat completions. */
export function createGroqProvider(settings: ProviderSettings): Provider {
  const provider = createLanguageModelProvider(settings, {
    createModel: async (name) => {
      const { createGroq } = await import('@ai-sdk/groq');
      return createGroq({
        baseURL: settings.baseAddress,
        apiKey: settings.key ?? '',
        fetch: settings.transport.fetch,
      })(name);
    },
    plainText: chatText,
    listModels: listOpenAiModels,
    adaptOptions: (options, { configuration }) => ({
      ...options,
      providerOptions: {
        groq: {
          strictJsonSchema: isStrictSchema(configuration),
          ...parallelCalls(configuration),
          // Only Groq has this effort. The SDK's common option doesn't accept it.
          ...(configuration.reasoning_effort === 'default' ? { reasoningEffort: 'default' } : {}),
        },
      },
    }),
  });
  return splitThinking(provider);
}
