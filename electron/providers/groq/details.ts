import type { ProviderDetails } from '../provider-details.ts';
import models from './models.json' with { type: 'json' };

export const groq: ProviderDetails = {
  baseAddress: 'https://api.groq.com/openai/v1',
  environmentVariable: 'GROQ_API_KEY',
  keyPage: 'https://console.groq.com/keys',
  models,
  countsTokens: false,
  parameterRules: {
    restrictsSchemas: true,
    unsupported: { top_k: "not supported by Groq's API" },
  },
  promptFileNames: { dotprompt: ['groq'], promptfoo: ['groq'] },
};
