import { expect, test } from 'vitest';
import { aiSystems } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';

test('names every provider as its owner writes it', () => {
  expect(aiSystems.map(providerName)).toEqual([
    'Built-in (ServiceAi)',
    'OpenAI',
    'Anthropic',
    'Google Gemini',
    'Groq',
    'Cohere',
    'OpenAI-compatible',
  ]);
});
