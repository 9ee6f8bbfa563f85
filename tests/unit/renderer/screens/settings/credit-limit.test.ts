import { expect, test } from 'vitest';
import { readCreditLimit } from '../../../../../renderer/screens/settings/api-keys/credit-limit.ts';

test.each([
  ['', { limit: null }],
  ['  ', { limit: null }],
  ['0', { limit: 0 }],
  ['10,000', { limit: 10_000 }],
  ['10 000', { limit: 10_000 }],
])('a limit may be written %o', (text, limit) => {
  expect(readCreditLimit(text)).toEqual(limit);
});

test.each(['-1', '1.5', 'lots', '1e3x', '2000000000'])('%o is no limit', (text) => {
  expect(readCreditLimit(text)).toHaveProperty('problem');
});
