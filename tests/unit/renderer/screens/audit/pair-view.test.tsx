import { fireEvent, screen, within } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, expect, test } from 'vitest';
import type { NewRun } from '../../../../../electron/storage/run-rows.ts';
import { PairView } from '../../../../../renderer/screens/audit/replay/pair-view.tsx';
import type { ReplaySide } from '../../../../../shared/contract/audit-replay.ts';
import { type Message, textMessage } from '../../../../../shared/contract/messages.ts';
import { recordRun } from '../../../../support/audit-runs.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;
afterEach(() => opened.close());

function sideOf({ runId, conversationId }: NewRun, city: string): ReplaySide {
  return {
    runId,
    conversationId,
    status: 'Completed',
    aiSystem: 'OpenAi',
    model: 'gpt-4o',
    servedBy: 'OpenAi/gpt-4o',
    createdAt: '2026-11-20T09:00:00.000Z',
    renderedPrompt: 'As one text',
    content: '',
    toolCalls: [{ id: runId, name: 'weather', arguments: JSON.stringify({ city }) }],
    reasoning: null,
    finishReason: 'ToolCalls',
    error: null,
    warnings: [],
    usage: null,
    cost: null,
    firstTokenMs: null,
    totalMs: null,
  };
}

test('a pair shows its messages, its changed tools and its calls next to each other', async () => {
  const messages = (question: string): Message[] => [
    textMessage('user', 'Hello'),
    textMessage('assistant', 'Hi.'),
    textMessage('user', question),
  ];
  const tools = (description: string) => ({
    tools: [{ type: 'function', function: { name: 'weather', description } }],
  });
  let runs: NewRun[] = [];
  opened = await openWindow(<Pair />, {
    prepare: async (_, window) => {
      runs = await Promise.all(
        ['Old', 'New'].map((word) =>
          recordRun(window, {
            messages: messages(`${word} question`),
            configuration: tools(word),
            systemMessage: null,
          }),
        ),
      );
    },
  });
  function Pair() {
    const [original, replayed] = [sideOf(runs[0]!, 'Paris'), sideOf(runs[1]!, 'Rome')];
    return <PairView pair={{ position: 0, state: 'completed', failure: null, original, replayed }} isDifferenceShown />;
  }
  const input = within(screen.getByRole('region', { name: 'Input' }));
  await input.findByText('1 of 3 messages changed');
  expect(input.getByRole('table', { name: '3. User' }).querySelector('ins')?.textContent).toBe('New');
  expect(input.getByRole('table', { name: 'Tool weather' }).querySelector('del')?.textContent).toContain('Old');
  const before = within(screen.getByRole('region', { name: 'Answer before' }));
  before.getByText('Call of weather');
  expect(before.getByText('Paris').tagName).toBe('DEL');
  expect(within(screen.getByRole('region', { name: 'Answer after' })).getByText('Rome').tagName).toBe('INS');
});

test('another pair is shown from the beginning of its texts', async () => {
  opened = await openWindow(<Pairs />);
  function Pairs() {
    const [position, setPosition] = useState(0);
    const pair = { position, state: 'completed', failure: null, original: null, replayed: null } as const;
    return (
      <>
        <PairView pair={pair} isDifferenceShown />
        <button onClick={() => setPosition(1)}>Next</button>
      </>
    );
  }
  const names = ['Input', 'Answer before', 'Answer after'];
  const regions = () => names.map((name) => screen.getByRole('region', { name }));
  for (const region of regions()) region.scrollTop = 40;
  fireEvent.click(screen.getByRole('button', { name: 'Next' }));
  expect(regions().map(({ scrollTop }) => scrollTop)).toEqual([0, 0, 0]);
});
