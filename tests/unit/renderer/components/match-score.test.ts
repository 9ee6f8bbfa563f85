import { describe, expect, test } from 'vitest';
import { matchScore } from '../../../../renderer/components/match-score.ts';

describe('what was typed finds a name', () => {
  test('when every word stands in it, in any order and case', () => {
    expect(matchScore('KEYS prov', ['Providers and keys'])).toBeGreaterThan(0);
    expect(matchScore('keys groq', ['Providers and keys'])).toBe(0);
    expect(matchScore('keys groq', ['Providers and keys', 'Groq'])).toBeGreaterThan(0);
  });

  test('better at the start of a word than in its middle, and better early than late', () => {
    expect(matchScore('mini', ['gpt-4o-mini'])).toBeGreaterThan(matchScore('mini', ['abominink']));
    expect(matchScore('dark', ['dark theme'])).toBeGreaterThan(matchScore('dark', ['theme: dark']));
  });

  test('nothing typed finds everything', () => {
    expect(matchScore('', ['Anything'])).toBe(1);
  });
});
