import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTime } from '../../../../electron/audit/import/log-call.ts';

/** Read with the offset of Tokyo, because in UTC each time without a zone is right. */
const timeZone = process.env['TZ'];
beforeAll(() => {
  process.env['TZ'] = 'Asia/Tokyo';
});
afterAll(() => {
  if (timeZone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = timeZone;
});

test.each([
  ['seconds', 1_764_400_000.5, 1_764_400_000_500],
  ['milliseconds', 1_764_400_000_500, 1_764_400_000_500],
  ['microseconds', '1764400000500123', 1_764_400_000_500],
  ['nanoseconds', '1764400000500123456', 1_764_400_000_500],
  ['an early nanosecond', 1e17, 1e11],
  ['a date', '2026-11-05T10:00:00Z', Date.UTC(2026, 10, 5, 10)],
  ['a date without a zone', '2026-11-05 10:00:00.25', Date.UTC(2026, 10, 5, 10, 0, 0, 250)],
  ['a date with a T and without a zone', '2026-11-05T10:00:00', Date.UTC(2026, 10, 5, 10)],
  ['a date without seconds', '2026-11-05 10:00', Date.UTC(2026, 10, 5, 10)],
  ['a date with an offset', '2026-11-05 10:00:00+02:00', Date.UTC(2026, 10, 5, 8)],
  ['a date with the name of its zone', 'Thu, 05 Nov 2026 10:00:00 EST', Date.UTC(2026, 10, 5, 15)],
  ['a date as JavaScript writes it', 'Thu Nov 05 2026 10:00:00 GMT+0200', Date.UTC(2026, 10, 5, 8)],
  ['a date with months as words', '05-Nov-2026 10:00', Date.UTC(2026, 10, 5, 10)],
  ['a day', '2026-11-05', Date.UTC(2026, 10, 5)],
  ['a date with slashes', '11/5/2026 10:00 PM', Date.UTC(2026, 10, 5, 22)],
  ['a date with points', '05.11.2026', Date.UTC(2026, 10, 5)],
  ['a time with points', '5.11.2026, 9:30', Date.UTC(2026, 10, 5, 9, 30)],
  ['a day of a month that has none', '31.13.2026', null],
  ['no time', 'yesterday', null],
])('reads %s', (_what, value, time) => {
  expect(readTime(value)).toBe(time);
});
