import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { AuditScreen } from '../../../../../renderer/screens/audit/audit-screen.tsx';
import { searchAudit } from '../../../../../shared/contract/audit.ts';
import { readConversation } from '../../../../../shared/contract/conversations.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;

async function openSamples(address = '/audit'): Promise<void> {
  opened = await openWindow(<AuditScreen />, { address });
  fireEvent.click(await screen.findByText('Load the sample set'));
}

const detail = () => screen.findByRole('region', { name: 'Conversation' });
const feedback = () => screen.findByRole('group', { name: /^Feedback on/ });

// jsdom has no layout that a query could be about: the window is as wide as it can be.
beforeAll(() => {
  globalThis.matchMedia ??= (media) => Object.assign(new EventTarget(), { media, matches: true }) as MediaQueryList;
});
afterEach(() => opened.close());

async function conversationsOf(filter: object) {
  const { client } = opened.window.host;
  return client.call(searchAudit, { body: { filter, sort: 'newest' } });
}

describe('the audit', () => {
  test('without any run says so and offers the sample set', async () => {
    opened = await openWindow(<AuditScreen />, { address: '/audit' });
    await screen.findByText('No runs yet');
    fireEvent.click(await screen.findByText('Load the sample set'));
    await screen.findByText('300 conversations');
    await screen.findByText('1 of 300');
  });

  test('keeps a score, a tag and a text at once, each over the others, and takes the last back', async () => {
    await openSamples('/audit/rated=no');
    const panel = await feedback();
    const { client } = opened.window.host;
    const [row] = (await conversationsOf({ hasFeedback: false })).rows;
    const kept = async () => {
      const { runs } = await client.call(readConversation, { parameters: { id: row?.conversationId ?? '' } });
      const run = runs.find(({ conversationRunId }) => conversationRunId === row?.run.runId);
      return run?.feedback && { ...run.feedback, updatedAt: undefined };
    };
    fireEvent.keyDown(document.body, { key: '-' });
    fireEvent.keyDown(document.body, { key: '6' });
    fireEvent.click((await within(panel).findAllByLabelText(/^Add the tag/))[0] as HTMLElement);
    const field = within(panel).getByLabelText('Text of the feedback');
    fireEvent.change(field, { target: { value: 'Not what the terms say.' } });
    fireEvent.blur(field);
    await waitFor(async () => expect(await kept()).toMatchObject({ score: -6, scoreText: 'Not what the terms say.' }));
    expect((await kept())?.scoreTags).toMatch(/\w/);
    fireEvent.click(within(panel).getByText('Undo'));
    await waitFor(async () => expect(await kept()).toMatchObject({ score: -6, scoreText: null }));
  });

  test('shows why an address is only half of what it asks, and what clears it', async () => {
    await openSamples('/audit/text=zzzz+nothing+has+this&status=Lost');
    await screen.findByText(/left out: statuses/);
    await screen.findByText('No conversation matches');
    fireEvent.click(screen.getByText('Clear all filters'));
    await detail();
    expect(opened.addresses.at(-1)).toBe('/audit/all');
  });

  test('goes through the conversations of a filter and stays inside it', async () => {
    await openSamples('/audit/status=Failed');
    await feedback();
    const { rows } = await conversationsOf({ statuses: ['Failed'] });
    fireEvent.click(await screen.findByLabelText('Next'));
    await waitFor(() => expect(opened.addresses.at(-1)).toBe(`/audit/status=Failed/${rows[1]?.conversationId}`));
    await within(await detail()).findByText('The run failed');
  });
});
