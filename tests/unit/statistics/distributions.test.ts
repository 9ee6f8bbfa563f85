import { expect, test } from 'vitest';
import { normalMargin, normalQuantile, studentMargin } from '../../../shared/statistics/distributions.ts';

// R 4: qnorm(c(.5, .975, .995, 1e-9, 1 - 1e-3), digits = 15).
test.each([
  [0.5, 0],
  [0.975, 1.95996398454005],
  [0.995, 2.5758293035489],
  [1e-9, -5.99780701500768],
  [0.999, 3.09023230616781],
])('the normal quantile of %d is that of R', (probability, expected) => {
  expect(normalQuantile(probability)).toBeCloseTo(expected, 11);
});

test('the normal margin is symmetric', () => {
  expect(normalMargin(0.95)).toBeCloseTo(1.959963984540054, 12);
});

// Table of Student's t in Snedecor and Cochran (1989), table A4; R: qt(.975, df) and qt(.995, df).
test.each([
  [0.95, 1, 12.7062],
  [0.95, 2, 4.302653],
  [0.95, 3, 3.182446],
  [0.95, 4, 2.776445],
  [0.95, 5, 2.570582],
  [0.95, 10, 2.228139],
  [0.95, 30, 2.042272],
  [0.95, 120, 1.97993],
  [0.99, 4, 4.604095],
  [0.99, 10, 3.169273],
  [0.95, 100_000, 1.959988],
])("Student's t for %d with %d degrees of freedom is that of the table", (confidence, freedom, expected) => {
  expect(studentMargin(confidence, freedom)).toBeCloseTo(expected, 4);
});
