// @module-tag slow
import { Blob, File } from 'node:buffer';
import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AuditScreen } from '../../../../../renderer/screens/audit/audit-screen.tsx';
import { recordRun } from '../../../../support/audit-runs.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;

beforeEach(async () => {
  // jsdom's own forms and files can't be sent by Node's fetch.
  const form = await new Response(new URLSearchParams()).formData();
  vi.stubGlobal('FormData', form.constructor);
  vi.stubGlobal('File', File);
  vi.stubGlobal('Blob', Blob);
  globalThis.matchMedia ??= (media) => Object.assign(new EventTarget(), { media, matches: true }) as MediaQueryList;
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await opened.close();
});

const openImports = async () => {
  fireEvent.pointerDown(screen.getByRole('button', { name: 'More audit actions' }), { button: 0 });
  fireEvent.click(await screen.findByRole('menuitem', { name: /Import logs/ }));
  return within(await screen.findByRole('dialog', { name: 'Import logs' }));
};

/** Imports one call, and returns the card of the import. */
async function importCall(dialog: Pick<typeof screen, 'getByLabelText' | 'findByRole'>) {
  const log = new File(['prompt,Antwort,model\nWie?,So,gpt-4o\n'], 'calls.csv', { type: 'text/csv' });
  fireEvent.change(dialog.getByLabelText('Log'), { target: { files: [log] } });
  fireEvent.click(await dialog.findByRole('button', { name: 'Import 1 call' }));
  const card = within(await dialog.findByRole('article', { name: 'calls.csv' }));
  await card.findByText('Complete');
  return card;
}

test('shows what a log has before it is stored, imports it, and deletes it again', async () => {
  opened = await openWindow(<AuditScreen />, { address: '/audit' });
  fireEvent.click(await screen.findByRole('button', { name: 'Import logs' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Import logs' }));
  const log = new File(['prompt,Antwort,model\nWie?,So,gpt-4o\n,leer,gpt-4o\n'], 'calls.csv', { type: 'text/csv' });
  fireEvent.change(dialog.getByLabelText('Log'), { target: { files: [log] } });
  await dialog.findByText('Rows without a prompt', { exact: false });
  expect(dialog.getByRole('table', { name: 'First calls' }).textContent).toContain('Wie?');
  fireEvent.click(await dialog.findByRole('button', { name: 'Import 1 call' }));
  const card = within(await dialog.findByRole('article', { name: 'calls.csv' }));
  await card.findByText('Complete');
  expect(opened.window.storage.runs.count()).toBe(1);
  fireEvent.click(card.getByRole('button', { name: 'Delete calls.csv' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Delete import' }));
  await expect.poll(() => opened.window.storage.runs.count(), { timeout: 30_000 }).toBe(0);
  await expect.poll(() => screen.queryByRole('article', { name: 'calls.csv' }), { timeout: 30_000 }).toBeNull();
});

test('the first import shows its runs at once', async () => {
  opened = await openWindow(<AuditScreen />, { address: '/audit' });
  fireEvent.click(await screen.findByRole('button', { name: 'Import logs' }));
  const card = await importCall(within(await screen.findByRole('dialog', { name: 'Import logs' })));
  fireEvent.click(card.getByRole('button', { name: 'Show runs' }));
  await screen.findByText('1 conversation');
  expect(screen.queryByText('No runs yet')).toBeNull();
});

test('an import joins the open list, and leaves it when it is deleted', async () => {
  opened = await openWindow(<AuditScreen />, { address: '/audit', prepare: (_client, window) => recordRun(window) });
  await screen.findByText('1 conversation');
  const card = await importCall(await openImports());
  await screen.findByText('2 conversations');
  fireEvent.click(card.getByRole('button', { name: 'Delete calls.csv' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Delete import' }));
  await screen.findByText('1 conversation');
  const { requests } = opened.window;
  expect(requests.filter((request) => request.endsWith('/window/audit/imports/events'))).toHaveLength(1);
});
