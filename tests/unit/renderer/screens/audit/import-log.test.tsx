import { Blob, File } from 'node:buffer';
import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { AuditScreen } from '../../../../../renderer/screens/audit/audit-screen.tsx';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;

beforeAll(async () => {
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
