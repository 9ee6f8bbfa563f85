import { expect, test } from 'vitest';
import { z } from 'zod';
import { AppError } from '../../../shared/app-error.ts';
import { createContinuationTokens } from '../../../electron/storage/continuation-token.ts';
import { fc } from '../../support/fast-check.ts';

const position = z.object({ sequence: z.int(), id: z.string() });
const tokens = createContinuationTokens('secret', 'things', position);
const positions = fc.record({ sequence: fc.integer(), id: fc.string({ unit: 'binary' }) });

function rejectionOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error instanceof AppError ? [error.code, error.details[0]?.field] : error;
  }
}
const rejected = ['invalid_request', 'continuationToken'];

test('a token returns its position', () => {
  fc.assert(
    fc.property(positions, fc.jsonValue(), (offset, query) => {
      expect(tokens.read(query, tokens.write(query, offset))).toEqual(offset);
    }),
  );
});

test('ignores the order of filters, and absent ones', () => {
  const token = tokens.write({ b: 1, a: { d: [1, 2], c: null } }, { sequence: 1, id: '' });
  expect(tokens.read({ a: { c: null, d: [1, 2] }, b: 1, e: undefined }, token)).toEqual({ sequence: 1, id: '' });
  expect(rejectionOf(() => tokens.read({ a: { c: null, d: [2, 1] }, b: 1 }, token))).toEqual(rejected);
});

test('rejects any change of any character', () => {
  const alphabet = fc.constantFrom(...'ABCabc019-_=+/ \u{1F600}');
  fc.assert(
    fc.property(positions, fc.nat(), alphabet, (offset, at, character) => {
      const token = tokens.write('query', offset);
      const index = at % token.length;
      const changed = token.slice(0, index) + character + token.slice(index + 1);
      fc.pre(changed !== token);
      expect(rejectionOf(() => tokens.read('query', changed))).toEqual(rejected);
    }),
    { numRuns: 1000 },
  );
});

test('rejects a truncated, extended or invented token', () => {
  const token = tokens.write('query', { sequence: 5, id: 'x' });
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.string(), (length, text) => {
      expect(rejectionOf(() => tokens.read('query', token.slice(0, length)))).toEqual(rejected);
      expect(rejectionOf(() => tokens.read('query', text))).toEqual(rejected);
      if (text) expect(rejectionOf(() => tokens.read('query', token + text))).toEqual(rejected);
    }),
  );
});

test('rejects a token of another query, list, database or form', () => {
  const offset = { sequence: 5, id: 'x' };
  const foreign = [
    tokens.write('other query', offset),
    createContinuationTokens('secret', 'other things', position).write('query', offset),
    createContinuationTokens('other secret', 'things', position).write('query', offset),
    createContinuationTokens('secret', 'things', z.string()).write('query', 'x'),
  ];
  expect(foreign.map((token) => rejectionOf(() => tokens.read('query', token)))).toEqual(foreign.map(() => rejected));
});
