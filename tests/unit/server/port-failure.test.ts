import { expect, test } from 'vitest';
import { describePortFailure } from '../../../electron/server/port-failure.ts';

test.each([
  ['EADDRINUSE', 4117, 'Port 4117 is already in use. Choose another one, or 0 for any that is free.'],
  ['EACCES', 80, 'This system does not let you use port 80. Choose one from 1024 on.'],
  ['EMFILE', 1, 'The local server could not start on port 1 (EMFILE).'],
])('%s says what to do', (code, port, expected) => {
  expect(describePortFailure(Object.assign(new Error('listen'), { code }), port)).toBe(expected);
});

test('a failure without a code is told without one', () => {
  expect(describePortFailure(new Error('words'), 1)).toBe('The local server could not start on port 1.');
});
