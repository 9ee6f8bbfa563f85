import { expect, test } from 'vitest';
import { describeMistake, parseJson } from '../../../../renderer/drafts/json-text.ts';

test.each([
  ['[{"id": "NW-48213",}]', 'Line 1, column 20: expected double-quoted property name'],
  ['[1,', 'Line 1, column 4: the text ends too early'],
  ['{"a":1 "b":2}', "Line 1, column 8: expected ',' or '}' after property value"],
  ['"abc', 'Line 1, column 5: a quote is not closed'],
  ['nope', 'Line 1, column 2: "o" is not expected here'],
  ['{"a":\n  tru}', 'Line 2, column 6: "}" is not expected here'],
])('%j goes wrong at its place', (text, expected) => {
  const parsed = parseJson(text);
  expect('mistake' in parsed && describeMistake(parsed.mistake)).toBe(expected);
});

test('what is JSON is parsed', () => {
  expect(parseJson('{"a": [1, null]}')).toEqual({ value: { a: [1, null] } });
});
