import { expect, test } from 'vitest';
import { isUnspaced, spacedText, wordForm } from '../../../shared/unspaced-text.ts';

test.each([
  ['The weather', false],
  ['Größe, навигация, 한국어, العربية', false],
  ['天気', true],
  ['ライン', true],
  ['Weather in ไทย', true],
])('%s is written without spaces: %s', (text, isIt) => {
  expect(isUnspaced(text)).toBe(isIt);
});

test('separates letters of such scripts, in one form, and leaves everything else unchanged', () => {
  expect(spacedText('Tokyoの天気').split(/\s+/)).toEqual(['Tokyo', 'の', '天', '気', '']);
  expect(spacedText('が'.normalize('NFD'))).toBe(spacedText('が'));
  expect(spacedText('e\u0301te\u0301')).toBe('e\u0301te\u0301');
});

test('finds words in any script', () => {
  expect('Tokyoの天気, 한국어 ที่'.match(wordForm)).toEqual(['Tokyo', 'の', '天', '気', '한국어', 'ที่']);
});
