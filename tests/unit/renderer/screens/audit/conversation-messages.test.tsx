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

test('a single message of the user is the input', () => {
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
