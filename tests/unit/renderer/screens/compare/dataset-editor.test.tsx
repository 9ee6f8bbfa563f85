import { Blob, File } from 'node:buffer';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AppError } from '../../../../../shared/app-error.ts';
import {
  createDataset,
  createDatasetVersion,
  listDatasets,
  readDatasetRows,
} from '../../../../../shared/contract/datasets.ts';
import { CompareScreen } from '../../../../../renderer/screens/compare/compare-screen.tsx';
import { useGlobalKeys } from '../../../../../renderer/shell/global-keys.ts';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

function Part() {
  useGlobalKeys();
  return <CompareScreen />;
}

let opened: OpenWindow;
let id: string;

beforeEach(async () => {
  giveEverythingSize();
  // The service reads forms and files of Node, not those of jsdom.
  const form = await new Response(new URLSearchParams()).formData();
  vi.stubGlobal('FormData', form.constructor);
  vi.stubGlobal('File', File);
  vi.stubGlobal('Blob', Blob);
  vi.stubGlobal('matchMedia', () => ({ matches: true, addEventListener() {}, removeEventListener() {} }));
  useToasts.setState({ toasts: [] });
  opened = await openWindow(<Part />, {
    address: '/compare/datasets',
    prepare: async (client) => {
      const columns = [{ name: 'ticket', type: 'text' as const }];
      const dataset = await client.call(createDataset, {
        body: { name: 'Tickets', columns, rows: [{ ticket: 'late' }, { ticket: 'lost' }] },
      });
      id = dataset.id;
    },
  });
});
afterEach(async () => {
  await opened.close();
  vi.unstubAllGlobals();
  history.replaceState(null, '', '#');
});

const toasts = () => useToasts.getState().toasts.map(({ text }) => text);
const cell = (name: string) => screen.findByRole('gridcell', { name });
const cellEditor = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: /^ticket, row/ });
const client = () => opened.window.host.client;

async function rows(): Promise<unknown[]> {
  const { data } = await client().call(readDatasetRows, { parameters: { id } });
  return data.map(({ values }) => values['ticket']);
}

async function type(name: string, text: string): Promise<void> {
  fireEvent.doubleClick(await cell(name));
  fireEvent.change(cellEditor(), { target: { value: text } });
}

/** Holds uploads until the returned function is called, with an error to fail them. */
function holdUploads(): (error?: Error) => void {
  const upload = client().upload.bind(client());
  const gate = Promise.withResolvers<void>();
  vi.spyOn(client(), 'upload').mockImplementation((async (...parts: Parameters<typeof upload>) => {
    await gate.promise;
    return upload(...parts);
  }) as typeof upload);
  return (error) => (error ? gate.reject(error) : gate.resolve());
}

/** Leaves the dataset during a save. Returns what ends it, as `holdUploads` does. */
async function leaveDuringSave(): Promise<(error?: Error) => void> {
  opened.navigate(`/compare/datasets/${id}`);
  const release = holdUploads();
  await type('late', 'first');
  fireEvent.keyDown(cellEditor(), { key: 's', ctrlKey: true });
  await screen.findByRole('button', { name: 'Cancel' });
  opened.navigate('/compare/datasets');
  await screen.findByRole('link', { name: 'Tickets' });
  return release;
}

test('Ctrl+S in an open cell saves it too, and what is typed during the save is kept', async () => {
  opened.navigate(`/compare/datasets/${id}`);
  const release = holdUploads();
  await type('late', 'first');
  // The browser would save the page if nothing prevented it.
  expect(fireEvent.keyDown(cellEditor(), { key: 's', ctrlKey: true })).toBe(false);
  await screen.findByRole('button', { name: 'Cancel' });
  await type('lost', 'second');
  fireEvent.keyDown(cellEditor(), { key: 'Enter' });
  await type('first', 'third');
  release();
  await waitFor(() => expect(toasts()).toContain('Saved version 2.'));
  expect(await rows()).toEqual(['first', 'lost']);
  expect(await cell('second')).toBeDefined();
  expect(screen.getByText('Unsaved')).toBeDefined();
  expect(cellEditor().value).toBe('third');
  fireEvent.keyDown(cellEditor(), { key: 's', ctrlKey: true });
  await waitFor(() => expect(toasts()).toContain('Saved version 3.'));
  expect(await rows()).toEqual(['third', 'second']);
});

test('a save goes on when the dataset is left, and says how it ended', async () => {
  const release = await leaveDuringSave();
  release();
  await waitFor(() => expect(toasts()).toContain('Saved version 2 of "Tickets".'));
  expect(await rows()).toEqual(['first', 'lost']);
});

test('a save that fails after the dataset is left says that the edits are kept', async () => {
  const release = await leaveDuringSave();
  release(new AppError('conflict', 'The dataset has a later version.'));
  await waitFor(() =>
    expect(toasts()).toContain('Couldn\u0027t save "Tickets". The dataset has a later version. Your edits are kept.'),
  );
});

test('a version that is restored leaves a person on the page that they opened meanwhile', async () => {
  await client().call(createDatasetVersion, { parameters: { id }, body: { changes: { added: [{ ticket: 'new' }] } } });
  opened.navigate(`/compare/datasets/${id}/versions/1`);
  const restore = await screen.findByRole('button', { name: 'Restore version 1' });
  const release = holdUploads();
  fireEvent.click(restore);
  location.hash = '#/compare/datasets';
  opened.navigate('/compare/datasets');
  release();
  await waitFor(() => expect(toasts()).toContain('Restored version 1 as version 3.'));
  expect(opened.addresses.at(-1)).toBe('/compare/datasets');
  expect((await client().call(listDatasets)).data).toMatchObject([{ latestVersion: 3 }]);
});
