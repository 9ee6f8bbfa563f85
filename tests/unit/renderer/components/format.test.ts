import { describe, expect, test } from 'vitest';
import {
  daysUntil,
  formatBytes,
  formatCost,
  formatCount,
  formatWhole,
  formatDate,
  formatDuration,
  formatRunDuration,
  formatPart,
  formatPlural,
  formatPrice,
  formatTime,
  formatTokenCount,
  readNumber,
  tokensText,
  usageText,
} from '../../../../renderer/components/format.ts';

describe('figures are formatted for reading', () => {
  test.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1 KB'],
    [322_591_712, '322.6 MB'],
    [460_000_000, '460 MB'],
    [6_400_000_000, '6.4 GB'],
  ])('%d bytes', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  test('a part of a whole has the unit of the whole and keeps its width', () => {
    expect(formatPart(148_000_000, 322_591_712)).toBe('148.0 of 322.6 MB');
    expect(formatPart(0, 322_591_712)).toBe('0.0 of 322.6 MB');
  });

  test.each([
    [0, '0'],
    [41_230, '41,230'],
    [1_912_340, '1.9M'],
  ])('%d', (count, text) => expect(formatCount(count)).toBe(text));

  test.each([
    0,
    7,
    999,
    1000,
    12_345,
    999_999,
    1_000_000,
    -1,
    -999,
    -1000,
    -1_234_567,
    Number.MAX_SAFE_INTEGER,
    1234.5,
    1e21,
  ])('every digit of %d, as the language has it', (count) =>
    expect(formatWhole(count)).toBe(count.toLocaleString('en')),
  );

  test('one is singular', () => {
    expect([formatPlural(1, 'run'), formatPlural(2, 'run'), formatPlural(0, 'run')]).toEqual([
      '1 run',
      '2 runs',
      '0 runs',
    ]);
  });

  test.each([
    [214.4, '214 ms'],
    [2_430, '2.4 s'],
    [16_200, '16 s'],
    [180_000, '3 min'],
    [7_200_000, '2 h'],
  ])('%d milliseconds', (milliseconds, text) => expect(formatDuration(milliseconds)).toBe(text));

  test.each([
    [412, '412 ms'],
    [999.6, '1.0 s'],
    [2_440, '2.4 s'],
    [16_240, '16.2 s'],
    [99_940, '99.9 s'],
    [185_000, '3:05 min'],
  ])('a run of %d milliseconds lasted %s', (milliseconds, text) => expect(formatRunDuration(milliseconds)).toBe(text));

  test('a time shows only as much of its date as needed', () => {
    const now = new Date(2026, 10, 20, 15, 0);
    const at = (...parts: [number, number, number, number, number]) =>
      formatTime(new Date(...parts).toISOString(), now);
    expect([at(2026, 10, 20, 14, 2), at(2026, 10, 18, 9, 42), at(2025, 0, 2, 3, 4)]).toEqual([
      '14:02',
      '18 Nov, 09:42',
      '2 Jan 2025',
    ]);
  });

  test.each([
    [512, '512'],
    [2_048, '2K'],
    [131_072, '131K'],
    [999_700, '1M'],
    [1_047_576, '1.05M'],
  ])('%i tokens', (count, text) => expect(formatTokenCount(count)).toBe(text));

  test.each([
    [0, '0'],
    [10, '10.00'],
    [2.5, '2.50'],
    [0.075, '0.075'],
    [0.1, '0.10'],
  ])('%f dollars per million tokens', (dollars, text) => expect(formatPrice(dollars)).toBe(text));

  test.each([
    [0, '$0'],
    [0.00001, '<$0.0001'],
    [0.0021, '$0.0021'],
    [1.5, '$1.50'],
    [1_234.5, '$1,235'],
  ])('a cost of %f dollars', (dollars, text) => expect(formatCost(dollars)).toBe(text));

  test.each([
    [{}, '7,215 in · 1,432 out'],
    [{ cached_tokens: 6_900, reasoning_tokens: 1_020 }, '7,215 in (6,900 cached) · 412 out · 1,020 reasoning'],
    [{ cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }, '7,215 in · 1,432 out'],
    [{ cached_tokens: 5, cache_write_tokens: 6 }, '7,215 in (5 cached, 6 written to the cache) · 1,432 out'],
    [{ reasoning_tokens: 9_999 }, '7,215 in · 0 out · 1,432 reasoning'],
  ])('the tokens of a run with %o', (reported, text) => {
    const details = { cached_tokens: null, cache_write_tokens: null, reasoning_tokens: null, ...reported };
    expect(tokensText({ prompt_tokens: 7_215, completion_tokens: 1_432, total_tokens: 8_647, details })).toBe(text);
  });

  test('tokens and cost are on one line, without unknown values', () => {
    const usage = { prompt_tokens: 7_215, completion_tokens: 412, total_tokens: 7_627 };
    expect(usageText(usage, 0.0123)).toBe('7,215 in · 412 out · $0.0123');
    expect(usageText(usage, null)).toBe('7,215 in · 412 out');
    expect(usageText(null, null)).toBeNull();
  });

  test('days follow the calendar at any hour', () => {
    expect(daysUntil('2026-11-21', new Date(2026, 10, 20, 23, 59))).toBe(1);
    expect(formatDate('2027-01-14')).toBe('14 January 2027');
  });
});

test.each([
  ['2,000', 2000],
  ['-12,345.5', -12_345.5],
  ['−1,000', -1000],
  ['$1,234,567', 1_234_567],
  ['0,125', 0.125],
  ['1,5', 1.5],
  ['1,2345', 1.2345],
  ['2.000', 2],
  ['1,000,00', null],
  ['soon', null],
  [' ', undefined],
])('the typed number %j', (text, value) => expect(readNumber(text)).toBe(value));
