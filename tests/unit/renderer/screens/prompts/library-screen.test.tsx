import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PromptsScreen } from '../../../../../renderer/screens/prompts/prompts-screen.tsx';
import { useDrafts } from '../../../../../renderer/stores/playground-drafts.ts';
import { everyPrompt, usePromptsView } from '../../../../../renderer/stores/prompts-view.ts';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { readPromptLabel, setPromptLabel } from '../../../../../shared/contract/prompt-labels.ts';
import {
  createPrompt,
  createPromptVersion,
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

interface Kept {
  prompt: Prompt;
  first: PromptVersion;
  second: PromptVersion;
}

/** The library with two prompts, one of them open. */
async function openLibrary(): Promise<Kept> {
  let kept: Kept;
  opened = await openWindow(<PromptsScreen />, {
    address: '/prompts',
    prepare: async (client) => {
      await client.call(createPrompt, { body: { name: 'Invoice', promptText: 'Read {{invoice}}', tags: ['a, b'] } });
      const body = { name: 'Reply', promptText: 'About a bicycle', folder: 'support/mail' };
      const prompt = await client.call(createPrompt, { body });
      const parameters = { id: prompt.id };
      const second = await client.call(createPromptVersion, { parameters, body: { promptText: 'About a tricycle' } });
      const { data } = await client.call(listPromptVersions, { parameters, query: {} });
      kept = { prompt, first: data[1]!, second };
    },
  });
  return kept!;
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

test('the service is asked for what is typed, and finds what only an older version says', async () => {
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

test('a label that was moved by someone else meanwhile stays where it is, and the reason is told', async () => {
  const { prompt, first } = await openLibrary();
  await openReply();
  const { client } = opened.window.host;
  const parameters = { id: prompt.id, label: 'production' };
  await client.call(setPromptLabel, { parameters, body: { promptVersionId: first.id } });
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

test('a label is taken off and put back, and the history tells of it', async () => {
  const { prompt, second } = await openLibrary();
  const parameters = { id: prompt.id, label: 'production' };
  await opened.window.host.client.call(setPromptLabel, { parameters, body: { promptVersionId: second.id } });
  await openReply();
  await press('Remove label production');
  await waitFor(() => expect(useToasts.getState().toasts[0]?.text).toBe('Removed label "production" from version 2.'));
  useToasts.getState().toasts[0]!.action!.run();
  await screen.findByRole('button', { name: 'Remove label production' });
});

test('edits that were not saved are marked and shown beside their version, and come back after they were discarded', async () => {
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

test('what is said of a variable is changed in a new version, the old one stays', async () => {
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
