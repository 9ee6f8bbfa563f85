import { globSync, readFileSync } from 'node:fs';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CommandPalette } from '../../../../renderer/shell/command-palette.tsx';
import { addressOfLink, linkOf } from '../../../../renderer/shell/links.tsx';
import { closeOverlay, openOverlay } from '../../../../renderer/shell/overlay-state.ts';
import { screenCommands } from '../../../../renderer/shell/screen-commands.ts';
import { registerActions } from '../../../../renderer/stores/actions.ts';
import { useRecentObjects } from '../../../../renderer/stores/window.ts';
import { issueApiKey } from '../../../../shared/contract/api-keys.ts';
import { createAuditView } from '../../../../shared/contract/audit-views.ts';
import { openWindow, type OpenWindow, type OpenWindowOptions } from '../../../support/open-window.tsx';

let opened: OpenWindow;

beforeEach(() => useRecentObjects.setState({ objects: [] }));
afterEach(async () => {
  closeOverlay();
  await opened.close();
});

async function openPalette(options: OpenWindowOptions = {}): Promise<void> {
  opened = await openWindow(<CommandPalette />, { address: '/settings/data', ...options });
  openOverlay('palette');
  await screen.findByRole('combobox');
}

const type = (value: string) => fireEvent.change(screen.getByRole('combobox'), { target: { value } });
const choose = async (name: RegExp) => fireEvent.click(await screen.findByRole('option', { name }));
const frames = async (count: number) => {
  for (let frame = 0; frame < count; frame += 1) await new Promise(requestAnimationFrame);
};

test('a command of another screen opens the screen and runs there', async () => {
  await openPalette();
  type('create agent');
  await choose(/^Create agent/);
  await waitFor(() => expect(opened.addresses.at(-1)).toBe('/agents'));
  const run = vi.fn();
  const remove = registerActions('agents', [{ id: 'agents.new', title: 'Create agent', group: 'Agents', run }]);
  await waitFor(() => expect(run).toHaveBeenCalledOnce());
  remove();
});

test('a key press before the screen is ready cancels its command', async () => {
  await openPalette();
  type('create agent');
  await choose(/^Create agent/);
  await waitFor(() => expect(opened.addresses.at(-1)).toBe('/agents'));
  fireEvent.keyDown(document.body, { key: 'a' });
  const run = vi.fn();
  const remove = registerActions('agents', [{ id: 'agents.new', title: 'Create agent', group: 'Agents', run }]);
  await frames(3);
  expect(run).not.toHaveBeenCalled();
  remove();
});

test('every command of a screen is registered by a screen', () => {
  const sources = globSync('renderer/screens/**/*.{ts,tsx}').map((file) => readFileSync(file, 'utf8'));
  const unknown = screenCommands.filter(({ id }) => !sources.some((text) => text.includes(`id: '${id}'`)));
  expect(unknown).toEqual([]);
});

test('a command of another screen has the same title as on its screen', () => {
  const sources = globSync('renderer/screens/**/*.{ts,tsx}').map((file) => readFileSync(file, 'utf8'));
  // A title that depends on what is open isn't a plain string in the source.
  const titles = new Map(
    sources.flatMap((text) =>
      [...text.matchAll(/id: '([\w.-]+)',\s+title: '([^']+)'/g)].map(([, id, title]) => [id, title]),
    ),
  );
  const known = screenCommands.filter(({ id }) => titles.has(id));
  expect(known.length).toBeGreaterThan(15);
  expect(known.filter(({ id, title }) => titles.get(id) !== title)).toEqual([]);
});

test('an empty query shows recent objects first, without the open one', async () => {
  const { add } = useRecentObjects.getState();
  add({ address: '/agents/one', title: 'Support desk', screen: 'Agents' });
  add({ address: '/prompts/two', title: 'Summary', screen: 'Prompts' });
  add({ address: '/settings/data', title: 'Data and backup', screen: 'Settings' });
  await openPalette();
  const names = screen.getAllByRole('option').map((option) => option.textContent);
  expect(names.slice(0, 2)).toEqual(['SummaryPrompts', 'Support deskAgents']);
  await choose(/^Support desk/);
  await waitFor(() => expect(opened.addresses.at(-1)).toBe('/agents/one'));
});

test.each([
  ['saved views', 'refunds', /^Refunds of May/, /^\/audit\/text=refund/],
  ['API keys', 'nightly', /^nightly-report/, /^\/settings\/api-keys$/],
])('finds %s by name', async (_kind, words, name, address) => {
  await openPalette({
    prepare: (client) =>
      Promise.all([
        client.call(createAuditView, {
          body: {
            name: 'Refunds of May',
            filter: { text: 'refund' },
            sort: 'newest',
          },
        }),
        client.call(issueApiKey, { body: { name: 'nightly-report', scopes: ['run'] } }),
      ]),
  });
  type(words);
  await choose(name);
  await waitFor(() => expect(opened.addresses.at(-1)).toMatch(address));
});

test('opens a pasted link of this window and of the desktop app, and nothing else', async () => {
  const address = '/knowledge/sources/7c9e/10-20';
  expect([true, false].map((isDesktop) => addressOfLink(` ${linkOf(address, isDesktop)} `))).toEqual([
    address,
    address,
  ]);
  expect(['https://example.com/#/audit', 'touchstone://other/audit', 'refund'].map(addressOfLink)).toEqual([
    null,
    null,
    null,
  ]);
  await openPalette();
  type('touchstone://open/audit');
  await choose(/^Open link/);
  await waitFor(() => expect(opened.addresses.at(-1)).toBe('/audit'));
});

test('shows that there are no results', async () => {
  await openPalette();
  type('xyzzy plugh');
  expect(await screen.findByText('No results for “xyzzy plugh”')).toBeTruthy();
});
