import { expect, test } from 'vitest';
import {
  defaultSettings,
  settings as settingsSchema,
  type EndpointPrice,
  type Settings,
  updateSettings,
} from '../../../shared/contract/settings.ts';
import { createSettingsStore } from '../../../electron/storage/settings-store.ts';
import type { Metadata } from '../../../electron/storage/queries.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { fc } from '../../support/fast-check.ts';
import { openTestStorage, temporaryDirectory } from './test-storage.ts';

function metadataWith(value: string): Metadata {
  return { read: () => value, write: () => undefined, readOrMake: () => value };
}

test('readers and listeners see a change, and it is stored', async () => {
  const directory = temporaryDirectory();
  const before = openStorage({ directory });
  expect(before.settings.read()).toEqual(defaultSettings);
  const heard: unknown[] = [];
  const unsubscribe = before.settings.subscribe((settings) => heard.push(settings.appearance.theme));
  before.settings.update({ appearance: { theme: 'dark' } });
  unsubscribe();
  before.settings.update({ onDeviceModel: 'small.gguf' });
  await before.close();
  expect(heard).toEqual(['dark']);
  expect(openTestStorage({ directory }).settings.read()).toEqual({
    ...defaultSettings,
    appearance: { theme: 'dark' },
    onDeviceModel: 'small.gguf',
  });
});

test("a reader's object can't change what others read", () => {
  const { settings } = openTestStorage();
  expect(() => (settings.read().timeLimits.firstByteSeconds = 1)).toThrow(TypeError);
  expect(() => settings.update({ timeLimits: { firstByteSeconds: -1, betweenBytesSeconds: 1 } })).toThrow();
  expect(settings.read()).toEqual(defaultSettings);
});

test.each([
  ['one price', { model: 'home/qwen', inputPrice: 1 }],
  ['a negative price', { model: 'home/qwen', inputPrice: -1, outputPrice: 1 }],
  ['a price above the maximum', { model: 'home/qwen', inputPrice: 1, outputPrice: 100_001 }],
  ['a price that is no number', { model: 'home/qwen', inputPrice: Number.NaN, outputPrice: 1 }],
  ['a model without an endpoint', { model: 'qwen', inputPrice: 1, outputPrice: 1 }],
])('rejects an endpoint price with %s', (_case, price) => {
  const { settings } = openTestStorage();
  expect(() => settings.update({ endpointPrices: [price as EndpointPrice] })).toThrow();
  expect(settings.read().endpointPrices).toEqual([]);
});

test('rejects two prices for one model', () => {
  const price = { model: 'home/qwen', inputPrice: 1, outputPrice: 2 };
  expect(() => openTestStorage().settings.update({ endpointPrices: [price, price] })).toThrow(/list each model once/);
});

test('damaged and unknown parts get their defaults, the others stay', () => {
  const stored = {
    ...defaultSettings,
    timeLimits: { firstByteSeconds: 'soon', betweenBytesSeconds: 7 },
    serviceRoutes: { 'hl-gpt-4o-mini': { kind: 'provider', aiSystem: 'ServiceAi', model: 'x' } },
    appearance: null,
    onDeviceModel: 'kept.gguf',
    fromTheFuture: true,
  };
  expect(createSettingsStore(metadataWith(JSON.stringify(stored))).read()).toEqual({
    ...defaultSettings,
    timeLimits: { firstByteSeconds: 60, betweenBytesSeconds: 7 },
    onDeviceModel: 'kept.gguf',
  });
});

test('thresholds that were saved before presets existed stay, and the others become those of Balanced', () => {
  const { classifier, thresholds } = defaultSettings.moderation;
  const moderation = { classifier, thresholds: { ...thresholds, hatred: 0.77 } };
  const { read } = createSettingsStore(metadataWith(JSON.stringify({ ...defaultSettings, moderation })));
  expect(read().moderation).toEqual({ ...moderation, preset: 'balanced' });
});

test('what earlier rules left in place of texts stays known, of the newest rules', () => {
  const { read, update } = createSettingsStore(metadataWith('null'));
  const rule = (name: string) => ({ kind: 'pattern' as const, name, pattern: 'x' });
  const use = (redaction: Settings['recorder']['redaction']) =>
    update({ recorder: { ...read().recorder, redaction } }).redactionMarks;
  expect(use([{ kind: 'email' }, rule('policy')])).toEqual([]);
  expect(use([{ kind: 'email', replacement: '***' }])).toEqual(['[e-mail]', '[policy]']);
  expect(use([rule('policy')])).toEqual(['[e-mail]', '***']);
  for (let index = 0; index < 250; index += 1) use([rule(String(index))]);
  expect(read().redactionMarks).toHaveLength(200);
  expect(read().redactionMarks.at(-1)).toBe('[248]');
});

test('what earlier rules left in place of texts is not set by the window', () => {
  expect(updateSettings.body?.safeParse({ recorder: defaultSettings.recorder }).success).toBe(true);
  expect(updateSettings.body?.safeParse({ redactionMarks: ['[x]'] }).success).toBe(false);
});

test('settings are valid for any stored row', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (value) => {
      expect(settingsSchema.safeParse(createSettingsStore(metadataWith(value)).read()).success).toBe(true);
    }),
  );
});
