import { expect, test } from 'vitest';
import { sentChatMessages } from '../../../electron/common/chat-messages.ts';
import { type Message, textMessage } from '../../../shared/contract/messages.ts';

const call = { type: 'toolCall', id: 'c1', name: 'find', arguments: '{}' } as const;
const result = { type: 'toolResult', toolCallId: 'c1', content: 'Gold', isError: false } as const;
const file = { type: 'file', fileId: 'f1', mediaType: 'image/png', name: 'a.png', bytes: 1 } as const;

test('messages have their roles, the calls of tools and their results', () => {
  const messages: Message[] = [
    textMessage('user', 'Find it'),
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [result] },
  ];
  expect(sentChatMessages('Be kind.', messages)).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Find it' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'Gold' },
  ]);
});

test('messages with a file are no text', () => {
  expect(sentChatMessages(null, [{ role: 'user', content: [file] }])).toBe(null);
});
