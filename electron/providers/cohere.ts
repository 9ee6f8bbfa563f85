import { TypeValidationError } from '@ai-sdk/provider';
import { createCohere } from '@ai-sdk/cohere';
import { embedAtProvider } from './embed-at-provider.ts';
import { createLanguageModelProvider, type ProviderSettings } from './language-model-provider.ts';
import { listCohereModels } from './provider-lists.ts';
import type { Provider } from './provider.ts';

/** Events that carry something of an answer; no other is worth losing the answer for. */
const eventsThatMatter = new Set(['content-delta', 'message-end']);

/** The package knows a closed set of events, each with every field: a new or shortened one is an error to it. */
function isUnknownEvent(error: unknown): boolean {
  if (!TypeValidationError.isInstance(error)) return false;
  const { type } = (error.value ?? {}) as { type?: unknown };
  return typeof type === 'string' && !eventsThatMatter.has(type);
}

/** Cohere's chat, version 2. */
export function createCohereProvider(settings: ProviderSettings): Provider {
  const cohere = createCohere({
    baseURL: settings.baseAddress,
    apiKey: settings.key ?? '',
    fetch: settings.transport.fetch,
  });
  const provider = createLanguageModelProvider(settings, {
    createModel: cohere,
    listModels: listCohereModels,
    isHarmless: isUnknownEvent,
  });
  return {
    ...provider,
    embed: embedAtProvider(settings, {
      createModel: cohere.embeddingModel,
      optionsFor: (isQuestion) => ({ cohere: { inputType: isQuestion ? 'search_query' : 'search_document' } }),
    }),
  };
}
