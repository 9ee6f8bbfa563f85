// @module-tag slow
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AuditScreen } from '../../../../../renderer/screens/audit/audit-screen.tsx';
import { useGlobalKeys } from '../../../../../renderer/shell/global-keys.ts';
import { clearSelection, useAuditSelection } from '../../../../../renderer/stores/audit.ts';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { AppError } from '../../../../../shared/app-error.ts';
import { searchAudit } from '../../../../../shared/contract/audit.ts';
import { loadAuditSamples } from '../../../../../shared/contract/audit-data.ts';
import { createReplay, deleteReplay, listReplays } from '../../../../../shared/contract/audit-replay.ts';
import { holdCalls, type HeldCalls } from '../../../../support/hold-calls.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

function Part() {
  useGlobalKeys();
  return <AuditScreen />;
}

let opened: OpenWindow;

beforeEach(async () => {
  giveEverythingSize();
  vi.stubGlobal('matchMedia', () => ({ matches: true, addEventListener() {}, removeEventListener() {} }));
  clearSelection();
  useToasts.setState({ toasts: [] });
  opened = await openWindow(<Part />, { address: '/audit', prepare: (client) => client.call(loadAuditSamples) });
});
afterEach(async () => {
  location.hash = '';
  await opened.close();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const client = () => opened.window.host.client;
const toasts = () => useToasts.getState().toasts;
const list = () => screen.findByRole('listbox', { name: 'Conversations' });
const selected = () => useAuditSelection.getState().rows.size;

/** Extends the selection to the end of the list, whose rows are held. */
async function extendToEnd(): Promise<HeldCalls> {
  await screen.findByText('1 of 300');
  const held = holdCalls(client(), searchAudit, ({ body }: { body: { offset?: number } }) => Boolean(body.offset));
  fireEvent.keyDown(await list(), { key: 'End', shiftKey: true });
  await screen.findByText(/loading more/);
  return held;
}

test('a range whose rows arrive late is selected, also when a person has gone to another row', async () => {
  const held = await extendToEnd();
  fireEvent.keyDown(await list(), { key: 'Home' });
  held.release();
  await screen.findByText('300 selected');
});

test('Escape while the rows of a range are read leaves nothing selected', async () => {
  const held = await extendToEnd();
  fireEvent.keyDown(document.body, { key: 'Escape' });
  await screen.findByText('300 conversations');
  fireEvent.keyDown(await list(), { key: 'Home' });
  fireEvent.keyDown(await list(), { key: 'x' });
  await screen.findByText('1 selected');
  held.release();
  await waitFor(() => expect(opened.queryClient.isFetching()).toBe(0));
  expect(selected()).toBe(1);
});

test('rows of a range are not selected in the list of another filter', async () => {
  const held = await extendToEnd();
  opened.navigate('/audit/status=Failed');
  await waitFor(() => expect(useAuditSelection.getState().list).toContain('Failed'));
  held.release();
  await waitFor(() => expect(opened.queryClient.isFetching()).toBe(0));
  expect(useAuditSelection.getState()).toMatchObject({ rows: new Map(), readings: 0 });
});

test('a range that could not be read says so', async () => {
  const held = await extendToEnd();
  held.release(new AppError('not_found', 'The list has expired.'));
  await waitFor(() =>
    expect(toasts().map(({ text }) => text)).toContain("Couldn't extend the selection. The list has expired."),
  );
  expect(useAuditSelection.getState()).toMatchObject({ rows: new Map(), readings: 0 });
});

test('a date that is found late moves nobody who has gone to another row, and takes no focus from a field', async () => {
  await screen.findByText('1 of 300');
  const held = holdCalls(client(), searchAudit, ({ body }: { body: { at?: string } }) => body.at !== undefined);
  const go = async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Go to a date' }));
    fireEvent.change(await screen.findByLabelText('Go to'), { target: { value: '2020-01-01' } });
    fireEvent.click(screen.getByRole('button', { name: 'Go' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Go' })).toBeNull());
  };
  await go();
  await waitFor(() => expect(held.count()).toBe(1));
  fireEvent.keyDown(await list(), { key: 'ArrowDown' });
  await screen.findByText('2 of 300');
  held.release();
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Go to a date' }).getAttribute('aria-busy')).toBeNull(),
  );
  screen.getByText('2 of 300');
  await go();
  await screen.findByText('300 of 300');
});

async function replayOne(): Promise<string> {
  const [row] = (await client().call(searchAudit, { body: { filter: {}, limit: 1 } })).rows;
  return (await client().call(createReplay, { body: { selection: { runIds: [row!.run.runId] }, target: {} } })).id;
}

test('deleting a replay leaves a person at the one that they opened meanwhile', async () => {
  const [first, second] = [await replayOne(), await replayOne()];
  opened.navigate(`/audit/replays/${first}`);
  location.hash = `#/audit/replays/${first}`;
  const held = holdCalls(client(), deleteReplay);
  fireEvent.click(await screen.findByRole('button', { name: /^Delete .* \(runs are kept\)/ }));
  location.hash = `#/audit/replays/${second}`;
  opened.navigate(`/audit/replays/${second}`);
  held.release();
  await waitFor(async () => expect((await client().call(listReplays)).data).toHaveLength(1));
  await waitFor(() => expect(opened.queryClient.isMutating()).toBe(0));
  await act(async () => {});
  expect(opened.addresses.at(-1)).toBe(`/audit/replays/${second}`);
});

test('a replay that starts after its dialog is closed says so instead of opening', async () => {
  await screen.findByRole('group', { name: /^Feedback on/ });
  const held = holdCalls(client(), createReplay);
  fireEvent.keyDown(document.body, { key: 'r' });
  const dialog = within(await screen.findByRole('dialog', { name: /^Replay/ }));
  fireEvent.click(dialog.getByRole('button', { name: 'Replay' }));
  fireEvent.click(dialog.getByRole('button', { name: 'Cancel' }));
  const before = opened.addresses.at(-1);
  held.release();
  await waitFor(() => expect(toasts()[0]?.text).toMatch(/^Started "/));
  expect(opened.addresses.at(-1)).toBe(before);
  act(() => toasts()[0]!.action!.run());
  expect(opened.addresses.at(-1)).toMatch(/^\/audit\/replays\//);
});
