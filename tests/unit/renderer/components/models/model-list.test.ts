import { expect, test } from 'vitest';
import {
  groupModels,
  modelFamilies,
  modelLocation,
  noFilter,
  readinessOf,
  shortName,
  shutdownBadge,
  withShortcuts,
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

test('models are in groups, ready groups first, endpoints by name, retired ones hidden', () => {
  expect(names({})).toEqual([
    ['Built-in (ServiceAi)', ['hl-gpt-4o-mini']],
    ['OpenAI', ['gpt-tools']],
    ['attic', ['attic/tiny']],
    ['workshop', ['workshop/llama/8b']],
    ['Groq', ['groq-fast']],
  ]);
});

test('groups with a ready model come first, and in a group ready and newer ones', () => {
  const groups = groupModels(
    [
      testModel({ name: 'gpt-5', isReady: false }),
      testModel({ aiSystem: 'Groq', name: 'llama-3.1-70b' }),
      testModel({ aiSystem: 'Groq', name: 'llama-3.3-70b' }),
      testModel({ aiSystem: 'Groq', name: 'gpt-oss-120b' }),
      testModel({ aiSystem: 'Groq', name: 'llama-4-scout', isReady: false }),
    ],
    noFilter,
  );
  expect(groups.map(({ title, models: members }) => [title, members.map(({ name }) => name)])).toEqual([
    ['Groq', ['llama-3.3-70b', 'llama-3.1-70b', 'gpt-oss-120b', 'llama-4-scout']],
    ['OpenAI', ['gpt-5']],
  ]);
});

test('dated copies go below the model without a date, newest first', () => {
  const families = modelFamilies(
    ['gpt-x', 'gpt-x-2026-05-01', 'gpt-x-2026-06-01', 'gpt-x-mini', 'claude-9-20260501'].map((name) =>
      testModel({ name }),
    ),
  );
  expect(families.map(({ model, copies }) => [model.name, copies.map(({ name }) => name)])).toEqual([
    ['gpt-x', ['gpt-x-2026-06-01', 'gpt-x-2026-05-01']],
    ['gpt-x-mini', []],
    ['claude-9-20260501', []],
  ]);
});

test('favourites and recently used models are on top, each once', () => {
  const groups = withShortcuts(groupModels(models, noFilter), {
    favourites: [{ aiSystem: 'Groq', name: 'groq-fast' }],
    recent: [
      { aiSystem: 'Groq', name: 'groq-fast' },
      { aiSystem: 'OpenAi', name: 'gpt-tools' },
      { aiSystem: 'OpenAi', name: 'gone' },
    ],
  });
  expect(groups.map(({ title, models: members }) => [title, members.map(({ name }) => name)])).toEqual([
    ['Favourites', ['groq-fast']],
    ['Recently used', ['gpt-tools']],
    ['Built-in (ServiceAi)', ['hl-gpt-4o-mini']],
    ['attic', ['attic/tiny']],
    ['workshop', ['workshop/llama/8b']],
  ]);
});

test('every term must match the name or the provider', () => {
  expect(names({ words: 'tools openai' })).toEqual([['OpenAI', ['gpt-tools']]]);
  expect(names({ words: 'llama work' })).toEqual([['workshop', ['workshop/llama/8b']]]);
});

test('filters select ready models, capabilities, and retired models on request', () => {
  expect(names({ isReadyOnly: true }).map(([title]) => title)).not.toContain('Groq');
  expect(names({ capabilities: ['tools'] })).toEqual([['OpenAI', ['gpt-tools']]]);
  expect(names({ isEndedShown: true, words: 'old' })).toEqual([['OpenAI', ['gpt-old']]]);
});

test.each([
  ['2026-11-21', { text: 'Retires 21 Nov 2026', tone: 'negative', days: 1 }],
  ['2026-12-20', { text: 'Retires 20 Dec 2026', tone: 'negative', days: 30 }],
  ['2026-12-21', { text: 'Retires 21 Dec 2026', tone: 'caution', days: 31 }],
  ['2026-11-19', { text: 'Retired 19 Nov 2026', tone: 'negative', days: -1 }],
  [null, null],
] as const)('a shutdown on %s is marked', (shutdownDate, mark) => {
  expect(shutdownBadge({ shutdownDate, hasEnded: false }, new Date(2026, 10, 20, 23, 59))).toEqual(mark);
});

test('a group shows whether its models can run now', () => {
  const provider: ProviderState = {
    aiSystem: 'OpenAi',
    keySource: 'keychain',
    keyFailure: null,
    confirmation: null,
    baseAddress: 'https://api.example/v1',
    isBaseAddressDefault: true,
    keyPage: 'https://example.com',
    lastTest: null,
  };
  const rejected = {
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
    read({ keySource: null, keyFailure: 'The keychain is locked.' }),
    read({ keySource: null, confirmation: { origin: 'https://b.example', keyOrigin: null, keySource: 'keychain' } }),
    read({ lastTest: rejected }),
    read({ keySource: 'environment' }),
  ]).toEqual([
    { isReady: true, text: 'Key set' },
    { isReady: false, text: 'Key missing' },
    { isReady: false, text: 'Key unreadable' },
    { isReady: false, text: 'Address not confirmed' },
    { isReady: false, text: 'Key rejected' },
    { isReady: true, text: 'Key from the environment' },
  ]);
});

test('a model shows where its runs go', () => {
  expect(models.map(modelLocation)).toEqual([
    'Endpoint workshop',
    'OpenAI, key set',
    'OpenAI, key set',
    'Groq, no usable key',
    'Built-in, on this device',
    'Endpoint attic',
  ]);
  expect(modelLocation(testModel({ aiSystem: 'ServiceAi', servedBy: 'Anthropic/claude' }))).toBe(
    'Built-in, routed to Anthropic claude',
  );
  expect(shortName({ aiSystem: 'OpenAiCompatible', name: 'workshop/llama/8b' })).toBe('llama/8b');
});
