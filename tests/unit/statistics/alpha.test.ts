// @module-tag slow
import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../../shared/seeded-random.ts';
import { type Level, measureAlpha, measureDisagreement } from '../../../shared/statistics/alpha.ts';

/** Items from the ratings of each person; a dot for none. */
function itemsOf(...people: string[]): number[][] {
  const columns = people.map((ratings) => ratings.split(' '));
  return columns[0]!.map((_, item) =>
    columns
      .map((ratings) => ratings[item]!)
      .filter((rating) => rating !== '.')
      .map(Number),
  );
}

/** K. Krippendorff (2011), example C: four observers, twelve units, and values are missing. */
const exampleC = itemsOf(
  '1 2 3 3 2 1 4 1 2 . . .',
  '1 2 3 3 2 2 4 1 2 5 . 3',
  '. 3 3 3 2 3 4 2 2 5 1 .',
  '1 2 3 3 2 4 4 1 2 5 1 .',
);

/** The example of the article about alpha in Wikipedia: three coders, fifteen units. */
const threeCoders = itemsOf(
  '. . . . . 3 4 1 2 1 1 3 3 . 3',
  '1 . 2 1 3 3 4 3 . . . . . . .',
  '. . 2 1 3 4 4 . 2 1 1 3 3 . 4',
);

describe("Krippendorff's alpha", () => {
  test.each<[Level, number]>([
    ['nominal', 0.743],
    ['ordinal', 0.815],
    ['interval', 0.849],
  ])('is the %s alpha of Krippendorff (2011), example C', (level, alpha) => {
    expect(measureAlpha(exampleC, level)).toMatchObject({ items: 11, ratings: 40, reason: null });
    expect(measureAlpha(exampleC, level).alpha).toBeCloseTo(alpha, 3);
  });

  test.each<[Level, number]>([
    ['nominal', 0.691],
    ['interval', 0.811],
  ])('is the %s alpha of three coders', (level, alpha) => {
    expect(measureAlpha(threeCoders, level).alpha).toBeCloseTo(alpha, 3);
  });

  test('is the same for values far from 0, and in any order', () => {
    const far = exampleC.map((ratings) => ratings.map((rating) => rating + 1e9)).toReversed();
    expect(measureAlpha(far, 'interval').alpha).toBeCloseTo(measureAlpha(exampleC, 'interval').alpha!, 9);
  });

  test('has an interval around it that the seed determines', () => {
    const { alpha, interval } = measureAlpha(exampleC, 'ordinal', { seed: 7 });
    expect(interval![0]).toBeLessThan(alpha!);
    expect(interval![1]).toBeGreaterThan(alpha!);
    expect(measureAlpha(exampleC, 'ordinal', { seed: 7 }).interval).toEqual(interval);
    expect(measureAlpha(exampleC, 'ordinal', { seed: 8 }).interval).not.toEqual(interval);
    const [low, high] = measureAlpha(exampleC, 'ordinal', { seed: 7, confidence: 0.5 }).interval!;
    expect(high - low).toBeLessThan(interval![1] - interval![0]);
  });

  test.each<[string, number[][], RegExp]>([
    ['no items', [], /two ratings/],
    ['one reviewer', [[1], [2], []], /two ratings/],
    [
      'equal ratings',
      [
        [1, 1],
        [1, 1, 1],
      ],
      /All ratings are the same/,
    ],
    [
      'no numbers',
      [
        [1, Number.NaN],
        [1, 2],
      ],
      /not numbers/,
    ],
  ])('is null with a reason for %s', (_, items, reason) => {
    expect(measureAlpha(items, 'ordinal')).toMatchObject({
      alpha: null,
      interval: null,
      reason: expect.stringMatching(reason),
    });
  });

  test('has no interval for one item, and is not certain for full agreement', () => {
    expect(measureAlpha([[1, 2, 2]], 'nominal')).toMatchObject({
      interval: null,
      reason: expect.stringMatching(/One item/),
    });
    const full = measureAlpha(itemsOf('1 2 1 2 1 2', '1 2 1 2 1 2'), 'interval');
    expect(full.alpha).toBe(1);
    expect(full.interval![0]).toBeLessThan(0.5);
    expect(full.interval![1]).toBe(1);
  });

  test('is never below -1', () => {
    expect(
      measureAlpha(
        [
          [-10, 10],
          [-10, 10],
        ],
        'interval',
      ).alpha,
    ).toBeGreaterThanOrEqual(-1);
  });

  test.each<[Level, number]>([
    ['nominal', 3],
    ['ordinal', 21],
  ])('covers the %s alpha of 60 items', (level, values) => {
    const random = createSeededRandom(5);
    const sample = (count: number) =>
      Array.from({ length: count }, () => {
        const truth = random.between(1, values);
        return Array.from({ length: 2 }, () => (random.boolean(0.75) ? truth : random.between(1, values)));
      });
    const { observed, expected } = measureDisagreement(sample(20_000), level)!;
    const truth = 1 - observed / expected;
    let covered = 0;
    for (let round = 0; round < 100; round += 1) {
      const [low, high] = measureAlpha(sample(60), level).interval!;
      if (low <= truth && truth <= high) covered += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(88);
  });

  test('of 10,000 items with 50 reviewers each is found with bounded work', () => {
    const random = createSeededRandom(1);
    const items = Array.from({ length: 10_000 }, () => Array.from({ length: 50 }, () => random.between(-10, 10)));
    const { alpha, ratings, interval } = measureAlpha(items, 'ordinal');
    expect(ratings).toBe(500_000);
    expect(alpha).toBeCloseTo(0, 1);
    expect(interval).not.toBeNull();
  });
});
