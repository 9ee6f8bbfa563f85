import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../../shared/seeded-random.ts';
import { measureAgreement } from '../../../shared/statistics/agreement.ts';

function pairsOf(matrix: readonly (readonly number[])[]): [string, string][] {
  return matrix.flatMap((row, one) =>
    row.flatMap((count, other) =>
      Array.from({ length: count }, (): [string, string] => [`label ${one}`, `label ${other}`]),
    ),
  );
}

describe('agreement', () => {
  // R, package vcd: Kappa(SexualFun), the data of Hout, Duncan and Sobel (1987).
  test('is the kappa of R for four labels', () => {
    const { kappa, rows, matrix } = measureAgreement(
      pairsOf([
        [7, 7, 2, 3],
        [2, 8, 3, 7],
        [1, 5, 4, 9],
        [2, 8, 9, 14],
      ]),
    )!;
    expect(rows).toBe(91);
    expect(kappa).toBeCloseTo(0.1293303, 6);
    expect(matrix[1]).toEqual([2, 8, 3, 7]);
  });

  // J. L. Fleiss, B. Levin, M. C. Paik (2003), Statistical Methods for Rates and Proportions, table 18.1.
  test('is the kappa of Fleiss, Levin and Paik for three labels', () => {
    const { kappa, share } = measureAgreement(
      pairsOf([
        [75, 1, 4],
        [5, 4, 1],
        [0, 0, 10],
      ]),
    )!;
    expect(share).toBeCloseTo(0.89, 12);
    expect(kappa).toBeCloseTo(0.68, 2);
  });

  test('is not certain for perfect agreement', () => {
    const { kappa, interval } = measureAgreement(
      pairsOf([
        [12, 0],
        [0, 8],
      ]),
    )!;
    expect(kappa).toBe(1);
    expect(interval![0]).toBeLessThan(0.7);
    expect(interval![1]).toBe(1);
  });

  test('has no kappa if there is only one label, and is null without rows', () => {
    expect(measureAgreement(pairsOf([[20]]))).toMatchObject({ share: 1, kappa: null, interval: null });
    expect(measureAgreement([])).toBeNull();
  });

  test('covers the kappa of 25 rows', () => {
    const random = createSeededRandom(11).next;
    const kappa = 0.8;
    let covered = 0;
    for (let sample = 0; sample < 500; sample += 1) {
      const pairs = Array.from({ length: 25 }, (): [string, string] => {
        const first = random() < 0.7 ? 'pass' : 'fail';
        return [first, random() < kappa ? first : random() < 0.7 ? 'pass' : 'fail'];
      });
      const interval = measureAgreement(pairs)!.interval;
      if (!interval || (interval[0] <= kappa && kappa <= interval[1])) covered += 1;
    }
    expect(covered / 500).toBeGreaterThan(0.9);
  });
});
