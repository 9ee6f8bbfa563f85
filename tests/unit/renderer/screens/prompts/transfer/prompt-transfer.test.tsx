// @module-tag slow
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { implement } from '../../../../../../electron/api/api.ts';
import { createOpenedFiles } from '../../../../../../electron/shell/opened-files.ts';
import { PromptsScreen, PromptTransfer } from '../../../../../../renderer/screens/prompts/prompts-screen.tsx';
import { closeTransfer, openExport, openImport } from '../../../../../../renderer/screens/prompts/transfer/transfer.ts';
import { takeOpenedFiles } from '../../../../../../shared/contract/host-specific.ts';
import { importPrompts, maxRequestBytes } from '../../../../../../shared/contract/prompt-transfer.ts';
import { createPrompt, listPrompts, type Prompt } from '../../../../../../shared/contract/prompts.ts';
import { useToasts } from '../../../../../../renderer/stores/toasts.ts';
import { holdCalls, type HeldCalls } from '../../../../../support/hold-calls.ts';
import { openWindow, type OpenWindow } from '../../../../../support/open-window.tsx';

let opened: OpenWindow;
const saved: { name: string; content: Blob }[] = [];

beforeEach(() => {
  saved.length = 0;
  let blob: Blob;
  vi.stubGlobal(
    'URL',
    Object.assign(URL, {
      createObjectURL: (made: Blob) => {
        blob = made;
        return 'blob:made';
      },
      revokeObjectURL: () => {},
    }),
  );
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push({ name: this.download, content: blob });
  });
});
afterEach(async () => {
  closeTransfer();
  await opened.close();
});

async function stored(): Promise<Prompt[]> {
  return (await opened.window.host.client.call(listPrompts, { query: {} })).data;
}

const press = (name: string | RegExp) => fireEvent.click(screen.getByRole('button', { name }));

test('previews files and pasted text, and stores only the selected prompts', async () => {
  opened = await openWindow(<PromptTransfer prompts={[]} />);
  openImport();
  const messages = '[{"role": "system", "content": "You are {persona}"}, {"role": "user", "content": "Hi {name}"}]';
  const chat = `{"messages": ${messages}}`;
  const files = [
    new File(['---\nname: greeting\ntools: [a]\n---\nHello {{name}}'], 'greeting.prompt'),
    new File([new Uint8Array([0xff, 0xfe, 0x41, 0])], 'wrong.prompt'),
    new File([chat], 'chat.jsonl'),
  ];
  fireEvent.change(await screen.findByLabelText('Files'), { target: { files } });
  fireEvent.change(screen.getByLabelText('Or paste text'), {
    target: { value: 'Write about {topic}' },
  });
  press('Preview import');
  const report = await screen.findByRole('region', { name: 'Import preview' });
  expect(within(report).getByText(/Prompts can't contain tools/)).toBeTruthy();
  expect(within(report).getByText(/is encoded in UTF-16/)).toBeTruthy();
  expect(within(report).getByText(/Write about \{\{topic\}\}/)).toBeTruthy();
  expect(within(report).getAllByText(/Converted from single braces/)).toHaveLength(2);
  expect(await stored()).toEqual([]);
  for (const name of ['Pasted text', 'chat 1']) fireEvent.click(within(report).getByLabelText(name));
  press('Import 1 prompt');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(useToasts.getState().toasts.map(({ text }) => text)).toEqual(['Imported 1 prompt.']);
  const [only, ...others] = await stored();
  expect([only?.name, others, opened.addresses.at(-1)]).toEqual(['greeting', [], expect.stringContaining(only!.id)]);
});

test('previews files that were opened with Touchstone at once, also while the import is open', async () => {
  const openedFiles = createOpenedFiles();
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-opened-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  opened = await openWindow(<PromptTransfer prompts={[]} />, {
    capabilities: ['prompt-files'],
    handlers: [implement(takeOpenedFiles, () => openedFiles.take(maxRequestBytes))],
  });
  openedFiles.add([write('first.prompt', 'Hello {{name}}'), join(folder, 'missing.prompt')]);
  openImport();
  const report = await screen.findByRole('region', { name: 'Import preview' });
  expect(within(report).getByText(/Hello \{\{name\}\}/)).toBeTruthy();
  expect(screen.getByRole('alert').textContent).toBe(`Couldn't open "missing.prompt". The file doesn't exist.`);

  openedFiles.add([write('second.prompt', 'Bye {{name}}'), write('binary.prompt', Buffer.from([1, 0, 2, 3, 4, 5]))]);
  openImport();
  expect(await screen.findByText(/Bye \{\{name\}\}/)).toBeTruthy();
  expect(screen.getByText(/This isn't a text file/)).toBeTruthy();
  expect([screen.queryByText(/Hello/), screen.queryByRole('alert'), await stored()]).toEqual([null, null, []]);
  press('Import 1 prompt');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect((await stored()).map(({ name }) => name)).toEqual(['second']);
});

test('opening the import without an opened file keeps the pasted text', async () => {
  opened = await openWindow(<PromptTransfer prompts={[]} />, {
    capabilities: ['prompt-files'],
    handlers: [implement(takeOpenedFiles, () => ({ files: [], problems: [] }))],
  });
  openImport();
  const pasted = await screen.findByLabelText('Or paste text');
  fireEvent.change(pasted, { target: { value: 'Write about {topic}' } });
  openImport();
  await waitFor(() => expect(opened.window.requests.filter((each) => each.endsWith('opened-files'))).toHaveLength(2));
  expect((screen.getByLabelText('Or paste text') as HTMLTextAreaElement).value).toBe('Write about {topic}');
});

test('rejects files that are too large before they are read', async () => {
  opened = await openWindow(<PromptTransfer prompts={[]} />);
  openImport();
  const huge = new File(['x'], 'huge.prompt');
  Object.defineProperty(huge, 'size', { value: 200_000_000 });
  fireEvent.change(await screen.findByLabelText('Files'), { target: { files: [huge] } });
  expect((await screen.findByRole('alert')).textContent).toBe(
    'The files are too large (200.0 MB; the largest is huge.prompt). Import up to 20 MB at a time.',
  );
  expect(screen.getByRole('button', { name: 'Preview import' }).getAttribute('aria-disabled')).toBe('true');
});

test("exports prompts as files, and reports what a format can't express", async () => {
  const prompts: Prompt[] = [];
  const texts = { loop: '{{#each items}}{{this}}{{/each}}', plain: 'Hi {{name}}' };
  opened = await openWindow(<PromptTransfer prompts={prompts} />, {
    prepare: async (client) => {
      const made = Object.entries(texts).map(([name, promptText]) =>
        client.call(createPrompt, { body: { name, promptText } }),
      );
      prompts.push(...(await Promise.all(made)));
    },
  });
  openExport();
  fireEvent.change(await screen.findByLabelText('Format'), { target: { value: 'promptfoo' } });
  press('Export 2 prompts');
  expect((await screen.findByText(/has no exact equivalent in Nunjucks/)).textContent).toContain('loop');
  expect(saved.map(({ name }) => name)).toEqual(['prompts-promptfoo.zip']);
  fireEvent.click(screen.getByLabelText('loop'));
  fireEvent.change(screen.getByLabelText('Format'), { target: { value: 'dotprompt' } });
  press('Export 1 prompt');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect([saved[1]?.name, await saved[1]?.content.text()]).toEqual([
    'plain.prompt',
    '---\nname: plain\n---\nHi {{name}}\n',
  ]);
});

test('an empty library offers the import and shows its prompts', async () => {
  opened = await openWindow(<PromptsScreen />, { address: '/prompts' });
  fireEvent.click(await screen.findByRole('button', { name: 'Import prompts' }));
  fireEvent.change(await screen.findByLabelText('Or paste text'), { target: { value: 'Hello {{name}}' } });
  press('Preview import');
  fireEvent.click(await screen.findByRole('button', { name: 'Import 1 prompt' }));
  expect(await screen.findByRole('button', { name: 'Export prompts' })).toBeTruthy();
  expect(screen.queryByRole('dialog')).toBeNull();
});

/** Previews an import of one prompt, starts it and closes the dialog before it ends. */
async function importAndClose(): Promise<HeldCalls> {
  useToasts.setState({ toasts: [] });
  opened = await openWindow(<PromptTransfer prompts={[]} />);
  openImport();
  fireEvent.change(await screen.findByLabelText('Or paste text'), { target: { value: 'Hello {{name}}' } });
  press('Preview import');
  const start = await screen.findByRole('button', { name: 'Import 1 prompt' });
  const held = holdCalls(opened.window.host.client, importPrompts);
  fireEvent.click(start);
  fireEvent.keyDown(document.activeElement!, { key: 'Escape' });
  expect(screen.queryByRole('dialog')).toBeNull();
  return held;
}

test('an import whose dialog is closed ends with a toast, and closes and opens nothing', async () => {
  const held = await importAndClose();
  act(openImport);
  const pasted = await screen.findByLabelText('Or paste text');
  fireEvent.change(pasted, { target: { value: 'Another one' } });
  held.release();
  await waitFor(() => expect(useToasts.getState().toasts.map(({ text }) => text)).toEqual(['Imported 1 prompt.']));
  expect([(pasted as HTMLTextAreaElement).value, pasted.isConnected]).toEqual(['Another one', true]);
  const [only] = await stored();
  expect(opened.addresses.at(-1)).not.toContain(only!.id);
  act(() => useToasts.getState().toasts[0]!.action!.run());
  expect(opened.addresses.at(-1)).toContain(only!.id);
});

test('an import that fails after its dialog is closed says why', async () => {
  const held = await importAndClose();
  held.release(new Error('The disk is full.'));
  await waitFor(() => expect(useToasts.getState().toasts.map(({ text }) => text)).toEqual(['The disk is full.']));
});
