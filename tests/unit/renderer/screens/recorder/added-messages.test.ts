import { expect, test } from 'vitest';
import type { ConversationRun } from '../../../../../shared/contract/conversations.ts';
import { type Message, textMessage } from '../../../../../shared/contract/messages.ts';
import { addedMessages } from '../../../../../renderer/screens/recorder/added-messages.ts';

function call(messages: readonly Message[], content: string, toolCalls: ConversationRun['output']['toolCalls'] = []) {
  return { input: { messages }, output: { content, toolCalls } } as unknown as ConversationRun;
}

const [ask, reply, more] = [
  textMessage('user', 'Why?'),
  textMessage('assistant', 'Because'),
  textMessage('user', 'And?'),
];

test('a turn adds what is after the messages and the answer of the turn before', () => {
  expect(addedMessages(call([ask], 'Because'), undefined)).toEqual({ repeated: [], added: [ask], dropped: 0 });
  const next = call([ask, reply, more], 'Hm');
  expect(addedMessages(next, call([ask], ' Because\n'))).toEqual({ repeated: [ask, reply], added: [more], dropped: 0 });
});

test('an answer with tool calls is repeated, and its results are added', () => {
  const find = { id: 'call_1', name: 'find', arguments: '{"id":1}' };
  const called: Message = { role: 'assistant', content: [{ type: 'toolCall', ...find, arguments: '{ "id": 1 }' }] };
  const result: Message = {
    role: 'tool',
    content: [{ type: 'toolResult', toolCallId: 'call_1', content: 'found', isError: false }],
  };
  const after = addedMessages(call([ask, called, result], 'Done'), call([ask], '', [find]));
  expect(after).toEqual({ repeated: [ask, called], added: [result], dropped: 0 });
});

test('counts messages that a program left out, as when it shortens its history', () => {
  const before = call([ask, reply, more], 'Hm');
  expect(addedMessages(call([textMessage('user', 'Summary'), more], 'Ok'), before)).toEqual({
    repeated: [],
    added: [textMessage('user', 'Summary'), more],
    dropped: 3,
  });
});

test('a program that continues a response sends only new messages', () => {
  const { input, ...rest } = call([more], 'Hm');
  const next = { ...rest, input: { ...input, configuration: { previous_response_id: 'resp_1' } } };
  expect(addedMessages(next, call([ask], 'Because'))).toEqual({ repeated: [], added: [more], dropped: 0 });
  const whole = { ...next, input: { ...next.input, messages: [ask, reply, more] } };
  expect(addedMessages(whole, call([ask], 'Because'))).toEqual({ repeated: [ask, reply], added: [more], dropped: 0 });
});
