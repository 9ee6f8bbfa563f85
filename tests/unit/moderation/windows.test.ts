import { expect, test } from 'vitest';
import { splitIntoWindows, splitSentences } from '../../../electron/moderation/windows.ts';
import { fc } from '../../support/fast-check.ts';

const sentencesOf = (text: string) => splitSentences(text).map(({ start, end }) => text.slice(start, end));

test('sentences end at punctuation and at line ends', () => {
  expect(sentencesOf('One. Two?! "Three." 3.5 is a number\nNext line')).toEqual([
    'One.',
    ' Two?!',
    ' "Three."',
    ' 3.5 is a number\n',
    'Next line',
  ]);
});

test('a text of white space has no sentence', () => {
  expect(sentencesOf(' \n \n')).toEqual([]);
});

test('sentences cover the whole text, without gaps, and none is long', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '.', '!', '\n', '😀', '"'), maxLength: 2000 }), (text) => {
      const sentences = sentencesOf(text);
      expect(sentences.join('')).toBe(text.trim() === '' ? '' : text);
      // White space at the end of a text belongs to its last sentence.
      for (const sentence of sentences) expect(sentence.trimEnd().length).toBeLessThanOrEqual(241);
    }),
  );
});

test('windows overlap by whole sentences and cover everything', () => {
  const text = Array.from({ length: 40 }, (_, index) => `Sentence number ${index} of forty goes here.`).join(' ');
  const sentences = splitSentences(text);
  const windows = splitIntoWindows(sentences);
  expect([windows[0]?.start, windows.at(-1)?.end]).toEqual([0, text.length]);
  for (const [index, window] of windows.entries()) {
    expect(window.end - window.start).toBeLessThanOrEqual(600);
    expect(sentences.some(({ start }) => start === window.start)).toBe(true);
    if (index > 0) expect(window.start).toBeLessThan(windows[index - 1]!.end);
  }
});

test('a short text is one window', () => {
  expect(splitIntoWindows(splitSentences('Hello. How are you?'))).toEqual([{ start: 0, end: 19 }]);
});
