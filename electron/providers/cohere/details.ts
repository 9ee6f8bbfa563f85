import type { ProviderDetails } from '../provider-details.ts';
import models from './models.json' with { type: 'json' };

export const cohere: ProviderDetails = {
  baseAddress: 'https://api.cohere.com/v2',
  environmentVariable: 'COHERE_API_KEY',
  keyPage: 'https://dashboard.cohere.com/api-keys',
  models,
  countsTokens: false,
  parameterRules: {
    unsupported: {},
    parallelCalls: "not supported by Cohere's API",
  },
  promptFileNames: { dotprompt: ['cohere'], promptfoo: ['cohere'] },
};
