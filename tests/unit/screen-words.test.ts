// @module-tag slow
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outdatedWords, outdatedWordsInSources } from '../support/words-on-screens.ts';

const root = join(import.meta.dirname, '../..');

test.each(['renderer', 'electron', 'shared'])('no text in %s has an outdated wording', (folder) => {
  expect(outdatedWordsInSources(root, folder)).toEqual([]);
});

test.each([
  ['Esc takes the run back', 'Press Esc to cancel the queued run'],
  ['  Take\n back ', 'Cancel run'],
  ['Show 1,204 ended', 'Show 16 retired'],
  ['16 stops are the most', 'At most 16 stop sequences'],
])('finds the outdated wording of "%s"', (text, better) => {
  expect(outdatedWords(text).join()).toContain(`write "${better}"`);
});

test('a word of a label may be part of a sentence', () => {
  expect(outdatedWords('Made')).toHaveLength(1);
  expect(outdatedWords('Made by hand in 2024', { isLabel: true })).toEqual([]);
});
