import type { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { JSONValue, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Configuration } from '../../shared/contract/completions.ts';
import { embedAtProvider } from './embed-at-provider.ts';
import { type AnswerEnd, chatEnd, chatText } from './plain-events.ts';
import { createLanguageModelProvider, type ProviderSettings } from './language-model-provider.ts';
import { listOpenAiModels } from './provider-lists.ts';
import { failureFromStatus } from './provider-error.ts';
import { moderateAtProvider } from './provider-moderation.ts';
import { isStrictSchema, parallelCalls } from './model-translation.ts';
import type { Provider } from './provider.ts';
import { splitThinking } from './split-thinking.ts';

/**
 * Sends the package's request over our transport. Its own `doGenerate` serializes the body twice and reads the response through a
 * stream, which takes 7 % of the CPU time of a call.
 */
async function generate(
  model: OpenAICompatibleChatLanguageModel,
  options: LanguageModelV4CallOptions,
  settings: ProviderSettings,
  packageVersion: string,
) {
  const { body } = await model.prepareRequest(options);
  const answer = await settings.transport.request(`${settings.baseAddress}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': `ai-sdk-openai-compatible/${packageVersion}`,
      ...(settings.key === null ? {} : { authorization: `Bearer ${settings.key}` }),
    },
    body: JSON.stringify(body),
    signal: options.abortSignal ?? null,
  });
  const { status, statusText: message, headers, text } = answer;
  if (status < 200 || status >= 300) throw failureFromStatus({ status, headers, body: text, message }, settings);
  return model.convertResponse({ body: JSON.parse(text), ...options });
}

/** The package reads the end of a stream as that of a whole response, which needs no streams. */
async function finish(model: OpenAICompatibleChatLanguageModel, { finish_reason, usage }: AnswerEnd) {
  const body = { choices: [{ message: {}, finish_reason }], usage };
  return { type: 'finish', ...(await model.convertResponse({ body })) } as const;
}

/** Options that only this package has. Null if there are none, because it validates each object of them, for 3 % of the CPU time of a call. */
function ownOptions(configuration: Configuration): Record<string, JSONValue> | null {
  const { reasoning_effort: effort, top_k: topK, response_format: format } = configuration;
  const options = {
    ...(format?.type === 'json_schema' && { strictJsonSchema: isStrictSchema(configuration) }),
    ...(effort == null ? {} : { reasoningEffort: effort }),
    // The package has no top_k, which most local servers support, and no parallel_tool_calls.
    ...(topK == null ? {} : { top_k: topK }),
    ...(parallelCalls(configuration) && { parallel_tool_calls: configuration.parallel_tool_calls! }),
  };
  return Object.keys(options).length === 0 ? null : options;
}

/** An endpoint with OpenAI's chat completions API: Ollama, LM Studio, vLLM, llama.cpp, a gateway. */
export function createOpenAiCompatibleProvider(settings: ProviderSettings): Provider {
  let packageVersion = '';
  const load = async () => {
    const { createOpenAICompatible, VERSION } = await import('@ai-sdk/openai-compatible');
    packageVersion = VERSION;
    return createOpenAICompatible({
      // The key of the package's options, not the endpoint's name.
      name: 'openaiCompatible',
      baseURL: settings.baseAddress,
      ...(settings.key === null ? {} : { apiKey: settings.key }),
      fetch: settings.transport.fetch,
      // Both are off by default. Streams would end without usage, and schemas would be dropped silently.
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
  };
  const provider = createLanguageModelProvider(settings, {
    // The published type doesn't name the class.
    createModel: async (name) => (await load()).chatModel(name) as OpenAICompatibleChatLanguageModel,
    generate: (model, options) => generate(model, options, settings, packageVersion),
    plainText: chatText,
    ending: { read: chatEnd, finish },
    listModels: listOpenAiModels,
    adaptOptions(options, { configuration }) {
      const openaiCompatible = ownOptions(configuration);
      return openaiCompatible === null ? options : { ...options, providerOptions: { openaiCompatible } };
    },
  });
  return {
    ...splitThinking(provider),
    moderate: (request, { signal }) => moderateAtProvider(settings, request, signal),
    embed: embedAtProvider(settings, { createModel: async (name) => (await load()).embeddingModel(name) }),
  };
}
