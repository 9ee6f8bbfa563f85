import { describe, expect, test } from 'vitest';
import { passAllN, passAtN, percentile } from '../../../shared/statistics/repeats.ts';
import { rowsForMeans, rowsForRates } from '../../../shared/statistics/rows-needed.ts';

/** `pass_at_k` as figure 3 of Chen et al. (2021), arXiv 2107.03374, writes it. */
function passAtNOfChen(repeats: number, passes: number, drawn: number): number {
  if (repeats - passes < drawn) return 1;
  let product = 1;
  for (let index = repeats - passes + 1; index <= repeats; index += 1) product *= 1 - drawn / index;
  return 1 - product;
}

describe('repeats', () => {
  test('pass@N is the estimator of Chen et al. (2021)', () => {
    for (const repeats of [1, 2, 5, 10, 200]) {
      for (let passes = 0; passes <= repeats; passes += Math.ceil(repeats / 7)) {
        for (const drawn of [1, 2, 5, 100].filter((count) => count <= repeats)) {
          expect(passAtN(repeats, passes, drawn)).toBeCloseTo(passAtNOfChen(repeats, passes, drawn), 12);
        }
      }
    }
  });

  test('pass@N and pass^N are the shares of all ways to draw', () => {
    // Of the 10 ways to draw two of five repeats, 3 have two of the three passes and 9 have at least one.
    expect(passAllN(5, 3, 2)).toBeCloseTo(0.3, 12);
    expect(passAtN(5, 3, 2)).toBeCloseTo(0.9, 12);
  });

  test('a row that never passes is 0, one that always passes is 1', () => {
    expect([passAtN(8, 0, 8), passAllN(8, 0, 1), passAtN(8, 8, 1), passAllN(8, 8, 8)]).toEqual([0, 0, 1, 1]);
  });
});

describe('percentiles', () => {
  // R: quantile(c(1, 3, 4, 8, 20), c(.5, .95, .1), type = 7).
  test.each([
    [0.5, 4],
    [0.95, 17.6],
    [0.1, 1.8],
    [0, 1],
    [1, 20],
  ])('%d is that of R', (share, expected) => {
    expect(percentile(Float64Array.of(1, 3, 4, 8, 20), share)).toBeCloseTo(expected, 12);
  });

  test('are null without values', () => {
    expect(percentile(new Float64Array(), 0.5)).toBeNull();
  });
});

describe('the rows needed', () => {
  // S. C. Chow, J. Shao, H. Wang (2003), Sample Size Calculations in Clinical Research, example 6.4.3; R: TrialSize::McNemar.Test(0.05,
  // 0.2, 0.2 / 0.5, 0.7) is 59, and (0.05, 0.2, 0.25 / 0.1, 0.35) is 119.7.
  test.each([
    [0.3, 0.7, 59],
    [-0.3, 0.7, 59],
    [0.15, 0.35, 120],
  ])('for a difference of %d with %d discordant rows are those of Chow et al.', (difference, discordant, rows) => {
    expect(rowsForRates(difference, discordant, 0.95)).toBe(rows);
  });

  // Snedecor and Cochran (1989), section 6.14: the multiplier for 80 % power and 5 % is 7.9.
  test('for means are those of Snedecor and Cochran', () => {
    expect(rowsForMeans(1, 10, 0.95)).toBe(785);
  });

  test('are null for no difference', () => {
    expect(rowsForRates(0, 0.2, 0.95)).toBeNull();
    expect(rowsForRates(0, 0, 0.95)).toBeNull();
    expect(rowsForMeans(0, 1, 0.95)).toBeNull();
  });
});
