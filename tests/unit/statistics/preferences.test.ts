import { describe, expect, test } from 'vitest';
import {
  comparePreferences,
  describePreferences,
  exactInterval,
  pairsForShare,
  signTest,
} from '../../../shared/statistics/preferences.ts';

const names = ['v7', 'v8'] as const;
const sentence = (firstWins: number, secondWins: number, ties = 0) => {
  const preferences = { firstWins, secondWins, ties };
  return describePreferences(preferences, comparePreferences(preferences), names);
};

describe('the exact interval', () => {
  // R. G. Newcombe (1998), Two-sided confidence intervals for the single proportion. Statistics in Medicine 17, 857-872, table I, method 5.
  test.each([
    [81, 263, 0.2527, 0.3676],
    [15, 148, 0.0578, 0.1617],
    [0, 20, 0, 0.1684],
    [1, 29, 0.0009, 0.1776],
  ])('is that of the literature for %i of %i', (successes, tries, low, high) => {
    const [from, to] = exactInterval(successes, tries)!;
    expect([from, to].map((end) => Number(end.toFixed(4)))).toEqual([low, high]);
  });

  test('is symmetric, and finite for many tries', () => {
    const [low, high] = exactInterval(0, 20)!;
    const [mirroredLow, mirroredHigh] = exactInterval(20, 20)!;
    expect(1 - mirroredHigh).toBeCloseTo(low, 12);
    expect(1 - mirroredLow).toBeCloseTo(high, 12);
    const [from, to] = exactInterval(50_000, 100_000)!;
    expect([from, to].map((end) => Number(end.toFixed(3)))).toEqual([0.497, 0.503]);
    expect(exactInterval(0, 0)).toBeNull();
  });
});

describe('the sign test', () => {
  // The two-sided critical values at 5 % of W. J. Dixon, A. M. Mood (1946), table 1: at most so many of the rarer sign.
  test.each([
    [6, 0],
    [9, 1],
    [12, 2],
    [20, 5],
    [25, 7],
    [40, 13],
    [100, 39],
  ])('has the critical value of the literature for %i pairs', (pairs, critical) => {
    expect(signTest(critical, pairs - critical)!).toBeLessThan(0.05);
    expect(signTest(pairs - critical - 1, critical + 1)!).toBeGreaterThan(0.05);
  });

  test('agrees with the interval about every result', () => {
    for (let decided = 1; decided <= 60; decided += 1) {
      for (let wins = 0; wins <= decided; wins += 1) {
        const { probability, verdict } = comparePreferences({ firstWins: decided - wins, secondWins: wins, ties: 0 });
        expect(verdict !== 'unclear').toBe(probability! < 0.05);
      }
    }
    expect(signTest(0, 0)).toBeNull();
  });

  test('finds a share with the pairs that it says are needed in about four of five cases', () => {
    const pairs = pairsForShare(0.65)!;
    expect(pairs).toBe(88);
    const critical = Array.from({ length: pairs }, (_, wins) => wins).filter(
      (wins) => signTest(wins, pairs - wins)! < 0.05 && wins < pairs / 2,
    ).length;
    // The probability of a significant result if the true share is 0.65, by the recurrence of the binomial terms.
    let [term, found] = [0.65 ** pairs, 0];
    for (let losses = 0; losses < critical; losses += 1) {
      found += term;
      term *= ((pairs - losses) / (losses + 1)) * (0.35 / 0.65);
    }
    expect(found).toBeGreaterThan(0.75);
    expect(found).toBeLessThan(0.9);
    expect(pairsForShare(0.5)).toBeNull();
  });
});

describe('the sentence', () => {
  test('names the preferred variant, with the interval', () => {
    expect(sentence(6, 20, 4)).toBe('v8 is preferred: 20 of 26 decided pairs, 77 % (95 %: 56 to 91), 4 ties');
    expect(sentence(20, 6, 1)).toBe('v7 is preferred: 20 of 26 decided pairs, 77 % (95 %: 56 to 91), 1 tie');
  });

  test('says what would tell if these pairs do not', () => {
    expect(sentence(0, 4)).toBe(
      'Cannot tell: v8 won 4 of 4 decided pairs, 100 % (95 %: 40 to 100); about 8 decided pairs would',
    );
    expect(sentence(18, 15)).toMatch(
      /^Cannot tell: v7 won 18 of 33 decided pairs, 55 % .*; about 950 decided pairs would$/,
    );
    expect(sentence(3, 3)).toBe('Cannot tell: both won as often, 3 of 6 decided pairs, 50 % (95 %: 12 to 88)');
    expect(sentence(0, 0, 2)).toBe('Cannot tell: no pair was decided, 2 ties');
  });
});
