import type { ProviderDetails } from '../provider-details.ts';
import models from './models.json' with { type: 'json' };

export const googleGemini: ProviderDetails = {
  baseAddress: 'https://generativelanguage.googleapis.com/v1beta',
  environmentVariable: 'GEMINI_API_KEY',
  keyPage: 'https://aistudio.google.com/apikey',
  models,
  countsTokens: true,
  parameterRules: {
    unsupported: {},
    parallelCalls: "not supported by Gemini's API",
    modelRule: (name, model) =>
      name.endsWith('_penalty') && model.startsWith('gemini-2.5') ? 'Gemini 2.5 supports it on Vertex AI only' : null,
  },
  messageRules: { isSystemOnlyFirst: true, lastAssistant: 'rejected' },
  promptFileNames: { dotprompt: ['googleai', 'google', 'vertexai', 'gemini'], promptfoo: ['google', 'vertex'] },
};
