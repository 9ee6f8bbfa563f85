import { expect, test } from 'vitest';
import { readTime } from '../../../../electron/audit/import/log-call.ts';

test.each([
  ['seconds', 1_764_400_000.5, 1_764_400_000_500],
  ['milliseconds', 1_764_400_000_500, 1_764_400_000_500],
  ['microseconds', '1764400000500123', 1_764_400_000_500],
  ['nanoseconds', '1764400000500123456', 1_764_400_000_500],
  ['an early nanosecond', 1e17, 1e11],
  ['a date', '2026-11-05T10:00:00Z', Date.UTC(2026, 10, 5, 10)],
  ['a date without a zone', '2026-11-05 10:00:00.25', Date.UTC(2026, 10, 5, 10, 0, 0, 250)],
  ['a date with points', '05.11.2026', new Date(2026, 10, 5).getTime()],
  ['a time with points', '5.11.2026, 9:30', new Date(2026, 10, 5, 9, 30).getTime()],
  ['a day of a month that has none', '31.13.2026', null],
  ['no time', 'yesterday', null],
])('reads %s', (_what, value, time) => {
  expect(readTime(value)).toBe(time);
});
