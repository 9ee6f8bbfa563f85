import { describe, expect, test } from 'vitest';
import { barsOf, bucketEnd, bucketLabel, linesOf } from '../../../../../renderer/screens/audit/summary/chart.tsx';
import { moveView, orderViews } from '../../../../../renderer/screens/audit/views-panel.tsx';

describe('a chart', () => {
  test('has proportional bars, one pixel for the smallest value and nothing for none', () => {
    expect(barsOf([0, 1, 1000]).map(({ height }) => height)).toEqual([0, 1, 32]);
    expect(barsOf([0, 0]).map(({ height }) => height)).toEqual([0, 0]);
    expect(barsOf([null, 2]).map(({ height }) => height)).toEqual([0, 32]);
  });

  test('interrupts its line at missing values, and shows a single value', () => {
    expect(linesOf([1, 2, null, 3], [0, 4]).map((line) => line.split(' ').length)).toEqual([3, 2]);
    expect(linesOf([null, null], [0, 1])).toEqual([]);
  });

  test('labels a bucket and its end', () => {
    const start = '2026-02-01T00:00:00.000Z';
    expect([bucketLabel({ start }, 'day'), bucketLabel({ start }, 'month'), bucketLabel({ start }, 'week')]).toEqual([
      '1 Feb 2026',
      'February 2026',
      'week of 1 Feb 2026',
    ]);
    expect([bucketEnd({ start }, 'day'), bucketEnd({ start }, 'month')]).toEqual([
      '2026-02-01T23:59:59.999Z',
      '2026-02-28T23:59:59.999Z',
    ]);
  });
});

describe('saved views', () => {
  const views = ['a', 'b', 'c'].map((id) => ({ id }));

  test("are in the person's order, later ones at the end", () => {
    expect(orderViews(views, ['c', 'gone', 'a']).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
  });

  test('move by one and stop at the ends', () => {
    expect([moveView(views, 'c', -1), moveView(views, 'a', -1), moveView(views, 'a', 1)]).toEqual([
      ['a', 'c', 'b'],
      ['a', 'b', 'c'],
      ['b', 'a', 'c'],
    ]);
  });
});
