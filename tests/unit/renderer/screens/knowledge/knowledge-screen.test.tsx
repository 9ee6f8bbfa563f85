// @module-tag slow
import { File } from 'node:buffer';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KnowledgeScreen } from '../../../../../renderer/screens/knowledge/knowledge-screen.tsx';
import { useDeletions } from '../../../../../renderer/stores/deletions.ts';
import { dismissToast, useToasts } from '../../../../../renderer/stores/toasts.ts';
import { useUploads } from '../../../../../renderer/stores/knowledge.ts';
import {
  createDataspace,
  deleteDataspace,
  deleteSource,
  listDataspaces,
} from '../../../../../shared/contract/dataspaces.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

const handbook =
  '# Kestrel\n\nThe torque of the rotor bolts is 42 newton metres.\n\n# Hangar\n\nThe doors open at six.\n';

let opened: OpenWindow;

beforeEach(async () => {
  // The service reads forms of Node, not those of jsdom; Node hands out its own only as the body of an answer.
  const form = await new Response(new URLSearchParams()).formData();
  vi.stubGlobal('FormData', form.constructor);
  // Lists draw the rows that their height has room for, and jsdom gives nothing a height.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
  useUploads.setState({ uploads: [] });
  opened = await openWindow(<KnowledgeScreen />, {
    address: '/knowledge',
    prepare: (client) => client.call(createDataspace, { body: { name: 'Handbooks' } }),
  });
});
afterEach(async () => {
  await opened.close();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function addFiles(...files: readonly File[]): Promise<void> {
  fireEvent.change(await screen.findByLabelText('Files to add'), { target: { files } });
}

async function whenIndexed(name: string): Promise<HTMLElement> {
  return screen.findByRole('option', { name: new RegExp(`${name}.*1 passage`) });
}

test('a file is added, indexed, found by a query and shown with the passage at its position', async () => {
  await addFiles(new File([handbook], 'kestrel.md'));
  await whenIndexed('kestrel.md');
  fireEvent.change(screen.getByLabelText('Search Handbooks'), { target: { value: 'How tight are the rotor bolts?' } });
  fireEvent.submit(screen.getByRole('search'));
  const found = await screen.findByRole('list', { name: 'Passages, most relevant first' });
  fireEvent.click(within(found).getAllByRole('button')[0]!);
  const text = await screen.findByRole('document', { name: 'Text of the source' });
  await waitFor(() => expect(text.querySelector('mark')?.textContent).toContain('42 newton metres'));
  // One goes through what was found without asking again.
  expect([found.isConnected, screen.getByLabelText<HTMLInputElement>('Search Handbooks').value]).toEqual([
    true,
    'How tight are the rotor bolts?',
  ]);
  expect(opened.addresses.at(-1)).toMatch(/^\/knowledge\/sources\/[\da-f-]{36}\/\d+-\d+$/);
});

test('opens one matching passage after another if scrolling returns a promise', async () => {
  await addFiles(new File([handbook], 'kestrel.md'), new File([`${handbook} Tighten them twice.`], 'merlin.md'));
  await whenIndexed('kestrel.md');
  await whenIndexed('merlin.md');
  fireEvent.change(screen.getByLabelText('Search Handbooks'), { target: { value: 'rotor bolts' } });
  fireEvent.submit(screen.getByRole('search'));
  const found = await screen.findByRole('list', { name: 'Passages, most relevant first' });
  for (const name of ['kestrel.md', 'merlin.md', 'kestrel.md']) {
    fireEvent.click(within(found).getByRole('button', { name: new RegExp(name) }));
    const source = await screen.findByRole('region', { name });
    await waitFor(() => expect(source.querySelector('mark')?.textContent).toContain('42 newton metres'));
  }
});

test('a rejected file shows the reason, and the others are added', async () => {
  await addFiles(
    new File([], 'empty.txt'),
    new File(['\u007fELF\u0002\u0001\u0001\u0000\u0000\u0000'], 'program'),
    new File([handbook], 'kestrel.md'),
  );
  const waiting = await screen.findByRole('group', { name: 'Uploads' });
  await waitFor(() => expect(within(waiting).getByRole('status').textContent).toBe('2 files rejected'));
  expect(waiting.textContent).toContain('The file is empty.');
  expect(waiting.textContent).toContain('This looks like a program (ELF).');
  await whenIndexed('kestrel.md');
  fireEvent.click(within(waiting).getByRole('button', { name: 'Dismiss empty.txt' }));
  await waitFor(() => expect(waiting.textContent).not.toContain('The file is empty.'));
});

test('a deleted source leaves the list', async () => {
  await addFiles(new File([handbook], 'kestrel.md'));
  fireEvent.click(await whenIndexed('kestrel.md'));
  fireEvent.click(await screen.findByRole('button', { name: 'Delete source' }));
  expect(await screen.findByText('No sources yet')).toBeTruthy();
  expect(screen.queryByRole('option', { name: /kestrel/ })).toBeNull();
});

test('counts exclude a deleted source while it can be restored, and after its deletion', async () => {
  const counts = () => screen.getByRole('option', { name: /^Handbooks/ }).textContent;
  const toast = () => useToasts.getState().toasts.findLast(({ text }) => text === 'Deleted "kestrel.md".')!;
  await addFiles(new File([handbook], 'kestrel.md'), new File([handbook], 'merlin.md'));
  await whenIndexed('merlin.md');
  fireEvent.click(await whenIndexed('kestrel.md'));
  await waitFor(() => expect(counts()).toContain('2 sources, 2 passages'));
  fireEvent.click(await screen.findByRole('button', { name: 'Delete source' }));
  await waitFor(() => expect(counts()).toContain('1 source, 1 passage'));
  toast().action!.run();
  dismissToast(toast().id);
  await waitFor(() => expect(counts()).toContain('2 sources, 2 passages'));
  fireEvent.click(await screen.findByRole('option', { name: /^kestrel/ }));
  const address = opened.addresses.at(-1)!;
  fireEvent.click(await screen.findByRole('button', { name: 'Delete source' }));
  const shown = new Set<string | null>();
  const observer = new MutationObserver(() => shown.add(counts()));
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  dismissToast(toast().id);
  await expect.poll(() => useDeletions.getState().counted.size).toBe(0);
  await waitFor(() => expect(counts()).toContain('1 source, 1 passage'));
  observer.disconnect();
  // Nothing is subtracted twice, nor added again, on the way.
  expect([...shown].every((text) => text?.includes('1 source, 1 passage'))).toBe(true);
  // Its text isn't shown from the cache.
  opened.navigate(address);
  expect(await screen.findByText('Source not found')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Show all sources' }));
  expect(await screen.findByRole('option', { name: /^merlin/ })).toBeTruthy();
});

test('an open source that an API client deletes is no longer shown', async () => {
  await addFiles(new File([handbook], 'kestrel.md'));
  fireEvent.click(await whenIndexed('kestrel.md'));
  await screen.findByRole('region', { name: 'kestrel.md' });
  const id = /\/sources\/([\da-f-]{36})/.exec(opened.addresses.at(-1)!)![1]!;
  await opened.window.host.client.call(deleteSource, { parameters: { id } });
  expect(await screen.findByText('Source not found')).toBeTruthy();
});

test('creates a dataspace and opens it', async () => {
  fireEvent.click((await screen.findAllByRole('button', { name: 'Create dataspace' }))[0]!);
  fireEvent.change(screen.getByLabelText('Dataspace name'), { target: { value: 'Contracts' } });
  fireEvent.submit(screen.getByLabelText('Dataspace name').closest('form')!);
  expect(await screen.findByRole('option', { name: /^Contracts/, selected: true })).toBeTruthy();
  expect(await screen.findByText('No sources yet')).toBeTruthy();
});

test('adding files without a dataspace creates the one named Default', async () => {
  const { client } = opened.window.host;
  const [made] = (await client.call(listDataspaces)).data;
  await client.call(deleteDataspace, { parameters: { id: made!.id } });
  await screen.findByText('No dataspaces yet');
  await addFiles(new File([handbook], 'kestrel.md'));
  expect(await screen.findByRole('option', { name: /^Default/, selected: true })).toBeTruthy();
  await whenIndexed('kestrel.md');
});
