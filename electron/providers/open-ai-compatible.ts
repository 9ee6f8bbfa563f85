import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embedAtProvider } from './embed-at-provider.ts';
import { createLanguageModelProvider, type ProviderSettings } from './language-model-provider.ts';
import { listOpenAiModels } from './provider-lists.ts';
import { moderateAtProvider } from './provider-moderation.ts';
import { isStrictSchema } from './model-translation.ts';
import type { Provider } from './provider.ts';

/** Any endpoint that speaks OpenAI's chat completions: Ollama, LM Studio, vLLM, llama.cpp, a gateway. */
export function createOpenAiCompatibleProvider(settings: ProviderSettings): Provider {
  const { chatModel, embeddingModel } = createOpenAICompatible({
    // Not the endpoint's name: the package reads its options by this one.
    name: 'openaiCompatible',
    baseURL: settings.baseAddress,
    ...(settings.key === null ? {} : { apiKey: settings.key }),
    fetch: settings.transport.fetch,
    // Both are off by default: streams would end without usage, and schemas would be left out in silence.
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  const provider = createLanguageModelProvider(settings, {
    createModel: chatModel,
    listModels: listOpenAiModels,
    adaptOptions: (options, { configuration }) => ({
      ...options,
      providerOptions: {
        openaiCompatible: {
          strictJsonSchema: isStrictSchema(configuration),
          ...(configuration.reasoning_effort == null ? {} : { reasoningEffort: configuration.reasoning_effort }),
          // The package knows no top_k, though most servers that people run themselves take it.
          ...(configuration.top_k == null ? {} : { top_k: configuration.top_k }),
        },
      },
    }),
  });
  return {
    ...provider,
    moderate: (request, { signal }) => moderateAtProvider(settings, request, signal),
    embed: embedAtProvider(settings, { createModel: embeddingModel }),
  };
}
