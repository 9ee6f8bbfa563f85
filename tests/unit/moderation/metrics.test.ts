import { expect, test } from 'vitest';
import { areaUnderRoc, atThreshold, averagePrecision, bestThreshold } from '../../../scripts/moderation/metrics.ts';

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

test('a threshold flags scores at or above it', () => {
  expect(atThreshold(scored, 0.8)).toEqual({ precision: 0.5, recall: 0.5, f1: 0.5 });
  expect(atThreshold(scored, 1)).toEqual({ precision: 0, recall: 0, f1: 0 });
});

test('the best threshold trades precision for recall by beta', () => {
  const long = [
    ...scored,
    { score: 0.3, isPositive: false },
    { score: 0.3, isPositive: false },
    { score: 0.3, isPositive: true },
    { score: 0.2, isPositive: false },
  ];
  // F1 is .67 at 0.3 and 0.7, and the higher of equals counts.
  expect([bestThreshold(long, 2), bestThreshold(long, 1), bestThreshold(long, 0.5)]).toEqual([0.3, 0.7, 0.9]);
});

test('no threshold is best without positives', () => {
  expect(bestThreshold([{ score: 0.4, isPositive: false }], 1)).toBe(1);
});
