import { describe, expect, test } from 'vitest';
import { normalMargin } from '../../../shared/statistics/distributions.ts';
import { pairedDifferenceInterval, wilsonInterval } from '../../../shared/statistics/proportions.ts';

describe('the Wilson interval', () => {
  // R. G. Newcombe (1998), Two-sided confidence intervals for the single proportion, Statistics in Medicine 17, 857-872, table I.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %d in %d is that of Newcombe (1998)', (passes, rows, low, high) => {
    const interval = wilsonInterval(passes, rows)!;
    expect(interval[0]).toBeCloseTo(low, 4);
    expect(interval[1]).toBeCloseTo(high, 4);
  });

  test('ends at 1 for rows that all pass, and is null without rows', () => {
    expect(wilsonInterval(7, 7)![1]).toBe(1);
    expect(wilsonInterval(0, 0)).toBeNull();
  });

  test('covers the rate as often as it says', () => {
    expect(exactCoverage(wilsonInterval, 30, 0.85)).toBeGreaterThan(0.92);
    expect(exactCoverage(wilsonInterval, 30, 0.85)).toBeLessThan(0.98);
  });
});

/** Sums the probabilities of all numbers of passes whose interval has the rate. */
function exactCoverage(interval: typeof wilsonInterval, rows: number, rate: number): number {
  let probability = (1 - rate) ** rows;
  let covered = 0;
  for (let passes = 0; passes <= rows; passes += 1) {
    const [low, high] = interval(passes, rows)!;
    if (low <= rate && rate <= high) covered += probability;
    probability *= ((rows - passes) / (passes + 1)) * (rate / (1 - rate));
  }
  return covered;
}

describe('the interval of a paired difference', () => {
  // M. W. Fagerland, S. Lydersen, P. Laake (2017), Statistical Analysis of Contingency Tables, chapter 8, from Cavo et al. (2012); R:
  // contingencytables::Tango_asymptotic_score_CI_paired_2x2(cavo_2012).
  test('is that of Fagerland et al. (2017)', () => {
    const [low, high] = pairedDifferenceInterval({ onlyVariant: 6, onlyBaseline: 16, rows: 161 })!;
    expect(low).toBeCloseTo(-0.124, 4);
    expect(high).toBeCloseTo(-0.0054, 4);
  });

  test('excludes 0 exactly if the statistic of McNemar is significant', () => {
    for (const [onlyVariant, onlyBaseline] of [
      [12, 3],
      [11, 3],
      [20, 8],
      [20, 9],
      [5, 1],
      [4, 0],
    ] as const) {
      const statistic = (onlyVariant - onlyBaseline) / Math.sqrt(onlyVariant + onlyBaseline);
      const [low] = pairedDifferenceInterval({ onlyVariant, onlyBaseline, rows: 60 })!;
      expect(low > 0).toBe(statistic > normalMargin(0.95));
    }
  });

  test('mirrors when the variants change sides, and is wider for more confidence', () => {
    const interval = pairedDifferenceInterval({ onlyVariant: 9, onlyBaseline: 2, rows: 50 })!;
    const mirrored = pairedDifferenceInterval({ onlyVariant: 2, onlyBaseline: 9, rows: 50 })!;
    const wide = pairedDifferenceInterval({ onlyVariant: 9, onlyBaseline: 2, rows: 50 }, 0.99)!;
    expect(mirrored[0]).toBeCloseTo(-interval[1], 12);
    expect(mirrored[1]).toBeCloseTo(-interval[0], 12);
    expect(wide[0]).toBeLessThan(interval[0]);
    expect(wide[1]).toBeGreaterThan(interval[1]);
  });

  test.each([
    [0, 0, 40],
    [40, 0, 40],
    [0, 40, 40],
    [1, 0, 1],
    [0, 0, 1],
    [100_000, 0, 100_000],
    [20_000, 30_000, 100_000],
  ])('stays within -1 and 1 around its estimate for %d, %d of %d', (onlyVariant, onlyBaseline, rows) => {
    const [low, high] = pairedDifferenceInterval({ onlyVariant, onlyBaseline, rows })!;
    const estimate = (onlyVariant - onlyBaseline) / rows;
    expect(low).toBeGreaterThanOrEqual(-1);
    expect(high).toBeLessThanOrEqual(1);
    expect(low).toBeLessThanOrEqual(estimate);
    expect(high).toBeGreaterThanOrEqual(estimate);
    expect(high - low).toBeGreaterThan(0);
  });

  test('is narrower than the two separate intervals if the variants pass mostly the same rows', () => {
    const [low, high] = pairedDifferenceInterval({ onlyVariant: 8, onlyBaseline: 2, rows: 200 })!;
    const separate = wilsonInterval(160, 200)!;
    expect(high - low).toBeLessThan(separate[1] - separate[0]);
  });
});
