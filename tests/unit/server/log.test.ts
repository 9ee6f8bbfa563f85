import { expect, test } from 'vitest';
import { addKnownSecret, describeFailure, redactLog } from '../../../electron/log.ts';

test('describes a failure with its stack', () => {
  const text = describeFailure(new Error('it broke'));
  expect(text).toMatch(/^Error: it broke\n\s+at /);
});

test("describes a thrown value that isn't an error, too", () => {
  expect(describeFailure('words')).toBe('words');
});

test.each([
  ['our keys', 'key ts_Zm9vYmFyYmF6Zm9vYmFyYmF6', 'key [secret]'],
  ['keys of OpenAI and Anthropic', 'sk-ant-api03-abcDEF_123 refused', '[secret] refused'],
  ['keys of Groq', 'gsk_abcdefghij1234', '[secret]'],
  ['keys of Google', 'AIzaSyA-1234567890abc', '[secret]'],
  ['authorization headers', 'authorization: Bearer abc.def/ghi+jkl=', 'authorization: [secret]'],
  ['keys in addresses', 'https://x.example/v1?key=abc&alt=sse', 'https://x.example/v1?key=[secret]&alt=sse'],
  ['tokens in addresses', 'http://127.0.0.1:1/?token=abc', 'http://127.0.0.1:1/?token=[secret]'],
])('removes %s', (_what, message, expected) => {
  expect(describeFailure(message)).toBe(expected);
});

test('removes every known key in every form, the longest first', () => {
  for (const key of ['zebra', 'zebra-crossing', 'a/b"c d€f']) addKnownSecret(key);
  const forms = ['zebra', 'zebra-crossing', 'a/b"c d€f', encodeURIComponent('a/b"c d€f'), 'a/b\\"c d€f'];
  const basic = Buffer.from('zebra-crossing').toString('base64');
  expect(redactLog([...forms, basic].join(' | '))).toBe(Array(6).fill('[secret]').join(' | '));
  expect(describeFailure(new Error('zebra broke')).split('\n')[0]).toBe('Error: [secret] broke');
});

test('keeps a key of one to three characters, because it would match ordinary words', () => {
  addKnownSecret('the');
  expect(redactLog('the end')).toBe('the end');
});
