import { expect, test } from 'vitest';
import { describePortFailure } from '../../../electron/server/local-server.ts';

test.each([
  ['EADDRINUSE', 4117, 'Port 4117 is already in use. Choose another port, or 0 for any free port.'],
  ['EACCES', 80, "This system doesn't allow port 80. Choose port 1024 or higher."],
  ['EMFILE', 1, "Couldn't start the local server on port 1 (EMFILE)."],
])('explains how to fix %s', (code, port, expected) => {
  expect(describePortFailure(Object.assign(new Error('listen'), { code }), port)).toBe(expected);
});

test('describes a failure without a code', () => {
  expect(describePortFailure(new Error('words'), 1)).toBe("Couldn't start the local server on port 1.");
});
