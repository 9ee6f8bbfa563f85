import { TypeValidationError } from '@ai-sdk/provider';
import { embedAtProvider } from '../embed-at-provider.ts';
import { cohereText } from '../plain-events.ts';
import { createLanguageModelProvider, type ProviderSettings } from '../language-model-provider.ts';
import {
  bearerHeaders,
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

/** The events with content. An invalid event of another type must not lose the answer. */
const eventsThatMatter = new Set([
  'content-delta',
  'tool-call-start',
  'tool-call-delta',
  'tool-call-end',
  'message-end',
]);

/** The package throws for events of unknown types, and for known ones with missing fields. */
function isUnknownEvent(error: unknown): boolean {
  if (!TypeValidationError.isInstance(error)) return false;
  const { type } = (error.value ?? {}) as { type?: unknown };
  return typeof type === 'string' && !eventsThatMatter.has(type);
}

const listModels: ListModels = async (request) => {
  // Chat is in version 2 of Cohere's API, the list of models still in version 1.
  const address = `${request.baseAddress.replace(/\/v2$/, '/v1')}/models?endpoint=chat&page_size=1000`;
  const models: ListedModel[] = [];
  let token = '';
  for (let pages = 0; pages < maxListPages; pages++) {
    const page = await readListPage(request, address + token, bearerHeaders(request.key));
    for (const model of recordsField(page['models'])) {
      const name = textField(model['name']);
      if (name && isTextModelName(name))
        models.push(listedModel(name, { contextTokens: countField(model['context_length']) }));
    }
    const next = textField(page['next_page_token']);
    if (!next) break;
    token = `&page_token=${encodeURIComponent(next)}`;
  }
  return models;
};

/** Cohere's chat, version 2. */
export function createCohereProvider(settings: ProviderSettings): Provider {
  const load = async () => {
    const { createCohere } = await import('@ai-sdk/cohere');
    return createCohere({
      baseURL: settings.baseAddress,
      apiKey: settings.key ?? '',
      fetch: settings.transport.fetch,
    });
  };
  const provider = createLanguageModelProvider(settings, {
    createModel: async (name) => (await load())(name),
    plainText: cohereText,
    listModels,
    isHarmless: isUnknownEvent,
  });
  return {
    ...provider,
    embed: embedAtProvider(settings, {
      createModel: async (name) => (await load()).embeddingModel(name),
      optionsFor: (isQuestion) => ({ cohere: { inputType: isQuestion ? 'search_query' : 'search_document' } }),
    }),
  };
}
