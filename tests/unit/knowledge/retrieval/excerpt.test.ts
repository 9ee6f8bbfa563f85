import { expect, test } from 'vitest';
import { excerptOf } from '../../../../electron/knowledge/retrieval/create-retrieval.ts';
import type { TextEmbedder } from '../../../../electron/knowledge/text-embedder.ts';

const { signal } = new AbortController();
/** Texts with a common letter of the three are near each other. */
const embedder: TextEmbedder = {
  model: 'letters',
  embed: async (texts) => texts.map((text) => Float32Array.from('xyz', (letter) => Number(text.includes(letter)))),
};
const text = 'One is a. Two is x. Three is y. Four is z.';
const excerpt = async (question: string, characters: number) => {
  const { start, end } = await excerptOf(text, question, characters, { embedder, signal });
  return text.slice(start, end);
};

test.each([
  ['y', 5, 'Three is y.'],
  ['y', 24, 'Two is x. Three is y.'],
  ['x', 24, 'One is a. Two is x.'],
  ['z', 33, 'Two is x. Three is y. Four is z.'],
  ['a', 1000, text],
])('about %s within %i characters: %s', async (question, characters, expected) => {
  expect(await excerpt(question, characters)).toBe(expected);
});

test('of sentences that are equally near in meaning, the one with the words of the question is taken', async () => {
  const same: TextEmbedder = { model: 'same', embed: async (texts) => texts.map(() => Float32Array.of(1)) };
  const minutes = 'The board met on 4 May. The treasurer reports in June. The next meeting is in September.';
  const { start, end } = await excerptOf(minutes, 'When is the next meeting?', 40, { embedder: same, signal });
  expect(minutes.slice(start, end)).toBe('The next meeting is in September.');
});
