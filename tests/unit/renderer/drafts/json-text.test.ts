import { expect, test } from 'vitest';
import { describeMistake, parseJson } from '../../../../renderer/drafts/json-text.ts';

test.each([
  ['[{"id": "NW-48213",}]', 'Invalid JSON at line 1, column 20: expected double-quoted property name'],
  ['[1,', 'Invalid JSON at line 1, column 4: the text ends too early'],
  ['{"a":1 "b":2}', "Invalid JSON at line 1, column 8: expected ',' or '}' after property value"],
  ['"abc', 'Invalid JSON at line 1, column 5: a quote is not closed'],
  ['nope', 'Invalid JSON at line 1, column 2: unexpected "o"'],
  ['{"a":\n  tru}', 'Invalid JSON at line 2, column 6: unexpected "}"'],
])('reports the error of %j at its position', (text, expected) => {
  const parsed = parseJson(text);
  expect('mistake' in parsed && describeMistake(parsed.mistake)).toBe(expected);
});

test('parses valid JSON', () => {
  expect(parseJson('{"a": [1, null]}')).toEqual({ value: { a: [1, null] } });
});
