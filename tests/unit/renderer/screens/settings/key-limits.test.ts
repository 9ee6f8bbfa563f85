import { expect, test } from 'vitest';
import { readLimits, textsOf } from '../../../../../renderer/screens/settings/api-key-row.tsx';

const none = { creditLimit: null, requestsPerMinute: null, tokensPerMinute: null };

test.each([
  ['', null],
  ['  ', null],
  ['7', 7],
  ['10,000', 10_000],
  ['10 000', 10_000],
])('accepts %o as a limit', (text, limit) => {
  for (const name of ['creditLimit', 'requestsPerMinute', 'tokensPerMinute'] as const) {
    expect(readLimits({ ...textsOf(null), [name]: text })).toEqual({ ...none, [name]: limit });
  }
});

test.each(['-1', '1.5', 'lots', '1e3x', '2000000000'])('rejects %o as a limit', (text) => {
  expect(readLimits({ ...textsOf(null), creditLimit: text })).toBeNull();
  expect(readLimits({ ...textsOf(null), tokensPerMinute: text })).toBeNull();
});

test('a key may have no credits, but not zero requests', () => {
  expect(readLimits({ ...textsOf(null), creditLimit: '0' })).toEqual({ ...none, creditLimit: 0 });
  expect(readLimits({ ...textsOf(null), requestsPerMinute: '0' })).toBeNull();
});
