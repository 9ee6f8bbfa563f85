// @module-tag slow
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../../shared/seeded-random.ts';
import { estimatePopulationShare } from '../../../shared/statistics/population-share.ts';
import {
  compareRaters,
  maxMatrixValues,
  maxPairs,
  measureReviewers,
  type RatedItem,
} from '../../../shared/statistics/reviewer-agreement.ts';

function itemsOfMatrix(matrix: readonly (readonly number[])[]): RatedItem[] {
  return matrix.flatMap((row, one) =>
    row.flatMap((count, other) =>
      Array.from(
        { length: count },
        () =>
          new Map([
            ['wren', `value ${one}`],
            ['heron', `value ${other}`],
          ]),
      ),
    ),
  );
}

describe('agreement of reviewers', () => {
  // J. Cohen (1960), A coefficient of agreement for nominal scales, table 1, as 200 rows.
  const cohen = [
    [88, 14, 18],
    [10, 40, 10],
    [2, 6, 12],
  ];

  test('has the kappa of Cohen (1960) and the matrix in the order of the rubric', () => {
    const order = ['value 2', 'value 1', 'value 0', 'value 3'];
    const { kappa, percent, pairs, raters } = measureReviewers(itemsOfMatrix(cohen), 'nominal', { order });
    expect(percent.value).toBeCloseTo(0.7, 12);
    expect(kappa.value).toBeCloseTo(0.492, 3);
    expect(raters).toEqual(['heron', 'wren']);
    expect(pairs).toHaveLength(1);
    expect(pairs[0]!.values).toEqual(order);
    // From heron to wren, since names are in order.
    expect(pairs[0]!.matrix).toEqual([
      [12, 10, 18, 0],
      [6, 40, 14, 0],
      [2, 10, 88, 0],
      [0, 0, 0, 0],
    ]);
  });

  test('has a kappa for each pair of three reviewers, and their mean for all', () => {
    const items = Array.from({ length: 12 }, (_, index): RatedItem => {
      const value = index % 2;
      return new Map([['a', value], ['b', value], ...(index < 4 ? [['c', 1 - value] as const] : [])]);
    });
    const { kappa, pairs, alpha, percent, matrix } = measureReviewers(items, 'nominal', { order: [0, 1] });
    expect(kappa).toEqual({ value: -1 / 3, interval: null, reason: null });
    expect(matrix).toEqual([
      [6, 4],
      [4, 6],
    ]);
    expect(pairs.map(({ raters, items: count, kappa: { value } }) => [raters.join(), count, value])).toEqual([
      ['a,b', 12, 1],
      ['a,c', 4, -1],
      ['b,c', 4, -1],
    ]);
    // 16 ratings of items that agree, and 12 of items of which one pair in three does.
    expect(percent.value).toBeCloseTo((16 + 12 / 3) / 28, 12);
    expect(alpha.value).toBeLessThan(1);
  });

  test.each<[string, RatedItem[]]>([
    ['no items', []],
    ['one reviewer', [new Map([['a', 1]]), new Map([['a', 2]])]],
    ['two reviewers of other items', [new Map([['a', 1]]), new Map([['b', 1]])]],
  ])('has reasons for %s', (_, items) => {
    const { percent, kappa, alpha, pairs } = measureReviewers(items, 'interval');
    for (const figure of [percent, kappa, alpha]) {
      expect(figure).toEqual({ value: null, interval: null, reason: 'No item has two ratings yet.' });
    }
    expect(pairs).toEqual([]);
  });

  test('has a percentage, but no kappa or alpha if all ratings are the same', () => {
    const items = Array.from(
      { length: 20 },
      () =>
        new Map([
          ['a', 'yes'],
          ['b', 'yes'],
        ]),
    );
    const { percent, kappa, alpha } = measureReviewers(items, 'nominal', { order: ['yes', 'no'] });
    expect(percent.value).toBe(1);
    expect(percent.interval![0]).toBeLessThan(0.9);
    expect([kappa, alpha]).toEqual(
      Array.from({ length: 2 }, () => ({ value: null, interval: null, reason: expect.stringContaining('the same') })),
    );
  });

  test('has no matrix of more values than a person can read', () => {
    const items = Array.from(
      { length: maxMatrixValues + 1 },
      (_, value) =>
        new Map([
          ['a', value],
          ['b', value],
        ]),
    );
    const { kappa, alpha, pairs } = measureReviewers(items, 'interval');
    expect(alpha.value).toBe(1);
    expect(kappa.reason).toContain('different ratings');
    expect(pairs).toEqual([]);
  });

  test('of 50 reviewers and 10,000 items is found with bounded work', () => {
    const random = createSeededRandom(3);
    const items = Array.from(
      { length: 10_000 },
      (): RatedItem =>
        new Map(Array.from({ length: 50 }, (_, reviewer) => [`reviewer ${reviewer}`, random.between(-10, 10)])),
    );
    const { pairs, items: count } = measureReviewers(items, 'interval');
    expect(count).toBe(10_000);
    expect(pairs).toHaveLength(maxPairs);
  });
});

describe('agreement of two raters', () => {
  test('uses the items that both rated', () => {
    const items = [
      new Map([
        ['wren', 'yes'],
        ['judge', 'no'],
      ]),
      new Map([
        ['wren', 'yes'],
        ['judge', 'yes'],
        ['heron', 'no'],
      ]),
      new Map([['wren', 'no']]),
    ];
    const compared = compareRaters(items, ['wren', 'judge'], { order: ['yes', 'no'] })!;
    expect(compared).toMatchObject({
      raters: ['wren', 'judge'],
      items: 2,
      matrix: [
        [1, 1],
        [0, 0],
      ],
    });
    expect(compareRaters(items, ['judge', 'wren'], { order: ['yes', 'no'] })).toMatchObject({
      raters: ['judge', 'wren'],
      matrix: [
        [1, 0],
        [1, 0],
      ],
    });
    expect(compareRaters(items, ['heron', 'nobody'])).toBeNull();
  });
});

describe('share in a population', () => {
  // All flagged and 20 % of the rest.
  test('weighs each part by its size', () => {
    const { share, items, interval } = estimatePopulationShare([
      { population: 214, rated: 214, matching: 107 },
      { population: 5130, rated: 1026, matching: 51 },
    ])!;
    expect(share).toBeCloseTo((107 + 51 * 5) / 5344, 12);
    expect(items).toBe(362);
    expect(interval[0]).toBeGreaterThan(0.055);
    expect(interval[1]).toBeLessThan(0.081);
  });

  test('is certain if all is rated, not if none of the rated match, and null if a part is unknown', () => {
    expect(estimatePopulationShare([{ population: 4, rated: 4, matching: 1 }])!.interval).toEqual([0.25, 0.25]);
    const none = estimatePopulationShare([{ population: 1000, rated: 100, matching: 0 }])!;
    expect(none.share).toBe(0);
    expect(none.interval[0]).toBe(0);
    expect(none.interval[1]).toBeGreaterThan(0.02);
    expect(estimatePopulationShare([{ population: 4, rated: 0, matching: 0 }])).toBeNull();
    expect(estimatePopulationShare([{ population: 0, rated: 0, matching: 0 }])).toBeNull();
  });

  test('is within its interval in 19 of 20 samples', () => {
    const random = createSeededRandom(2);
    let covered = 0;
    for (let round = 0; round < 1000; round += 1) {
      const draw = (rated: number, rate: number) =>
        Array.from({ length: rated }).filter(() => random.boolean(rate)).length;
      const { interval } = estimatePopulationShare([
        { population: 1000, rated: 60, matching: draw(60, 0.4) },
        { population: 9000, rated: 120, matching: draw(120, 0.03) },
      ])!;
      const truth = (1000 * 0.4 + 9000 * 0.03) / 10_000;
      if (interval[0] <= truth && truth <= interval[1]) covered += 1;
    }
    expect(covered).toBeGreaterThan(920);
  });
});
