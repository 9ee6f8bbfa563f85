import { beforeEach, expect, test } from 'vitest';
import {
  rememberComparedModel,
  rememberModel,
  toggleFavourite,
  useModelChoices,
} from '../../../../renderer/stores/model-choices.ts';

beforeEach(() => useModelChoices.setState({ recent: [], favourites: [] }));

const model = (name: string) => ({ aiSystem: 'OpenAi', name }) as const;

test('stores the last used models, each once', () => {
  for (const name of ['a', 'b', 'a', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) rememberModel(model(name));
  expect(useModelChoices.getState().recent.map(({ name }) => name)).toEqual(['i', 'h', 'g', 'f', 'e', 'd', 'c', 'a']);
});

test('a compared model is recent, but never the last used one', () => {
  const names = () => useModelChoices.getState().recent.map(({ name }) => name);
  rememberComparedModel(model('b'));
  expect(names()).toEqual([]);
  rememberModel(model('a'));
  for (const name of ['b', 'c', 'b', 'a']) rememberComparedModel(model(name));
  expect(names()).toEqual(['a', 'b', 'c']);
  for (const name of ['d', 'e', 'f', 'g', 'h', 'i']) rememberComparedModel(model(name));
  expect(names()).toEqual(['a', 'i', 'h', 'g', 'f', 'e', 'd', 'b']);
});

test('adds a favourite and removes it', () => {
  toggleFavourite(model('a'));
  toggleFavourite(model('b'));
  toggleFavourite({ aiSystem: 'Groq', name: 'a' });
  toggleFavourite(model('a'));
  expect(useModelChoices.getState().favourites).toEqual([{ aiSystem: 'Groq', name: 'a' }, model('b')]);
});
