// @module-tag slow
import { act, fireEvent, renderHook, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTool, listTools, listToolVersions } from '../../../../../../shared/contract/tool-library.ts';
import { createAgent } from '../../../../../../shared/contract/agents.ts';
import { createPrompt, createPromptVersion } from '../../../../../../shared/contract/prompts.ts';
import { useGlobalKeys } from '../../../../../../renderer/shell/global-keys.ts';
import { draftSlot } from '../../../../../../renderer/stores/completion-runs.ts';
import { queueRun, useLiveRuns } from '../../../../../../renderer/stores/live-runs.ts';
import { getActiveDraft, useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { useToasts } from '../../../../../../renderer/stores/toasts.ts';
import { holdCalls } from '../../../../../support/hold-calls.ts';
import { openPlayground, type OpenPlayground } from '../../../../../support/open-playground.tsx';

let playground: OpenPlayground;
beforeEach(async () => {
  playground = await openPlayground();
});
afterEach(() => playground.close());

const row = () => within(screen.getByRole('region', { name: 'Tools' }));
const tools = () => getActiveDraft(useDrafts.getState()).tools ?? [];
const press = (name: string | RegExp) => act(() => void fireEvent.click(screen.getByRole('button', { name })));
const type = (name: string, value: string) =>
  fireEvent.change(screen.getByRole('textbox', { name }), { target: { value } });

async function openTools(): Promise<void> {
  act(() => void fireEvent.click(row().getByRole('button', { name: 'Add tool' })));
  await screen.findByRole('toolbar', { name: 'Tools' });
}

async function addTool(name: string): Promise<void> {
  await openTools();
  act(() => void fireEvent.click(screen.getAllByRole('button', { name: 'Add tool' })[0]!));
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name' }));
  type('Name', name);
}

test('a tool that is added is sent with the next run, with its choice', async () => {
  await addTool('find_order');
  type('Description', 'Finds it');
  press(/^Done/);
  expect(row().getByRole('button', { name: 'find_order' })).toBeTruthy();
  fireEvent.change(screen.getByRole('combobox', { name: 'tool_choice' }), { target: { value: 'function:find_order' } });
  playground.run('Hi');
  const completion = () => playground.provider.calls.findLast(({ path }) => path.endsWith('/chat/completions'));
  await waitFor(() => expect(completion()).toBeTruthy());
  expect(completion()?.body).toMatchObject({
    tools: [{ type: 'function', function: { name: 'find_order', description: 'Finds it' } }],
    tool_choice: { type: 'function', function: { name: 'find_order' } },
  });
});

test('a tool with a problem is kept but not run', async () => {
  await addTool('find order');
  expect(screen.getByText(/^The name must be 1 to 64 letters/, { selector: 'p' })).toBeTruthy();
  press(/^Done/);
  playground.run('Hi');
  expect(await screen.findByText(/^Tools: The name must be/)).toBeTruthy();
  act(() => void fireEvent.click(row().getByRole('button', { name: /The name must be/ })));
  await screen.findByRole('toolbar', { name: 'Tools' });
  press('Remove from prompt');
  expect(tools()).toEqual([]);
});

test('the form and the source change the same schema, and a fix can be undone', async () => {
  await addTool('find_order');
  press('Add');
  type('Description of parameter', 'On the invoice');
  fireEvent.change(screen.getByRole('combobox', { name: 'Type of parameter' }), { target: { value: 'date' } });
  const read = () => JSON.parse((tools()[0] as { parameters: string }).parameters) as Record<string, unknown>;
  expect(read()['properties']).toEqual({
    parameter: { type: 'string', format: 'date', description: 'On the invoice' },
  });
  act(() => void fireEvent.click(screen.getByRole('checkbox', { name: 'No other parameters' })));
  expect(read()['additionalProperties']).toBeUndefined();
  const strict = await screen.findByRole('listitem', { name: 'OpenAI (strict)' });
  await waitFor(() => expect(strict.textContent).toContain('additionalProperties'));
  press('Fix for all providers');
  expect(within(screen.getByRole('dialog')).getByText(/"additionalProperties": false/)).toBeTruthy();
  expect(read()['additionalProperties']).toBeUndefined();
  press('Apply fix');
  expect(read()['additionalProperties']).toBe(false);
});

test('tools are pasted, saved to the library, changed there and added from it', async () => {
  await openTools();
  act(() => void fireEvent.click(screen.getAllByRole('button', { name: 'Paste tools' })[0]!));
  const dialog = within(await screen.findByRole('dialog', { name: 'Paste tools' }));
  const tool = (name: string) => ({ name, description: 'D', inputSchema: { type: 'object', properties: {} } });
  fireEvent.change(dialog.getByRole('textbox'), {
    target: { value: JSON.stringify({ jsonrpc: '2.0', result: { tools: [tool('files/read'), tool('write')] } }) },
  });
  expect(await dialog.findByText(/renamed from files\/read/)).toBeTruthy();
  act(() => void fireEvent.click(dialog.getByRole('button', { name: 'Add 2 tools' })));
  expect(tools()).toMatchObject([{ name: 'files_read', description: 'D' }, { name: 'write' }]);

  press('Save to library');
  const library = within(await screen.findByRole('list', { name: 'Tools in the library' }));
  expect(await library.findByText('files_read')).toBeTruthy();
  type('Description', 'Reads a file');
  act(() => void fireEvent.click(screen.getByRole('radio', { name: 'Fixed' })));
  type('Result of every call', 'text');
  await act(async () => void fireEvent.click(await screen.findByRole('button', { name: 'Save version' })));
  expect(await library.findByText('Fixed')).toBeTruthy();
  const { client } = playground.opened.window.host;
  const [stored] = (await client.call(listTools, {})).data;
  const versions = await client.call(listToolVersions, { parameters: { id: stored!.id } });
  expect(versions.data).toMatchObject([
    { number: 2, description: 'Reads a file', mock: { kind: 'fixed', content: 'text', isError: false } },
    { number: 1, description: 'D', mock: null },
  ]);

  press('Remove from prompt');
  act(() => void fireEvent.click(library.getByText('files_read')));
  await waitFor(() =>
    expect(tools()).toMatchObject([
      { name: 'write' },
      { name: 'files_read', mock: { kind: 'fixed', content: 'text' }, source: { toolId: stored!.id } },
    ]),
  );
});

test('what is edited while a tool is saved stays, and so does what is edited after a fix that is undone', async () => {
  await addTool('find_order');
  press('Add');
  act(() => void fireEvent.click(screen.getByRole('button', { name: 'Save to library' })));
  type('Description', 'Typed meanwhile');
  await waitFor(() => expect(tools()).toMatchObject([{ source: { toolId: expect.any(String) as unknown } }]));
  expect(tools()).toMatchObject([{ description: 'Typed meanwhile' }]);
  act(() => void fireEvent.click(screen.getByRole('checkbox', { name: 'No other parameters' })));
  const strict = await screen.findByRole('listitem', { name: 'OpenAI (strict)' });
  await waitFor(() => expect(strict.textContent).toContain('additionalProperties'));
  press('Fix for all providers');
  press('Apply fix');
  type('Description', 'Typed after the fix');
  const { toasts } = useToasts.getState();
  act(() => toasts.find(({ text }) => text.startsWith('Fixed'))?.action?.run());
  expect(tools()).toMatchObject([{ description: 'Typed after the fix' }]);
  expect((tools()[0] as { parameters: string }).parameters).not.toContain('additionalProperties');
});

test('a removed tool comes back in its position, and what is edited since stays', async () => {
  await addTool('find_order');
  const list = within(screen.getByRole('navigation', { name: 'Tools' }));
  act(() => void fireEvent.click(list.getByRole('button', { name: 'Add tool' })));
  type('Name', 'cancel_order');
  act(() => void fireEvent.click(list.getByText('find_order')));
  press('Remove from prompt');
  type('Description', 'Typed since');
  act(() => useToasts.getState().toasts.at(-1)!.action!.run());
  expect(tools()).toMatchObject([{ name: 'find_order' }, { name: 'cancel_order', description: 'Typed since' }]);
});

test('Escape closes the tool editor first, and then takes the run out of the queue', async () => {
  renderHook(useGlobalKeys);
  const slot = draftSlot(useDrafts.getState().activeId);
  act(() => void queueRun(slot));
  await openTools();
  fireEvent.keyDown(document.body, { key: 'Escape' });
  await waitFor(() => expect(screen.queryByRole('toolbar', { name: 'Tools' })).toBeNull());
  expect(useLiveRuns.getState().queued.has(slot)).toBe(true);
  fireEvent.keyDown(document.body, { key: 'Escape' });
  expect(useLiveRuns.getState().queued.has(slot)).toBe(false);
});

test('a tool whose save ends after another one is opened has its source, so that it is not saved twice', async () => {
  await addTool('find_order');
  const held = holdCalls(playground.opened.window.host.client, createTool);
  press('Save to library');
  await waitFor(() => expect(held.count()).toBe(1));
  act(() => void fireEvent.click(screen.getAllByRole('button', { name: 'Add tool' })[0]!));
  expect(screen.queryByRole('button', { name: 'Save to library', busy: true })).toBeNull();
  held.release();
  await waitFor(() => expect(tools()[0]).toMatchObject({ source: { toolId: expect.any(String) as unknown } }));
  expect(useToasts.getState().toasts.at(-1)?.text).toBe('Saved version 1 of find_order to the library.');
});

test('a look-up returns the result of the first row that matches a tried call', async () => {
  await addTool('find_order');
  act(() => void fireEvent.click(screen.getByRole('radio', { name: 'Lookup' })));
  type('Arguments of row 1', '{"order_id": "NW-1"');
  expect(tools()).toMatchObject([{ mock: { entries: [{ arguments: {} }] } }]);
  type('Arguments of row 1', '{"order_id": "NW-1"}');
  type('Result of row 1', '{"paid": 12}');
  type('Try a call', '{"order_id": "NW-1", "page": 2}');
  expect(screen.getByText('{"paid": 12}', { selector: 'span' })).toBeTruthy();
  type('Try a call', '{"order_id": "NW-2"}');
  expect(screen.getAllByText('Entered by hand', { selector: '[role=status]' })).toHaveLength(1);
});

test('a tool of the library names the prompt versions and agents that have it', async () => {
  await addTool('find_order');
  expect(screen.queryByRole('region', { name: 'Used in' })).toBeNull();
  press('Save to library');
  const uses = within(await screen.findByRole('region', { name: 'Used in' }));
  expect(await uses.findByText('No saved prompt or agent has this tool.')).toBeTruthy();
  press(/^Done/);

  const { client } = playground.opened.window.host;
  const body = {
    promptText: 'Hi',
    configuration: { tools: [{ type: 'function' as const, function: { name: 'find_order', parameters: {} } }] },
  };
  const { id } = await client.call(createPrompt, { body: { ...body, name: 'Support reply' } });
  await client.call(createPromptVersion, { parameters: { id }, body });
  await client.call(createPromptVersion, { parameters: { id }, body: { promptText: 'No tool' } });
  const { configuration } = body;
  const target = { name: 'Desk', prompt: 'Hi', aiSystem: 'ServiceAi' as const, model: 'hl-gpt-4.1-mini' };
  await client.call(createAgent, { body: { ...target, configuration } });
  act(() => void fireEvent.click(row().getByRole('button', { name: 'find_order' })));
  const list = within(await screen.findByRole('list', { name: 'Prompts and agents' }));
  const link = await list.findByRole('link', { name: 'Support reply' });
  expect(link.getAttribute('href')).toContain(`/prompts/${id}/`);
  const items = list.getAllByRole('listitem').map(({ textContent }) => textContent);
  expect(items).toEqual(['DeskAgent', 'Support replyVersions 2, 1, not the latest']);
});

test('a lookup is filled from a file after a report, and shown in pages', async () => {
  await addTool('find_order');
  act(() => void fireEvent.click(screen.getByRole('radio', { name: 'Lookup' })));
  const choose = (text: string) =>
    act(
      () =>
        void fireEvent.change(screen.getByLabelText('File with rows of the lookup'), {
          target: { files: [new File([text], 'orders.csv')] },
        }),
    );
  choose('order_id\nNW-1');
  const report = () => screen.findByRole('dialog', { name: 'Import orders.csv' });
  expect(await within(await report()).findByText('The first row needs a column "result".')).toBeTruthy();
  const [close] = within(await report()).getAllByRole('button', { name: 'Close' });
  act(() => void fireEvent.click(close!));
  const lines = Array.from({ length: 60 }, (_, index) => `NW-${index},state ${index}`);
  choose(`order_id,result\n${lines.join('\n')}\n,all\n`);
  expect(await within(await report()).findByText('60 rows to add, 1 row skipped.')).toBeTruthy();
  expect(within(await report()).getByRole('list', { name: 'Skipped rows' }).textContent).toBe(
    'Row 62 has no arguments, so it would match every call',
  );
  press('Add 60 rows');
  expect((tools()[0] as { mock: { entries: unknown[] } }).mock.entries).toHaveLength(60);
  expect(screen.queryByRole('textbox', { name: 'Result of row 51' })).toBeNull();
  press('Next rows');
  expect(screen.getByText('Rows 51 to 60 of 60')).toBeTruthy();
  type('Result of row 60', 'changed');
  press('Add row');
  expect(screen.getByRole('textbox', { name: 'Result of row 61' })).toBeTruthy();
  expect((tools()[0] as { mock: { entries: unknown[] } }).mock.entries[59]).toMatchObject({ content: 'changed' });
});

test('says beside Run what the model lacks for the prompt, and greys it out', async () => {
  await addTool('find_order');
  press(/^Done/);
  const toolbar = within(screen.getByRole('toolbar', { name: 'Prompt' }));
  expect(toolbar.queryByRole('status')).toBeNull();
  act(() => {
    const { activeId, change } = useDrafts.getState();
    change(activeId, { aiSystem: 'OpenAi', model: 'gpt-3.5-turbo' });
  });
  const note = await toolbar.findByText(/gpt-3.5-turbo doesn't call tools$/i);
  act(() => void fireEvent.click(note));
  const picker = within(await screen.findByRole('dialog', { name: 'Choose model' }));
  expect(picker.getAllByText("Doesn't call tools").length).toBeGreaterThan(0);
});
