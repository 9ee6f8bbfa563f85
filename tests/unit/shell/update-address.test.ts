import { expect, test } from 'vitest';
import { readUpdateAddress } from '../../../electron/shell/updates.ts';

test.each([
  [' https://updates.example/touchstone/ ', 'https://updates.example/touchstone/'],
  ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/'],
  ['http://updates.example', null],
  ['http://127.0.0.1.updates.example', null],
  ['https://name:password@updates.example', null],
  ['https://updates.example/?a=b', null],
  ['file:///updates', null],
  ['updates.example', null],
  ['', null],
])('accepts %s as the update server %s', (text, address) => {
  expect(readUpdateAddress(text)).toBe(address);
});
