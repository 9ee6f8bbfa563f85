import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../../shared/seeded-random.ts';
import { estimateDifference, estimateMean, estimateScore } from '../../../shared/statistics/means.ts';
import type { Interval } from '../../../shared/statistics/proportions.ts';

function randomNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

interface Population {
  readonly mean: number;
  readonly draw: (random: () => number) => number;
}

/** How often the interval of a sample has the mean of the population. */
function coverage(
  { mean, draw }: Population,
  rows: number,
  interval: (values: Float64Array) => Interval | null,
  samples = 300,
): number {
  const random = createSeededRandom(7).next;
  let covered = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    const [low, high] = interval(Float64Array.from({ length: rows }, () => draw(random)))!;
    if (low <= mean && mean <= high) covered += 1;
  }
  return covered / samples;
}

/** Latencies: a long tail. */
const skewed: Population = { mean: Math.exp(0.125), draw: (random) => Math.exp(0.5 * randomNormal(random)) };
/** Scores: most are the best one. */
const ceiling: Population = { mean: 0.925, draw: (random) => (random() < 0.85 ? 1 : random()) };

describe('the mean of costs and latencies', () => {
  test('has an interval around it that is the same for the same rows', () => {
    const values = Float64Array.of(1.2, 0.9, 1.6, 4.1, 1.1, 0.8, 1.3, 1.9);
    const found = estimateMean(values)!;
    expect(found.mean).toBeCloseTo(1.6125, 12);
    expect(found.interval![0]).toBeLessThan(found.mean);
    expect(found.interval![1]).toBeGreaterThan(found.mean);
    expect(estimateMean(values)).toEqual(found);
  });

  test('reaches farther to the side of the long tail', () => {
    const { mean, interval } = estimateMean(Float64Array.of(1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 9))!;
    expect(interval![1] - mean).toBeGreaterThan(1.2 * (mean - interval![0]));
  });

  // Of 300 samples 285 are expected; 270 is more than 3 standard errors below.
  test('covers the mean of a skewed population from 15 rows', () => {
    expect(coverage(skewed, 15, (values) => estimateMean(values)!.interval)).toBeGreaterThan(0.9);
  });

  test('is narrower by a root of ten for ten times the rows, on both sides of the limit for resampling', () => {
    const random = createSeededRandom(3).next;
    const width = (rows: number) => {
      const [low, high] = estimateMean(Float64Array.from({ length: rows }, () => 5 + randomNormal(random)))!.interval!;
      return high - low;
    };
    expect(width(900) / width(9000)).toBeGreaterThan(2.8);
    expect(width(900) / width(9000)).toBeLessThan(3.6);
  });

  test('has no interval for one row, and no width for equal rows', () => {
    expect(estimateMean(Float64Array.of(3))).toMatchObject({ mean: 3, interval: null });
    expect(estimateMean(new Float64Array(12).fill(0.1))!.interval).toEqual([
      expect.closeTo(0.1, 12),
      expect.closeTo(0.1, 12),
    ]);
    expect(estimateMean(new Float64Array())).toBeNull();
  });

  test('stays finite for rows that are nearly all equal', () => {
    const { interval } = estimateMean(Float64Array.of(1, 1, 1 + 1e-9, 1, 1, 1, 1, 50))!;
    expect(interval![1]).toBeLessThan(100);
    expect(interval![0]).toBeGreaterThanOrEqual(0);
  });
});

describe('the mean of scores', () => {
  test.each([10, 15, 30])('covers the mean if most of %d rows have the best score', (rows) => {
    expect(coverage(ceiling, rows, (values) => estimateScore(values)!.interval, 1000)).toBeGreaterThan(0.93);
  });

  test('never is certain, and stays between 0 and 1', () => {
    const [low, high] = estimateScore(new Float64Array(20).fill(1))!.interval!;
    expect(low).toBeGreaterThan(0.85);
    expect(low).toBeLessThan(0.95);
    expect(high).toBe(1);
    expect(estimateScore(Float64Array.of(0.5))!.interval).toEqual([0, 1]);
  });
});

describe('the mean of differences', () => {
  // Student (1908), table of the hours of sleep that two drugs added (Cushny and Peebles); R: t.test(extra ~ group, sleep, paired = TRUE).
  test('has the interval of Student (1908)', () => {
    const { mean, interval } = estimateDifference(Float64Array.of(1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4))!;
    expect(mean).toBeCloseTo(1.58, 12);
    expect(interval![0]).toBeCloseTo(0.7001142, 4);
    expect(interval![1]).toBeCloseTo(2.4598858, 4);
  });

  test('covers the difference of two skewed populations', () => {
    const difference: Population = { mean: 0, draw: (random) => skewed.draw(random) - skewed.draw(random) };
    expect(coverage(difference, 12, (values) => estimateDifference(values)!.interval, 1000)).toBeGreaterThan(0.92);
  });

  test('is not certain if all rows have one difference', () => {
    const [low, high] = estimateDifference(new Float64Array(20).fill(0.25), { bounds: [-1, 1] })!.interval!;
    expect(low).toBeLessThan(0.1);
    expect(high).toBeGreaterThan(0.3);
  });
});
