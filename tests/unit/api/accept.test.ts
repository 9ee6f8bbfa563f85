import { expect, test } from 'vitest';
import { parseAcceptHeader } from '../../../electron/api/accept.ts';

test.each([
  ['application/json', 1, 1],
  ['application/*;q=0.4, */*;q=0.1', 0.4, 0],
  ['*/*;q=0.3', 0.3, 0],
  ['*/*, application/json;q=0.2', 0.2, 0.2],
  ['APPLICATION/JSON;q=0.7', 0.7, 0.7],
  ['text/html', 0, 0],
  ['application/json;q=0, */*', 0, 0],
  ['', 0, 0],
  [null, 0, 0],
])('gives JSON its quality in "%s"', (header, quality, namedQuality) => {
  const accepted = parseAcceptHeader(header);
  expect(accepted.quality('application/json')).toBe(quality);
  expect(accepted.namedQuality('application/json')).toBe(namedQuality);
});
