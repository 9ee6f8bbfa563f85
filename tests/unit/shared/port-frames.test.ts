import { expect, test } from 'vitest';
import { readWindowFrame } from '../../../shared/port-frames.ts';

const request = { type: 'request', id: 1, method: 'POST', path: '/x', headers: [['accept', '*/*']], body: '{}' };

test('accepts every frame of a window', () => {
  const frames = [
    request,
    { ...request, body: null },
    { ...request, body: new Uint8Array([1]) },
    { type: 'credit', id: 1, bytes: 10 },
    { type: 'cancel', id: 1 },
  ];
  expect(frames.map(readWindowFrame)).toEqual(frames);
});

test.each([
  null,
  'request',
  {},
  { type: 'cancel' },
  { type: 'cancel', id: '1' },
  { type: 'credit', id: 1, bytes: -5 },
  { type: 'credit', id: 1, bytes: Number.POSITIVE_INFINITY },
  { type: 'head', id: 1, status: 200, headers: [] },
  { ...request, method: 7 },
  { ...request, path: 'http://elsewhere/' },
  { ...request, headers: [['accept']] },
  { ...request, headers: { accept: '*/*' } },
  { ...request, body: { a: 1 } },
])('rejects what is no frame of a window: %j', (value) => {
  expect(readWindowFrame(value)).toBeNull();
});
