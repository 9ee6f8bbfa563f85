import { expect, test } from 'vitest';
import * as format from '../../../../../renderer/screens/playground/format.ts';

test.each([
  [412, '412 ms'],
  [999.6, '1000 ms'],
  [2_440, '2.4 s'],
  [99_940, '99.9 s'],
  [185_000, '3:05 min'],
])('%f milliseconds are written %s', (milliseconds, text) => expect(format.durationText(milliseconds)).toBe(text));
