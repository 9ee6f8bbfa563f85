import { describe, expect, test } from 'vitest';
import { matchScore } from '../../../../renderer/components/match-score.ts';

describe('a search matches a name', () => {
  test('if it contains every term, in any order and case', () => {
    expect(matchScore('KEYS prov', ['Providers and keys'])).toBeGreaterThan(0);
    expect(matchScore('keys groq', ['Providers and keys'])).toBe(0);
    expect(matchScore('keys groq', ['Providers and keys', 'Groq'])).toBeGreaterThan(0);
  });

  test('better at the start of a word than in its middle, and better early than late', () => {
    expect(matchScore('mini', ['gpt-4o-mini'])).toBeGreaterThan(matchScore('mini', ['abominink']));
    expect(matchScore('dark', ['dark theme'])).toBeGreaterThan(matchScore('dark', ['theme: dark']));
  });

  test('an empty search matches everything', () => {
    expect(matchScore('', ['Anything'])).toBe(1);
  });
});
