import { describe, expect, test } from 'vitest';
import { findIn, findTerms } from '../../../../renderer/components/find-terms.ts';

function found(text: string, search: string): string[] {
  return findIn(text, findTerms(search)).map(({ start, end }) => text.slice(start, end));
}

describe('the terms of a search in a text', () => {
  test('match without case and accents, as whole words', () => {
    expect(found('Delivery to Åland: the DELIVERY and redelivery', 'delivery aland')).toEqual([
      'Delivery',
      'Åland',
      'DELIVERY',
    ]);
  });

  test('match as phrases and as prefixes', () => {
    expect(found('free of charge, and we refund; a refunded fee', '"free of charge" refund*')).toEqual([
      'free of charge',
      'refund',
      'refunded',
    ]);
  });

  test('exclude operators and negated words', () => {
    expect(found('late OR early, not NOT never', 'late OR early NOT never')).toEqual(['late', 'early']);
  });

  test('keep their offsets after letters that fold to another length', () => {
    expect(found('ﬁ İstanbul e\u0301te\u0301 x', 'été')).toEqual(['e\u0301te\u0301']);
  });

  test('match inside scripts without spaces', () => {
    expect(found('明日の東京の天気を教えてください。Tokyo天気', '天気 東京')).toEqual(['東京', '天気', '天気']);
    expect(found('พรุ่งนี้อากาศเป็นอย่างไร', 'อากาศ')).toEqual(['อากาศ']);
  });

  test('are empty for a search of signs alone', () => {
    expect(findTerms('"" ( ) * -- AND')).toEqual([]);
  });
});
