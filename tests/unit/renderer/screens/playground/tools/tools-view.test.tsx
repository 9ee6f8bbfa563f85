import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listTools, listToolVersions } from '../../../../../../shared/contract/tool-library.ts';
import { getActiveDraft, useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { useToasts } from '../../../../../../renderer/stores/toasts.ts';
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
  const strict = await screen.findByRole('listitem', { name: 'OpenAI (strict)' }, { timeout: 5000 });
  await waitFor(() => expect(strict.textContent).toContain('additionalProperties'), { timeout: 5000 });
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
  const strict = await screen.findByRole('listitem', { name: 'OpenAI (strict)' }, { timeout: 5000 });
  await waitFor(() => expect(strict.textContent).toContain('additionalProperties'), { timeout: 5000 });
  press('Fix for all providers');
  press('Apply fix');
  type('Description', 'Typed after the fix');
  const { toasts } = useToasts.getState();
  act(() => toasts.find(({ text }) => text.startsWith('Fixed'))?.action?.run());
  expect(tools()).toMatchObject([{ description: 'Typed after the fix' }]);
  expect((tools()[0] as { parameters: string }).parameters).not.toContain('additionalProperties');
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
