import { expect, test } from 'vitest';
import {
  type ComparedMessage,
  hasSeveralMessages,
  messagesOfRun,
  messagesOfVersion,
  type MessagePair,
  pairMessages,
  pairParts,
} from '../../../../renderer/components/diff/message-pairs.ts';
import { fc } from '../../../support/fast-check.ts';

const version = (promptText: string, systemMessage: string | null = null) =>
  messagesOfVersion({ promptText, systemMessage })!;

const textOf = (message: ComparedMessage | null) => message && `${message.title}: ${message.parts[0]?.text.trim()}`;
const texts = (pairs: readonly MessagePair[]) =>
  pairs.map(({ before, after, isSame }) => [textOf(before), isSame ? '=' : textOf(after)]);

test('an added message is next to nothing, and a changed one next to the one most like it', () => {
  const before = version('{{role "user"}}What is {{a}}?{{role "model"}}A thing.{{role "user"}}And {{b}}?', 'Be kind.');
  const after = version(
    '{{role "user"}}Hello there{{role "model"}}Hi.{{role "user"}}What is a {{a}}?{{role "model"}}A thing.{{role "user"}}And {{b}}?',
    'Be very kind.',
  );
  expect(texts(pairMessages(before, after))).toEqual([
    ['System message: Be kind.', 'System message: Be very kind.'],
    [null, 'User: Hello there'],
    [null, 'Assistant: Hi.'],
    ['User: What is {{a}}?', 'User: What is a {{a}}?'],
    ['Assistant: A thing.', '='],
    ['User: And {{b}}?', '='],
  ]);
});

test('a system message that has moved into the template is the same message', () => {
  const pairs = pairMessages(version('Hi', 'Be kind.'), version('{{role "system"}}Be kind.{{role "user"}}Hi'));
  expect(texts(pairs)).toEqual([
    ['System message: Be kind.', '='],
    ['User: Hi', '='],
  ]);
});

test('a message whose role has changed is next to itself', () => {
  const [pair] = pairMessages(version('{{role "user"}}One'), version('{{role "system"}}One'));
  expect([pair?.before?.role, pair?.after?.role]).toEqual(['user', 'system']);
});

test('files, calls and results are parts, each next to the one of its name', () => {
  const file = { type: 'file', fileId: 'f'.repeat(64), mediaType: 'image/png', name: 'a.png', bytes: 2048 } as const;
  const call = { type: 'toolCall', id: '1', name: 'weather', arguments: '{"city":"Paris"}' } as const;
  const result = { type: 'toolResult', toolCallId: '1', content: 'Blue', isError: true } as const;
  const [user, assistant, tool] = messagesOfRun(null, [
    { role: 'user', content: [{ type: 'text', text: 'See ' }, file] },
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [result] },
  ]);
  expect(user?.parts.map(({ label }) => label)).toEqual(['', 'File a.png']);
  expect(assistant?.parts).toEqual([{ label: 'Call of weather', text: '{\n  "city": "Paris"\n}' }]);
  expect(tool?.parts).toEqual([{ label: 'Error result', text: 'Blue' }]);
  expect(pairParts(user!, { ...user!, parts: [{ label: '', text: 'Look' }] })).toEqual([
    { label: '', before: 'See ', after: 'Look' },
    { label: 'File a.png', before: expect.any(String), after: null },
  ]);
});

test('a template with roles inside of a block is compared as a text', () => {
  expect(messagesOfVersion({ promptText: '{{#if a}}{{role "user"}}Hi{{/if}}', systemMessage: null })).toBeNull();
  expect(hasSeveralMessages(version('Hi', 'Be kind.'))).toBe(false);
  expect(hasSeveralMessages(version('{{role "system"}}Hi'))).toBe(true);
});

const message = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  text: fc.constantFrom('a', 'b', 'a b', 'c d', ''),
});
const list = fc.array(message, { maxLength: 60 });

test('both conversations can be read from the pairs, whatever they are', () => {
  fc.assert(
    fc.property(list, list, (one, other) => {
      const [before, after] = [one, other].map((messages) =>
        messagesOfRun(
          null,
          messages.map(({ role, text }) => ({ role: role as 'user', content: [{ type: 'text', text }] })),
        ),
      ) as [ComparedMessage[], ComparedMessage[]];
      const pairs = pairMessages(before, after);
      expect(pairs.flatMap((pair) => pair.before ?? [])).toEqual(before);
      expect(pairs.flatMap((pair) => pair.after ?? [])).toEqual(after);
      for (const pair of pairs.filter(({ isSame }) => isSame)) expect(pair.before).toEqual(pair.after);
    }),
  );
});

test('thousands of long messages are paired', () => {
  const make = (word: string) =>
    messagesOfRun(
      null,
      Array.from({ length: 2_000 }, (_, index) => ({
        role: index % 2 ? 'assistant' : 'user',
        content: [{ type: 'text', text: `${word} ${index} `.repeat(100) }],
      })),
    );
  expect(pairMessages(make('one'), make('two'))).toHaveLength(2_000);
});
