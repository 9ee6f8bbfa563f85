import { expect, test } from 'vitest';
import * as format from '../../../../../renderer/screens/playground/format.ts';

test.each([
  [512, '512'],
  [2_048, '2K'],
  [131_072, '131K'],
  [999_700, '1M'],
  [1_047_576, '1.05M'],
])('%i tokens are written %s', (count, text) => expect(format.shortCount(count)).toBe(text));

test.each([
  [0, '0'],
  [10, '10.00'],
  [2.5, '2.50'],
  [0.075, '0.075'],
  [0.1, '0.10'],
])('%f dollars per million are written %s', (dollars, text) => expect(format.price(dollars)).toBe(text));

test.each([
  [0, '$0'],
  [0.00001, '<$0.0001'],
  [0.0021, '$0.0021'],
  [1.5, '$1.50'],
])('a cost of %f dollars is written %s', (dollars, text) => expect(format.cost(dollars)).toBe(text));

test.each([
  [412, '412 ms'],
  [999.6, '1000 ms'],
  [2_440, '2.4 s'],
  [99_940, '99.9 s'],
  [185_000, '3:05 min'],
])('%f milliseconds are written %s', (milliseconds, text) => expect(format.durationText(milliseconds)).toBe(text));

test('days are counted by the calendar, whatever the hour', () => {
  expect(format.daysUntil('2026-11-21', new Date(2026, 10, 20, 23, 59))).toBe(1);
  expect(format.calendarDate('2027-01-14')).toBe('14 January 2027');
});
