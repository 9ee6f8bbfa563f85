import { embedAtProvider } from '../embed-at-provider.ts';
import { responsesText } from '../plain-events.ts';
import { createLanguageModelProvider, type ProviderSettings } from '../language-model-provider.ts';
import { listOpenAiModels } from '../provider-lists.ts';
import { moderateAtProvider } from '../provider-moderation.ts';
import { isStrictSchema, parallelCalls } from '../model-translation.ts';
import type { Provider } from '../provider.ts';

/** OpenAI on its Responses API: with reasoning, Chat Completions supports less. Nothing is stored there (`store: false`). */
export function createOpenAiProvider(settings: ProviderSettings): Provider {
  const load = async () => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({
      baseURL: settings.baseAddress,
      apiKey: settings.key ?? '',
      fetch: settings.transport.fetch,
    });
  };
  const provider = createLanguageModelProvider(settings, {
    createModel: async (name) => (await load()).responses(name),
    plainText: responsesText,
    listModels: listOpenAiModels,
    // https://developers.openai.com/api/reference/resources/responses/subresources/input_tokens
    counting: {
      address: (address) => `${address}/input_tokens`,
      body: ({ model, input, instructions, tools, tool_choice, text, reasoning }) => ({
        model,
        input,
        instructions,
        tools,
        tool_choice,
        text,
        reasoning,
      }),
      field: 'input_tokens',
    },
    adaptOptions: (options, { configuration }) => ({
      ...options,
      providerOptions: {
        openai: {
          store: false,
          strictJsonSchema: isStrictSchema(configuration),
          ...parallelCalls(configuration),
          // Unchanged: the package would replace an unknown effort.
          ...(configuration.reasoning_effort == null ? {} : { reasoningEffort: configuration.reasoning_effort }),
        },
      },
    }),
  });
  return {
    ...provider,
    moderate: (request, { signal }) => moderateAtProvider(settings, request, signal),
    embed: embedAtProvider(settings, { createModel: async (name) => (await load()).embeddingModel(name) }),
  };
}
