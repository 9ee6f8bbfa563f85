// @module-tag slow
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { AuditScreen } from '../../../../../renderer/screens/audit/audit-screen.tsx';
import { searchAudit } from '../../../../../shared/contract/audit.ts';
import { loadAuditSamples, removeAuditSamples } from '../../../../../shared/contract/audit-data.ts';
import { listDatasets } from '../../../../../shared/contract/datasets.ts';
import { readConversation } from '../../../../../shared/contract/conversations.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;

async function openSamples(address = '/audit'): Promise<void> {
  opened = await openWindow(<AuditScreen />, { address });
  fireEvent.click(await screen.findByText('Load sample data'));
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
  test('explains that there are no runs and offers the sample data', async () => {
    opened = await openWindow(<AuditScreen />, { address: '/audit' });
    await screen.findByText('No runs yet');
    fireEvent.click(await screen.findByText('Load sample data'));
    await screen.findByText('300 conversations');
    await screen.findByText('1 of 300');
  });

  test('makes a dataset of the runs that match the filter', async () => {
    await openSamples('/audit/rated=no');
    await feedback();
    fireEvent.pointerDown(screen.getByRole('button', { name: 'More audit actions' }), { button: 0 });
    fireEvent.click(await screen.findByRole('menuitem', { name: 'Make a dataset' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Make a dataset' }));
    fireEvent.change(dialog.getByLabelText('Name'), { target: { value: 'Unrated' } });
    fireEvent.click(dialog.getByRole('button', { name: 'Make a dataset' }));
    await waitFor(() => expect(opened.addresses.at(-1)).toMatch(/^\/compare\/datasets\/[\da-f-]{36}$/));
    const [dataset] = (await opened.window.host.client.call(listDatasets)).data;
    expect(dataset).toMatchObject({ name: 'Unrated', version: 1 });
    expect(dataset?.columns).toContainEqual({ name: 'run answer', type: 'expected' });
    expect(dataset?.rowCount).toBeGreaterThan(0);
  });

  test('saves a score, a tag and a comment at once, and undoes the last', async () => {
    await openSamples('/audit/rated=no');
    const panel = await feedback();
    const { client } = opened.window.host;
    const [row] = (await conversationsOf({ hasFeedback: false })).rows;
    const stored = async () => {
      const { runs } = await client.call(readConversation, { parameters: { id: row?.conversationId ?? '' } });
      const run = runs.find(({ conversationRunId }) => conversationRunId === row?.run.runId);
      return run?.feedback && { ...run.feedback, updatedAt: undefined };
    };
    fireEvent.keyDown(document.body, { key: '-' });
    fireEvent.keyDown(document.body, { key: '6' });
    fireEvent.click((await within(panel).findAllByLabelText(/^Add tag/))[0] as HTMLElement);
    const field = within(panel).getByLabelText('Comment');
    fireEvent.change(field, { target: { value: 'Not what the terms say.' } });
    fireEvent.blur(field);
    await waitFor(async () =>
      expect(await stored()).toMatchObject({ score: -6, scoreText: 'Not what the terms say.' }),
    );
    expect((await stored())?.scoreTags).toMatch(/\w/);
    fireEvent.click(within(panel).getByText('Undo'));
    await waitFor(async () => expect(await stored()).toMatchObject({ score: -6, scoreText: null }));
    fireEvent.click(await within(panel).findByText('History'));
    const history = within(await screen.findByRole('dialog', { name: 'Feedback history' }));
    expect((await history.findAllByRole('listitem'))[1]!.textContent).toContain('Not what the terms say.');
    // The newest one, after Undo, has replaced it.
    expect((await history.findAllByRole('listitem'))[0]!.textContent).toMatch(/Replaces −6, .*Touchstone window/);
  });

  test('explains the invalid part of an address and how to clear it', async () => {
    await openSamples('/audit/text=zzzz+nothing+has+this&status=Lost');
    await screen.findByText(/Ignored invalid filters in this link: status\./);
    await screen.findByText('No matching conversations');
    fireEvent.click(screen.getByText('Clear all filters'));
    await screen.findByRole('button', { name: 'Copy conversation ID' });
    expect(opened.addresses.at(-1)).toBe('/audit/all');
    opened.navigate('/audit/all/01a20000-0000-7000-8000-000000002284');
    await screen.findByText('Conversation not found');
    expect(screen.queryByText('Retry')).toBeNull();
  });

  test('moves through the conversations of a filter and stays inside it', async () => {
    await openSamples('/audit/status=Failed');
    await feedback();
    const { rows } = await conversationsOf({ statuses: ['Failed'] });
    fireEvent.click(await screen.findByLabelText('Next'));
    await waitFor(() => expect(opened.addresses.at(-1)).toBe(`/audit/status=Failed/${rows[1]?.conversationId}`));
    await within(await detail()).findByText('Run failed');
  });

  test('loads sample data from its menu beside runs, and again after a removal', async () => {
    opened = await openWindow(<AuditScreen />, {
      address: '/audit',
      prepare: (client) => client.call(loadAuditSamples).then(() => client.call(removeAuditSamples)),
    });
    const choose = async (item: string) => {
      fireEvent.keyDown(await screen.findByLabelText('More audit actions'), { key: 'Enter' });
      const choice = await screen.findByRole('menuitem', { name: item });
      await waitFor(() => expect(choice.getAttribute('aria-disabled')).toBeNull());
      fireEvent.click(choice);
    };
    await choose('Load sample data');
    await screen.findByText(/^Sample data is loaded/);
    await choose('Remove sample data');
    await screen.findByText('No runs yet');
    await choose('Load sample data');
    await screen.findByText('300 conversations');
  });

  test('shows the first words of the run beside a name that other conversations have too', async () => {
    await openSamples();
    await feedback();
    const { rows } = await conversationsOf({});
    const named = rows.find(({ name, run }) => name !== run.title);
    const list = within(await screen.findByRole('listbox', { name: 'Conversations' }));
    const options = await list.findAllByRole('option');
    const index = rows.indexOf(named!);
    expect(options[index]?.textContent).toContain(`${named!.name}${named!.run.title}`);
  });

  test('returns from the replays to the same filter and the same selection', async () => {
    await openSamples('/audit/from=last-30-days&status=Failed');
    await feedback();
    const list = within(await screen.findByRole('listbox', { name: 'Conversations' }));
    fireEvent.click((await list.findAllByRole('option'))[0] as HTMLElement, { ctrlKey: true });
    await screen.findByText('1 selected');
    const before = opened.addresses.at(-1);
    fireEvent.click(screen.getByText('Replays'));
    fireEvent.click((await screen.findAllByText('Conversations'))[0] as HTMLElement);
    await screen.findByText('1 selected');
    expect(opened.addresses.at(-1)).toBe(before);
  });

  test('counts models under the other filters, and keeps the alternatives', async () => {
    await openSamples('/audit/status=Failed');
    await feedback();
    const models = within(await screen.findByRole('region', { name: 'Model' }));
    const read = () => models.getAllByRole('button').map((button) => button.textContent);
    const failed = (await conversationsOf({ statuses: ['Failed'] })).rows;
    await waitFor(() => expect(read().length).toBeGreaterThan(1));
    const shown = read();
    const counts = models.getAllByRole('button').map((button) => Number(button.lastElementChild?.textContent));
    const runs = counts.reduce((sum, count) => sum + count, 0);
    expect(runs).toBeLessThanOrEqual(failed.flatMap(({ matchedRunIds }) => matchedRunIds).length);
    fireEvent.click(models.getAllByRole('button')[0] as HTMLElement);
    await waitFor(() => expect(models.getAllByRole('button', { pressed: true })).toHaveLength(1));
    expect(read()).toEqual(shown);
  });
});
