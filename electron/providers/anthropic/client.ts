import { messagesText } from '../plain-events.ts';
import { createLanguageModelProvider, type ProviderSettings } from '../language-model-provider.ts';
import { parallelCalls } from '../model-translation.ts';
import {
  countField,
  listedModel,
  maxListPages,
  readListPage,
  recordsField,
  textField,
  type ListModels,
} from '../provider-lists.ts';
import type { ListedModel, Provider } from '../provider.ts';

const listModels: ListModels = async (request) => {
  const headers = { 'x-api-key': request.key ?? '', 'anthropic-version': '2023-06-01' };
  const models: ListedModel[] = [];
  let after = '';
  for (let pages = 0; pages < maxListPages; pages++) {
    const page = await readListPage(request, `${request.baseAddress}/models?limit=1000${after}`, headers);
    for (const model of recordsField(page['data'])) {
      const name = textField(model['id']);
      if (!name) continue;
      models.push(
        listedModel(name, {
          title: textField(model['display_name']),
          contextTokens: countField(model['max_input_tokens']),
          outputTokens: countField(model['max_tokens']),
        }),
      );
    }
    const last = textField(page['last_id']);
    if (page['has_more'] !== true || !last) break;
    after = `&after_id=${encodeURIComponent(last)}`;
  }
  return models;
};

/** Anthropic on its Messages API, which stores no prompts by default. */
export function createAnthropicProvider(settings: ProviderSettings): Provider {
  return createLanguageModelProvider(settings, {
    createModel: async (name) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({
        baseURL: settings.baseAddress,
        apiKey: settings.key ?? '',
        fetch: settings.transport.fetch,
      })(name);
    },
    plainText: messagesText,
    listModels,
    adaptOptions: (options, { configuration }) => {
      const parallel = parallelCalls(configuration);
      if (!parallel) return options;
      return { ...options, providerOptions: { anthropic: { disableParallelToolUse: !parallel.parallelToolCalls } } };
    },
    // https://platform.claude.com/docs/en/api/messages/count_tokens
    counting: {
      address: (address) => `${address}/count_tokens`,
      body: ({ model, messages, system, tools, tool_choice, thinking }) => ({
        model,
        messages,
        system,
        tools,
        tool_choice,
        thinking,
      }),
      field: 'input_tokens',
    },
  });
}
