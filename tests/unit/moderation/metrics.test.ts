import { expect, test } from 'vitest';
import { areaUnderRoc, atThreshold, averagePrecision } from '../../../scripts/moderation/metrics.ts';

const scored = [
  { score: 0.9, isPositive: true },
  { score: 0.8, isPositive: false },
  { score: 0.7, isPositive: true },
  { score: 0.1, isPositive: false },
];

test('average precision is the mean of the precision at every positive', () => {
  expect(averagePrecision(scored)).toBeCloseTo((1 + 2 / 3) / 2, 12);
});

test('area under the ROC curve is the share of pairs in the right order', () => {
  expect(areaUnderRoc(scored)).toBe(0.75);
});

test('equal scores give no credit for their order', () => {
  const tied = scored.map(({ isPositive }) => ({ score: 0.5, isPositive }));
  expect([averagePrecision(tied), areaUnderRoc(tied), averagePrecision(tied.toReversed())]).toEqual([0.5, 0.5, 0.5]);
});

test('a threshold flags what reaches it', () => {
  expect(atThreshold(scored, 0.8)).toEqual({ precision: 0.5, recall: 0.5, f1: 0.5 });
  expect(atThreshold(scored, 1)).toEqual({ precision: 0, recall: 0, f1: 0 });
});
