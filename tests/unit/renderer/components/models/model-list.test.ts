import { expect, test } from 'vitest';
import {
  groupModels,
  modelPlace,
  noFilter,
  readinessOf,
  shortName,
  shutdownMark,
} from '../../../../../renderer/components/models/model-list.ts';
import type { ProviderState } from '../../../../../shared/contract/providers.ts';
import { testModel } from '../../screens/playground/test-model.ts';

const models = [
  testModel({ aiSystem: 'OpenAiCompatible', name: 'workshop/llama/8b' }),
  testModel({ name: 'gpt-tools', capabilities: ['tools'] }),
  testModel({ name: 'gpt-old', hasEnded: true, shutdownDate: '2025-01-01' }),
  testModel({ aiSystem: 'Groq', name: 'groq-fast', isReady: false }),
  testModel({ aiSystem: 'ServiceAi', name: 'hl-gpt-4o-mini', servedBy: 'on-device/tiny.gguf' }),
  testModel({ aiSystem: 'OpenAiCompatible', name: 'attic/tiny' }),
];
const names = (filter: Partial<typeof noFilter>) =>
  groupModels(models, { ...noFilter, ...filter }).map(({ title, models: members }) => [
    title,
    members.map(({ name }) => name),
  ]);

test('models stand in groups, the service first, endpoints last by name, ended ones hidden', () => {
  expect(names({})).toEqual([
    ['ServiceAi', ['hl-gpt-4o-mini']],
    ['OpenAi', ['gpt-tools']],
    ['Groq', ['groq-fast']],
    ['attic', ['attic/tiny']],
    ['workshop', ['workshop/llama/8b']],
  ]);
});

test('every word must be found, in the name or the provider', () => {
  expect(names({ words: 'tools openai' })).toEqual([['OpenAi', ['gpt-tools']]]);
  expect(names({ words: 'llama work' })).toEqual([['workshop', ['workshop/llama/8b']]]);
});

test('filters leave what is ready, what can do a thing, and what has ended when asked', () => {
  expect(names({ isReadyOnly: true }).map(([title]) => title)).not.toContain('Groq');
  expect(names({ capabilities: ['tools'] })).toEqual([['OpenAi', ['gpt-tools']]]);
  expect(names({ isEndedShown: true, words: 'old' })).toEqual([['OpenAi', ['gpt-old']]]);
});

test.each([
  ['2026-11-21', { text: 'Ends 21 Nov 2026', tone: 'negative', days: 1 }],
  ['2026-12-20', { text: 'Ends 20 Dec 2026', tone: 'negative', days: 30 }],
  ['2026-12-21', { text: 'Ends 21 Dec 2026', tone: 'caution', days: 31 }],
  ['2026-11-19', { text: 'Ended 19 Nov 2026', tone: 'negative', days: -1 }],
  [null, null],
] as const)('a shutdown on %s is marked', (shutdownDate, mark) => {
  expect(shutdownMark({ shutdownDate, hasEnded: false }, new Date(2026, 10, 20, 23, 59))).toEqual(mark);
});

test('a group says whether its models can run now', () => {
  const provider: ProviderState = {
    aiSystem: 'OpenAi',
    keySource: 'keychain',
    baseAddress: 'https://api.example/v1',
    isBaseAddressDefault: true,
    keyPage: 'https://example.com',
    lastTest: null,
  };
  const refused = {
    testedAt: '2026-11-20T09:00:00.000Z',
    outcome: 'refused',
    milliseconds: 1,
    models: 0,
    status: 401,
    message: null,
  } as const;
  const group = { aiSystem: 'OpenAi', title: 'OpenAi', models: [] } as const;
  const read = (state: Partial<ProviderState>) =>
    readinessOf({ ...group, models: [] }, [{ ...provider, ...state }], []);
  expect([
    read({}),
    read({ keySource: null }),
    read({ lastTest: refused }),
    read({ keySource: 'environment' }),
  ]).toEqual([
    { isReady: true, text: 'Key set' },
    { isReady: false, text: 'Key missing' },
    { isReady: false, text: 'Key refused' },
    { isReady: true, text: 'Key set by the environment' },
  ]);
});

test('a model says where its runs go', () => {
  expect(models.map(modelPlace)).toEqual([
    'Endpoint workshop',
    'OpenAi, key set',
    'OpenAi, key set',
    'Groq, key missing',
    'ServiceAi, on this device',
    'Endpoint attic',
  ]);
  expect(modelPlace(testModel({ aiSystem: 'ServiceAi', servedBy: 'Anthropic/claude' }))).toBe(
    'ServiceAi, routed to Anthropic/claude',
  );
  expect(shortName({ aiSystem: 'OpenAiCompatible', name: 'workshop/llama/8b' })).toBe('llama/8b');
});
