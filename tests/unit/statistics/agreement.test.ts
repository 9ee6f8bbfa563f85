import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../../shared/seeded-random.ts';
import { measureAgreement, measureReliability } from '../../../shared/statistics/agreement.ts';

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

describe("Krippendorff's alpha", () => {
  /** Rows from the labels of each person; a dot for none. */
  const rowsOf = (...people: string[]) => {
    const columns = people.map((labels) => labels.split(' '));
    return columns[0]!.map((_, row) => columns.map((labels) => labels[row]!).filter((label) => label !== '.'));
  };

  test.each([
    ['A, two people and two labels', 0.095, ['0 1 0 0 0 0 0 0 1 0', '1 1 1 0 0 1 0 0 0 0']],
    ['B, two people and five labels', 0.692, ['a a b b d c c c e d d a', 'b a b b b c c c e d d d']],
    [
      'C, four people, and labels are missing',
      0.743,
      ['1 2 3 3 2 1 4 1 2 . . .', '1 2 3 3 2 2 4 1 2 5 . 3', '. 3 3 3 2 3 4 2 2 5 1 .', '1 2 3 3 2 4 4 1 2 5 1 .'],
    ],
  ])('is that of Krippendorff (2011), example %s', (_, alpha, people) => {
    expect(measureReliability(rowsOf(...people))!.alpha).toBeCloseTo(alpha, 3);
  });

  test('is not certain for full agreement, and nothing without a second label or a second kind of label', () => {
    const full = measureReliability(rowsOf('a b a b a b', 'a b a b a b', 'a b a b a b'))!;
    expect([full.rows, full.share, full.alpha]).toEqual([6, 1, 1]);
    expect(full.interval![0]).toBeLessThan(0.5);
    expect(full.interval![1]).toBe(1);
    expect(measureReliability(rowsOf('a a', 'a a'))).toMatchObject({ share: 1, alpha: null, interval: null });
    expect(measureReliability([['a'], []])).toBeNull();
  });
});
