import { describe, expect, test } from 'vitest';
import { normalizeText } from '../../../electron/moderation/normalize-text.ts';
import { fc } from '../../support/fast-check.ts';

describe('reads a text as people read it', () => {
  test.each([
    ['leetspeak', 'I will k1ll y0u', 'I will kill you'],
    ['a sign at the start', 'oh $hit', 'oh shit'],
    ['zero-width characters', 'p\u200Bo\u200Dr\uFEFFn', 'porn'],
    ['letters of another script in a Latin word', 'Кill уоu', 'kill you'],
    ['Cyrillic capitals in a Latin word', 'KІLL, \u0405EX, \u0408erk', 'KiLL, sEX, jerk'],
    ['Greek capitals in a Latin word', 'KΝIFE, PΟRΝ, RAPΕ, \u0397ATE', 'KnIFE, PoRn, RAPe, hATE'],
    ['fullwidth letters', 'ｆｕｌｌ', 'full'],
    ['mathematical letters', '𝓀𝒾𝓁𝓁', 'kill'],
    ['accents on Latin letters', 'fück', 'fuck'],
    ['stretched letters', 'fuuuuuck', 'fuck'],
    ['spread letters', 'f u c k you', 'fuck you'],
    ['letters spread by dots', 'k.i.l.l it', 'kill it'],
    ['a picture with a meaning', '🖕 off', ' fuck you  off'],
  ])('%s', (_, written, read) => {
    expect(normalizeText(written).text).toBe(read);
  });

  test.each([
    ['numbers', 'in 2014 I paid $500 for 3 of 10'],
    ['double letters', 'a good cool book'],
    ['short abbreviations', 'U S A is big'],
    ['letters that resemble no Latin one', 'među dogđaj, жlob'],
    ['Russian', 'привет мой друг'],
    ['Arabic', 'مرحبا كيف حالك'],
    ['Hindi vowel signs', 'नमस्ते दुनिया'],
    ['Korean', '안녕하세요'],
    ['Japanese', 'がぎぐげご'],
  ])('%s stay unchanged', (_, text) => {
    expect(normalizeText(text).text).toBe(text);
  });
});

test('every unit has the range of its original characters', () => {
  const input = 'Oh\u200B f u c k! 𝓀𝒾𝓁𝓁';
  const { text, starts, ends } = normalizeText(input);
  const original = (passage: string) => {
    const from = text.indexOf(passage);
    return input.slice(starts[from], ends[from + passage.length - 1]);
  };
  expect([text, original('fuck'), original('kill')]).toEqual(['Oh fuck! kill', 'f u c k', '𝓀𝒾𝓁𝓁']);
});

test('offsets increase and stay within any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (input) => {
      const { text, starts, ends } = normalizeText(input);
      expect([starts.length, ends.length]).toEqual([text.length, text.length]);
      for (let index = 0; index < text.length; index += 1) {
        expect(starts[index]).toBeGreaterThanOrEqual(starts[index - 1] ?? 0);
        expect(ends[index]).toBeGreaterThan(starts[index]!);
        expect(ends[index]).toBeLessThanOrEqual(input.length);
      }
    }),
  );
});
