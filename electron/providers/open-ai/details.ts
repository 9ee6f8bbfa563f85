import type { ProviderDetails } from '../provider-details.ts';
import models from './models.json' with { type: 'json' };

const notInResponses = "not supported by OpenAI's Responses API";

export const openAi: ProviderDetails = {
  baseAddress: 'https://api.openai.com/v1',
  environmentVariable: 'OPENAI_API_KEY',
  keyPage: 'https://platform.openai.com/api-keys',
  models,
  countsTokens: true,
  parameterRules: {
    restrictsSchemas: true,
    unsupported: {
      top_k: notInResponses,
      stop: notInResponses,
      seed: notInResponses,
      frequency_penalty: notInResponses,
      presence_penalty: notInResponses,
    },
  },
  messageRules: { lastAssistant: 'complete' },
  promptFileNames: { dotprompt: ['openai'], promptfoo: ['openai'], promptfooKind: 'chat' },
};
