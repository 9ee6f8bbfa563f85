import { expect, test } from 'vitest';
import type { Model } from '../../../../../shared/contract/providers.ts';
import { folderPosition, modelOf, readTags } from '../../../../../renderer/screens/prompts/library-model.ts';
import { readPromptsAddress } from '../../../../../renderer/shell/addresses.ts';

test('a folder is shown by its last segment and its depth', () => {
  expect(['support', 'support/mail/daily'].map(folderPosition)).toEqual([
    { name: 'support', depth: 0 },
    { name: 'daily', depth: 2 },
  ]);
});

test('a version without a model has the details of the service’s first one', () => {
  const models = [
    { aiSystem: 'OpenAi', name: 'hl-gpt-4o-mini' },
    { aiSystem: 'ServiceAi', name: 'hl-gpt-4o-mini' },
  ] as Model[];
  expect(modelOf({ aiSystem: null, model: null }, models)).toBe(models[1]);
  expect(modelOf({ aiSystem: 'OpenAi', model: 'hl-gpt-4o-mini' }, models)).toBe(models[0]);
  expect(modelOf({ aiSystem: 'OpenAi', model: 'unheard-of' }, models)).toBe(null);
});

test('tags are separated by commas, each counts once', () => {
  expect(readTags(' mail, calls ,,mail')).toEqual(['mail', 'calls']);
});

test('parses every address of the library', () => {
  expect(
    ['/prompts', '/prompts/p', '/prompts/p/v', '/prompts/p/run/v', '/prompts/p/compare/a/b'].map(readPromptsAddress),
  ).toEqual([
    { view: 'none' },
    { view: 'version', promptId: 'p', versionId: null },
    { view: 'version', promptId: 'p', versionId: 'v' },
    { view: 'run', promptId: 'p', versionId: 'v' },
    { view: 'compare', promptId: 'p', beforeId: 'a', afterId: 'b' },
  ]);
});
