import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closeFolders } from '../../../../../../renderer/screens/prompts/folders/linked-folders.ts';
import { PromptsScreen } from '../../../../../../renderer/screens/prompts/prompts-screen.tsx';
import { listPromptFolders, readPromptFolder } from '../../../../../../shared/contract/prompt-folders.ts';
import { createPrompt, createPromptVersion, listPrompts } from '../../../../../../shared/contract/prompts.ts';
import { openWindow, type OpenWindow } from '../../../../../support/open-window.tsx';

let opened: OpenWindow;
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'touchstone-linked-'));
});
afterEach(async () => {
  closeFolders();
  await opened.close();
  rmSync(root, { recursive: true, force: true });
});

const press = async (name: string | RegExp) => fireEvent.click(await screen.findByRole('button', { name }));

async function link(): Promise<void> {
  opened = await openWindow(<PromptsScreen />);
  await press('Link a folder');
  fireEvent.change(await screen.findByLabelText('Folder on this device'), { target: { value: root } });
  fireEvent.change(screen.getByLabelText('Library folder'), { target: { value: 'Team' } });
  await press('Link folder');
  await screen.findByRole('region', { name: 'Team' });
}

/** Both change while the folder is away and nobody looks. */
async function changeBoth(name: string, { file, promptText }: { file: string; promptText: string }): Promise<void> {
  const { client } = opened.window.host;
  const [prompt] = (await client.call(listPrompts, { query: {} })).data;
  const away = `${root}-away`;
  renameSync(root, away);
  await client.call(createPromptVersion, { parameters: { id: prompt!.id }, body: { promptText } });
  writeFileSync(join(away, name), file);
  renameSync(away, root);
  const [folder] = (await client.call(listPromptFolders)).data;
  await client.call(readPromptFolder, { parameters: { id: folder!.id } });
}

test('a folder is linked, its prompts appear, and a conflict is compared and resolved', async () => {
  writeFileSync(join(root, 'greeting.prompt'), 'Hello\n');
  await link();
  await screen.findByText('1 file');
  await changeBoth('greeting.prompt', { file: 'Hello from the file\n', promptText: 'Hello from the prompt' });
  await press('Compare greeting.prompt');
  const sides = await screen.findByRole('region', { name: 'Library version and file' });
  await waitFor(() => expect(within(sides).getAllByRole('insertion').length).toBeGreaterThan(0));
  await press('Merge');
  fireEvent.change(screen.getByRole('textbox', { name: 'Prompt' }), { target: { value: 'Hello from both' } });
  await press('Save version and update file');
  await waitFor(() => expect(readFileSync(join(root, 'greeting.prompt'), 'utf8')).toBe('Hello from both\n'));
  await waitFor(() => expect(screen.queryByText('Both changed')).toBeNull());
});

test('unreadable files are listed with their reason, and unlinking a folder loses nothing', async () => {
  writeFileSync(join(root, 'broken.prompt'), '---\nname: [\n---\nx');
  writeFileSync(join(root, 'good.prompt'), 'Hello');
  await link();
  expect(await screen.findByText('Unreadable')).toBeTruthy();
  expect(screen.queryByRole('button', { name: /broken.prompt/ })).toBeNull();
  await press(/^Unlink Team/);
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Team' })).toBeNull());
  expect(readFileSync(join(root, 'good.prompt'), 'utf8')).toBe('Hello');
  expect((await opened.window.host.client.call(listPrompts, { query: {} })).data.map(({ name }) => name)).toEqual([
    'good',
  ]);
});

test('a prompt whose file could not be written offers no file to use', async () => {
  await link();
  const { client } = opened.window.host;
  await client.call(createPrompt, { body: { name: 'new', folder: 'Team', promptText: 'Act as {{role}}' } });
  await press('Resolve new.prompt');
  await screen.findByRole('button', { name: 'Write file' });
  expect(screen.queryByRole('button', { name: 'Use file' })).toBeNull();
});

test("rejects a path that isn't a folder, beside the field", async () => {
  opened = await openWindow(<PromptsScreen />);
  await press('Link a folder');
  fireEvent.change(await screen.findByLabelText('Folder on this device'), { target: { value: join(root, 'none') } });
  await press('Link folder');
  await screen.findByText(/Folder not found/);
});
