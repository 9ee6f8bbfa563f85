import { expect, test } from 'vitest';
import { findCacheBreak } from '../../../../../../renderer/screens/playground/rendered/cache-break.ts';
import { sentMessages, type SentMessage } from '../../../../../../renderer/components/sent-messages.ts';
import { textMessage } from '../../../../../../shared/contract/messages.ts';

const long = 'word '.repeat(1000);
const user = (text: string): SentMessage => ({ role: 'user', text });
const system = (text: string): SentMessage => ({ role: 'system', text });
const assistant = (text: string): SentMessage => ({ role: 'assistant', text });

test.each<[what: string, now: SentMessage[], before: SentMessage[], expected: [number, number] | null]>([
  ['in the middle of a text', [user(`${long}new end`)], [user(`${long}old end`)], [0, 5000]],
  ['where a text goes on', [user(`${long} more`)], [user(long)], [0, 5000]],
  ['in the second message', [system(long), user('new')], [system(long), user('old')], [1, 0]],
  ['where a message was added', [user(long), assistant('yes'), user('b')], [user(long), assistant('yes')], [2, 0]],
  ['where the role differs', [system(long), assistant('a')], [system(long), user('a')], [1, 0]],
  ['before half of a character', [user(`${long}\u{1F600}`)], [user(`${long}\u{1F601}`)], [0, 5000]],
  ['nowhere in the same prompt', [system(long), user('same')], [system(long), user('same')], null],
  ['nowhere in the beginning of the last run', [user(long)], [user(`${long} more`)], null],
  ['nowhere after a beginning that is too short to be cached', [user('short a')], [user('short b')], null],
  ['nowhere when the system message differs at once', [system('a'), user(long)], [system('b'), user(long)], null],
  ['nowhere in nothing', [user('')], [user(long)], null],
])('the cache breaks %s', (_what, now, before, expected) => {
  const found = findCacheBreak(now, before);
  expect(found && [found.message, found.offset]).toEqual(expected);
});

test('estimates the tokens of the common start over all messages', () => {
  expect(findCacheBreak([system(long), user('ab')], [system(long), user('ac')])).toEqual({
    message: 1,
    offset: 1,
    sharedTokens: 1251,
  });
});

test('compares 4 MB', () => {
  const text = 'x'.repeat(4 * 1024 * 1024);
  expect(findCacheBreak([user(`${text}a`)], [user(`${text}b`)])?.offset).toBe(text.length);
});

test('the system message comes first', () => {
  const messages = [textMessage('user', 'Hello')];
  expect(sentMessages('Be brief.', messages)).toEqual([system('Be brief.'), user('Hello')]);
  expect(sentMessages('', messages)).toEqual([user('Hello')]);
});
