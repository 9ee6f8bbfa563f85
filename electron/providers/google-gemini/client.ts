import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { embedAtProvider } from '../embed-at-provider.ts';
import { geminiText } from '../plain-events.ts';
import { createLanguageModelProvider, type ProviderSettings } from '../language-model-provider.ts';
import {
  countField,
  isTextModelName,
  listedModel,
  maxListPages,
  readListPage,
  recordsField,
  textField,
  type ListModels,
} from '../provider-lists.ts';
import type { ListedModel, Provider } from '../provider.ts';

const listModels: ListModels = async (request) => {
  // The key is in a header, because gateways log addresses.
  const headers = { 'x-goog-api-key': request.key ?? '' };
  const models: ListedModel[] = [];
  let token = '';
  for (let pages = 0; pages < maxListPages; pages++) {
    const page = await readListPage(request, `${request.baseAddress}/models?pageSize=1000${token}`, headers);
    for (const model of recordsField(page['models'])) {
      const name = textField(model['name'])?.replace(/^models\//, '');
      const methods = model['supportedGenerationMethods'];
      if (!name || !isTextModelName(name)) continue;
      if (Array.isArray(methods) && !methods.includes('generateContent')) continue;
      models.push(
        listedModel(name, {
          title: textField(model['displayName']),
          contextTokens: countField(model['inputTokenLimit']),
          outputTokens: countField(model['outputTokenLimit']),
        }),
      );
    }
    const next = textField(page['nextPageToken']);
    if (!next) break;
    token = `&pageToken=${encodeURIComponent(next)}`;
  }
  return models;
};

/** Gemini's roles must alternate: messages of the same role that follow each other become parts of one. */
function mergeAdjacent(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const merged: LanguageModelV4Prompt = [];
  for (const message of prompt) {
    const last = merged.at(-1);
    if (last?.role === 'user' && message.role === 'user')
      merged[merged.length - 1] = { role: 'user', content: [...last.content, ...message.content] };
    else if (last?.role === 'assistant' && message.role === 'assistant')
      merged[merged.length - 1] = { role: 'assistant', content: [...last.content, ...message.content] };
    else merged.push(message);
  }
  return merged;
}

/** Google's Gemini API. Its package has no option for `store`, so the field is added to the body. */
export function createGoogleGeminiProvider(settings: ProviderSettings): Provider {
  const load = async () => {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({
      baseURL: settings.baseAddress,
      apiKey: settings.key ?? '',
      fetch: settings.transport.fetch,
    });
  };
  const provider = createLanguageModelProvider(settings, {
    createModel: async (name) => (await load())(name),
    plainText: geminiText,
    listModels,
    fixedBody: { store: false },
    // https://ai.google.dev/api/tokens
    counting: {
      address: (address) => address.replace(/:generateContent$/, ':countTokens'),
      body: ({ contents, systemInstruction, tools, toolConfig }, model) => ({
        generateContentRequest: { model: `models/${model}`, contents, systemInstruction, tools, toolConfig },
      }),
      field: 'totalTokens',
    },
    adaptOptions: (callOptions) => {
      const options = { ...callOptions, prompt: mergeAdjacent(callOptions.prompt) };
      // Gemini hides its reasoning by default. A model that supports an effort can show it.
      return options.reasoning === undefined || options.reasoning === 'none'
        ? options
        : { ...options, providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } };
    },
  });
  return {
    ...provider,
    embed: embedAtProvider(settings, {
      createModel: async (name) => (await load()).embeddingModel(name),
      optionsFor: (isQuestion) => ({ google: { taskType: isQuestion ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT' } }),
    }),
  };
}
