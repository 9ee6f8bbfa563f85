import type { ProviderDetails } from '../provider-details.ts';
import models from './models.json' with { type: 'json' };

const notInMessages = "not supported by Anthropic's Messages API";

export const anthropic: ProviderDetails = {
  baseAddress: 'https://api.anthropic.com/v1',
  environmentVariable: 'ANTHROPIC_API_KEY',
  keyPage: 'https://platform.claude.com/settings/keys',
  models,
  countsTokens: true,
  parameterRules: {
    unsupported: { seed: notInMessages, frequency_penalty: notInMessages, presence_penalty: notInMessages },
    // Claude keeps to a schema, but has no form for JSON of any shape.
    responseFormats: ['text', 'json_schema'],
    callRule: (name, configuration) =>
      name === 'top_p' && configuration.temperature != null
        ? 'Claude supports either temperature or top_p, not both'
        : null,
  },
  promptFileNames: { dotprompt: ['anthropic'], promptfoo: ['anthropic'], promptfooKind: 'messages' },
};
