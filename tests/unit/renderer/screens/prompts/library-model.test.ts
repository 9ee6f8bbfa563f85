import { expect, test } from 'vitest';
import type { Prompt, PromptVersion } from '../../../../../shared/contract/prompts.ts';
import { filterPrompts, foldersOf, tagsOf } from '../../../../../renderer/screens/prompts/library-model.ts';
import { readTags } from '../../../../../renderer/screens/prompts/tag-text.ts';
import { readPromptsAddress } from '../../../../../renderer/screens/prompts/prompts-address.ts';

function prompt(name: string, folder: string | null, tags: string[] = []): Prompt {
  const at = '2026-11-20T09:00:00.000Z';
  return {
    id: name,
    name,
    folder,
    tags,
    description: null,
    latestVersionId: `${name}-1`,
    createdAt: at,
    updatedAt: at,
  };
}

const library = [
  prompt('Reply', 'support/mail', ['mail']),
  prompt('Calls', 'support', ['calls', 'mail']),
  prompt('Invoice', null),
];

test('folders hold what is below them and stand after the folder that they are in', () => {
  expect(foldersOf([...library, prompt('Old', 'archive')])).toEqual([
    { path: 'archive', name: 'archive', depth: 0, prompts: 1 },
    { path: 'support', name: 'support', depth: 0, prompts: 2 },
    { path: 'support/mail', name: 'mail', depth: 1, prompts: 1 },
  ]);
  expect(tagsOf(library)).toEqual([
    { tag: 'calls', prompts: 1 },
    { tag: 'mail', prompts: 2 },
  ]);
});

test('a folder narrows to what is in it and below it, tags to prompts that have all of them', () => {
  const names = (filter: { words?: string; folder?: string | null; tags?: string[] }) =>
    filterPrompts(library, { words: '', folder: null, tags: [], ...filter }, undefined).map(({ name }) => name);
  expect(names({ folder: 'support' })).toEqual(['Reply', 'Calls']);
  expect(names({ folder: 'support/mail' })).toEqual(['Reply']);
  expect(names({ folder: '' })).toEqual(['Invoice']);
  expect(names({ tags: ['mail', 'calls'] })).toEqual(['Calls']);
  expect(names({ words: 'SUPPORT reply' })).toEqual(['Reply']);
});

test('words are found in the newest version as well', () => {
  const version = { promptText: 'Answer bicycle questions', systemMessage: null, model: null, note: 'Warmer' };
  const versions = new Map([['Invoice', version as PromptVersion]]);
  const found = filterPrompts(library, { words: 'bicycle warmer', folder: null, tags: [] }, versions);
  expect(found.map(({ name }) => name)).toEqual(['Invoice']);
});

test('tags are written with commas between them, each counts once', () => {
  expect(readTags(' mail, calls ,,mail')).toEqual(['mail', 'calls']);
});

test('every address of the library is read', () => {
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
