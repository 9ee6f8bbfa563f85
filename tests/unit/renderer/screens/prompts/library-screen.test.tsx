// @module-tag slow
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PromptsScreen } from '../../../../../renderer/screens/prompts/prompts-screen.tsx';
import { promptAddress } from '../../../../../renderer/shell/addresses.ts';
import { emptySetup, useComparisonDrafts } from '../../../../../renderer/stores/comparison-drafts.ts';
import { useDrafts } from '../../../../../renderer/stores/playground-drafts.ts';
import { everyPrompt, usePromptsView } from '../../../../../renderer/stores/prompts.ts';
import { deleteWithUndo, useDeletions } from '../../../../../renderer/stores/deletions.ts';
import { dismissToast, useToasts } from '../../../../../renderer/stores/toasts.ts';
import { readPromptLabel, setPromptLabel } from '../../../../../shared/contract/prompt-library.ts';
import {
  createPrompt,
  createPromptVersion,
  deletePrompt,
  listPromptVersions,
  type Prompt,
  type PromptVersion,
} from '../../../../../shared/contract/prompts.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;
beforeEach(giveEverythingSize);
afterEach(async () => {
  vi.restoreAllMocks();
  usePromptsView.setState(everyPrompt);
  useToasts.setState({ toasts: [] });
  await opened.close();
});

interface Stored {
  prompt: Prompt;
  first: PromptVersion;
  second: PromptVersion;
}

/** The library with two prompts, one of them open. */
async function openLibrary(): Promise<Stored> {
  let stored: Stored;
  opened = await openWindow(<PromptsScreen />, {
    address: '/prompts',
    prepare: async (client) => {
      await client.call(createPrompt, { body: { name: 'Invoice', promptText: 'Read {{invoice}}', tags: ['a, b'] } });
      const body = { name: 'Reply', promptText: 'About a bicycle', folder: 'support/mail' };
      const prompt = await client.call(createPrompt, { body });
      const parameters = { id: prompt.id };
      const second = await client.call(createPromptVersion, { parameters, body: { promptText: 'About a tricycle' } });
      const { data } = await client.call(listPromptVersions, { parameters, query: {} });
      stored = { prompt, first: data[1]!, second };
    },
  });
  return stored!;
}

const names = () => within(screen.getByRole('listbox', { name: /^Prompts/ })).queryAllByRole('option');
const press = async (name: string | RegExp) => fireEvent.click(await screen.findByRole('button', { name }));

async function expectListed(...expected: RegExp[]): Promise<void> {
  await waitFor(() => {
    expect(names()).toHaveLength(expected.length);
    expected.forEach((name, index) => expect(names()[index]!.textContent).toMatch(name));
  });
}

async function openReply(): Promise<void> {
  await expectListed(/^Reply/, /^Invoice/);
  fireEvent.click(names()[0]!);
  await screen.findByRole('region', { name: 'Version 2' });
}

test('a search runs at the service, and finds text of older versions', async () => {
  await openLibrary();
  await expectListed(/^Reply/, /^Invoice/);
  fireEvent.change(screen.getByLabelText('Search prompts'), { target: { value: 'BICYCLE' } });
  await expectListed(/^Reply/);
  expect(opened.window.requests).toContain('GET /prompts?pageSize=100&search=BICYCLE');
  fireEvent.change(screen.getByLabelText('Search prompts'), { target: { value: '' } });
  await press(/^a, b\s*1$/);
  await expectListed(/^Invoice/);
  await press(/^support\s*1$/);
  await screen.findByText('No matching prompts');
  fireEvent.click(screen.getByText('Show all prompts'));
  await expectListed(/^Reply/, /^Invoice/);
});

test('counts exclude a deleted prompt while it can be restored, and after its deletion', async () => {
  const { prompt } = await openLibrary();
  await openReply();
  const nav = () => screen.getByRole('navigation', { name: 'Folders and tags' }).textContent;
  const row = (name: RegExp) => screen.queryByRole('button', { name });
  expect(row(/^All prompts\s*2$/)).toBeTruthy();
  const deletion = { id: prompt.id, counted: { prompt }, text: 'Deleted "Reply"' };
  const remove = vi.fn(() => opened.window.host.client.call(deletePrompt, { parameters: { id: prompt.id } }));
  deleteWithUndo({ ...deletion, carryOut: remove });
  await waitFor(() => expect(row(/^All prompts\s*1$/)).toBeTruthy());
  expect([row(/^support/), row(/^mail/), row(/^a, b\s*1$/) === null]).toEqual([null, null, false]);
  useToasts.getState().toasts.at(-1)!.action!.run();
  await waitFor(() => expect(row(/^mail\s*1$/)).toBeTruthy());
  fireEvent.click(names()[0]!);
  fireEvent.keyDown(await screen.findByRole('button', { name: 'More for Reply' }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: /^Delete/ }));
  await waitFor(() => expect(row(/^All prompts\s*1$/)).toBeTruthy());
  const shown = new Set<string | null>();
  const observer = new MutationObserver(() => shown.add(nav()));
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  dismissToast(useToasts.getState().toasts.at(-1)!.id);
  await expect.poll(() => useDeletions.getState().ids.size).toBe(0);
  await waitFor(() => expect(row(/^All prompts\s*1$/)).toBeTruthy());
  observer.disconnect();
  // Nothing is subtracted twice, nor added again, on the way.
  expect([...shown].filter((text) => !text?.includes('All prompts1'))).toEqual([]);
});

test('a version is added to the comparison that is being set up, whose other parts stay', async () => {
  const { prompt, second } = await openLibrary();
  useComparisonDrafts.getState().write(emptySetup({ name: 'Kept', repeats: '3' }));
  await openReply();
  await press('Add to comparison');
  await waitFor(() => expect(opened.addresses.at(-1)).toBe('/compare/new'));
  const [setup] = useComparisonDrafts.getState().drafts;
  expect(setup).toMatchObject({ name: 'Kept', repeats: '3' });
  expect(setup!.variants.map((variant) => variant.prompt)).toEqual([
    { kind: 'version', promptId: prompt.id, versionId: second.id },
  ]);
  expect(useToasts.getState().toasts[0]!.text).toBe('Added version 2 of "Reply" as variant A.');
  useComparisonDrafts.getState().write({ ...setup!, variants: Array.from({ length: 26 }, () => setup!.variants[0]!) });
  opened.navigate(promptAddress(prompt.id));
  await press('Add to comparison');
  await waitFor(() =>
    expect(useToasts.getState().toasts.at(-1)!.text).toMatch(/^A comparison has at most 26 variants/),
  );
  expect(useComparisonDrafts.getState().drafts[0]!.variants).toHaveLength(26);
  useComparisonDrafts.getState().remove(setup!.id);
});

test('a version with roles shows its messages under them', async () => {
  const { prompt } = await openLibrary();
  await openReply();
  const promptText = '{{role "system"}}Be kind.\n{{role "user"}}Hi {{name}}';
  const { client } = opened.window.host;
  await client.call(createPromptVersion, { parameters: { id: prompt.id }, body: { promptText } });
  const version = within(await screen.findByRole('region', { name: 'Version 3' }));
  expect((await version.findByRole('region', { name: 'System' })).textContent).toBe('SystemBe kind.');
  expect(version.getByRole('region', { name: 'User' }).textContent).toBe('UserHi {{name}}');
});

test('a label that someone else moved meanwhile stays there, with the reason', async () => {
  const { prompt, first } = await openLibrary();
  await openReply();
  const { client } = opened.window.host;
  const parameters = { id: prompt.id, label: 'production' };
  // The window isn't told, as if it read the label a moment earlier.
  opened.window.storage.prompts.setLabel(prompt.id, 'production', { promptVersionId: first.id });
  await press('Label');
  fireEvent.change(await screen.findByLabelText('Label'), { target: { value: 'production' } });
  await press('Set label');
  await screen.findByText(/now points to version 1/);
  expect(await client.call(readPromptLabel, { parameters })).toMatchObject({ promptVersionId: first.id });
  // Once the window knows where the label is, it is moved on purpose.
  await screen.findByRole('option', { name: /^Version 1.*production/ });
  await press('Set label');
  await screen.findByRole('button', { name: 'Remove label production' });
  expect(await client.call(readPromptLabel, { parameters })).toMatchObject({ versionNumber: 2 });
});

test('changes by API clients are shown, and a deleted prompt never from the cache', async () => {
  const { prompt, first } = await openLibrary();
  await openReply();
  const { client } = opened.window.host;
  await client.call(createPrompt, { body: { name: 'Greeting', promptText: 'Hello' } });
  await expectListed(/^Greeting/, /^Reply/, /^Invoice/);
  const parameters = { id: prompt.id, label: 'production' };
  await client.call(setPromptLabel, { parameters, body: { promptVersionId: first.id } });
  await screen.findByRole('option', { name: /^Version 1.*production/ });
  await client.call(deletePrompt, { parameters: { id: prompt.id } });
  expect(await screen.findByText('Prompt not found')).toBeTruthy();
  await expectListed(/^Greeting/, /^Invoice/);
});

test('a label is removed and restored, and the history has both', async () => {
  const { prompt, second } = await openLibrary();
  const parameters = { id: prompt.id, label: 'production' };
  await opened.window.host.client.call(setPromptLabel, { parameters, body: { promptVersionId: second.id } });
  await openReply();
  await press('Remove label production');
  await waitFor(() => expect(useToasts.getState().toasts[0]?.text).toBe('Removed label "production" from version 2.'));
  useToasts.getState().toasts[0]!.action!.run();
  await screen.findByRole('button', { name: 'Remove label production' });
});

test('unsaved edits are marked and shown beside their version, and return after Undo', async () => {
  const { prompt, second } = await openLibrary();
  const source = { promptId: prompt.id, versionId: second.id };
  const id = useDrafts.getState().create({
    name: 'Reply',
    promptText: 'About a unicycle',
    aiSystem: 'ServiceAi',
    model: 'hl-gpt-4o-mini',
    source,
  });
  await expectListed(/^Reply.*Draft/, /^Invoice/);
  fireEvent.click(names()[0]!);
  await screen.findByText(/^Edits to version 2 are unsaved/);
  await press('Show');
  const dialog = await screen.findByRole('dialog', { name: 'Unsaved edits to version 2' });
  expect(within(dialog).getByText('unicycle').tagName).toBe('INS');
  fireEvent.click(within(dialog).getAllByRole('button', { name: 'Close' })[0]!);
  await press('Discard');
  await waitFor(() => expect(screen.queryByText(/are unsaved/)).toBeNull());
  expect(useDrafts.getState().drafts.find((draft) => draft.id === id)?.promptText).toBe('About a tricycle');
  useToasts.getState().toasts.at(-1)!.action!.run();
  await screen.findByText(/^Edits to version 2 are unsaved/);
});

test('the description of a variable changes in a new version, the old one stays', async () => {
  await openLibrary();
  await expectListed(/^Reply/, /^Invoice/);
  fireEvent.click(names()[1]!);
  await press('Edit');
  const dialog = await screen.findByRole('dialog', { name: 'Variables of version 1' });
  fireEvent.change(within(dialog).getByLabelText('Default of invoice'), { target: { value: 'none' } });
  fireEvent.click(within(dialog).getByRole('button', { name: 'Save as a new version' }));
  const version = await screen.findByRole('region', { name: 'Version 2' });
  expect(within(version).getByRole('row', { name: 'invoice None none None' })).toBeTruthy();
});
