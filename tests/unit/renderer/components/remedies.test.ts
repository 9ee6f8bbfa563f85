import { expect, test } from 'vitest';
import { accessAddress, remedyAddress, servingModel } from '../../../../renderer/components/remedies.ts';
import { settingsPages } from '../../../../renderer/screens/settings/settings-pages.ts';

const openAi = { aiSystem: 'OpenAi', model: 'gpt-4o', servedBy: null } as const;
const endpoint = { aiSystem: 'OpenAiCompatible', model: 'attic/m', servedBy: null } as const;
const service = (servedBy: string | null) => ({ aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini', servedBy }) as const;

test.each([
  ['no key', 'provider_not_configured', openAi, '/settings/providers/OpenAi'],
  [
    'a rejected key',
    'provider_key_refused',
    { ...openAi, aiSystem: 'GoogleGemini' },
    '/settings/providers/GoogleGemini',
  ],
  ['a rejected key of an endpoint', 'provider_key_refused', endpoint, '/settings/endpoints'],
  ['a missing endpoint', 'provider_not_configured', endpoint, '/settings/endpoints'],
  [
    'no key behind a built-in model',
    'provider_not_configured',
    service('Groq/openai/gpt-oss-20b'),
    '/settings/providers/Groq',
  ],
  [
    'an endpoint behind a built-in model',
    'provider_key_refused',
    service('OpenAiCompatible/attic/m'),
    '/settings/endpoints',
  ],
  ['a broken route', 'provider_not_configured', service(null), '/settings/service-models'],
  ['no on-device model', 'model_not_installed', service('on-device/tiny.gguf'), '/settings/on-device'],
  ['no credits left', 'credits_exhausted', openAi, '/settings/api-keys'],
  ['a rate limit', 'rate_limited', openAi, null],
] as const)('%s leads to the right page', (_cause, code, run, address) => {
  expect(remedyAddress(code, run)).toBe(address);
  if (address !== null) expect(settingsPages.map(({ id }) => id)).toContain(address.split('/')[2]);
});

test('distinguishes a built-in model from the provider behind it', () => {
  expect(servingModel(service('OpenAi/gpt-4o'))).toEqual({ aiSystem: 'OpenAi', model: 'gpt-4o' });
  expect(servingModel(service('on-device/tiny.gguf'))).toEqual({ aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini' });
  expect(accessAddress('ServiceAi')).toBe('/settings/service-models');
});
