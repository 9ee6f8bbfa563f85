import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { ConversationPart } from '../../../../../renderer/screens/audit/detail/run-parts.tsx';
import type { ConversationRun } from '../../../../../shared/contract/conversations.ts';
import { textMessage } from '../../../../../shared/contract/messages.ts';

function show(input: Partial<ConversationRun['input']>): string[] {
  const run = {
    status: 'Completed',
    input: { systemMessage: null, renderedPrompt: 'Hello', messages: [], ...input },
    output: { content: 'yes', reasoning: null, finishReason: 'Stop', error: null },
    usage: null,
    warnings: [],
    citations: [],
  } as unknown as ConversationRun;
  render(<ConversationPart run={run} />);
  return screen.getAllByRole('article').map((article) => article.textContent ?? '');
}

afterEach(cleanup);

test('a single user message is the input', () => {
  expect(show({ systemMessage: 'Be kind.', messages: [textMessage('user', 'Hello')] })).toEqual([
    'SystemBe kind.',
    'InputHello',
    'Answeryes',
  ]);
});

test('several messages have their roles, the system message first', () => {
  const messages = [textMessage('user', 'Hi'), textMessage('assistant', 'Hello!'), textMessage('user', 'Bye')];
  expect(show({ systemMessage: 'Be kind.', messages })).toEqual([
    'SystemBe kind.',
    'UserHi',
    'AssistantHello!',
    'UserBye',
    'Answeryes',
  ]);
});

test('a run without messages shows its rendered prompt', () => {
  expect(show({})).toEqual(['InputHello', 'Answeryes']);
});

test('a call has its result, and the message with the results is not repeated', () => {
  const call = { type: 'toolCall' as const, id: 'c1', name: 'weather', arguments: '{"city": "Paris"}' };
  const result = { type: 'toolResult' as const, toolCallId: 'c1', content: 'rain', isError: true };
  const messages = [
    textMessage('user', 'Hi'),
    { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'One moment.' }, call] },
    { role: 'tool' as const, content: [result] },
  ];
  expect(show({ messages })).toEqual([
    'UserHi',
    'AssistantOne moment.weatherError resultArguments{1 propertycity"Paris"Resultrain',
    'Answeryes',
  ]);
});
