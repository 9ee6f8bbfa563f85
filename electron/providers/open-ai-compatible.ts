import { createOpenAICompatible, VERSION, type OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { embedAtProvider } from './embed-at-provider.ts';
import { createLanguageModelProvider, type ProviderSettings } from './language-model-provider.ts';
import { listOpenAiModels } from './provider-lists.ts';
import { failureFromStatus } from './provider-error.ts';
import { moderateAtProvider } from './provider-moderation.ts';
import { isStrictSchema } from './model-translation.ts';
import type { Provider } from './provider.ts';

/**
 * A whole answer over our own transport; the package writes the request and reads the answer. Its `doGenerate` does so, too, but writes
 * the body twice and reads the answer through a stream: some 7 % of what a call costs the service.
 */
async function generate(
  model: OpenAICompatibleChatLanguageModel,
  options: LanguageModelV4CallOptions,
  settings: ProviderSettings,
) {
  const { body } = await model.prepareRequest(options);
  const answer = await settings.transport.request(`${settings.baseAddress}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': `ai-sdk-openai-compatible/${VERSION}`,
      ...(settings.key === null ? {} : { authorization: `Bearer ${settings.key}` }),
    },
    body: JSON.stringify(body),
    signal: options.abortSignal ?? null,
  });
  const { status, statusText: message, headers, text } = answer;
  if (status < 200 || status >= 300) throw failureFromStatus({ status, headers, body: text, message }, settings);
  return model.convertResponse({ body: JSON.parse(text), ...options });
}

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
    // Its published type does not say which class it is.
    createModel: (name) => chatModel(name) as OpenAICompatibleChatLanguageModel,
    generate: (model, options) => generate(model, options, settings),
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
