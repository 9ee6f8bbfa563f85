import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { getActiveDraft, useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { openPlayground, type OpenPlayground } from '../../../../../support/open-playground.tsx';

let playground: OpenPlayground;
beforeEach(async () => {
  playground = await openPlayground();
});
afterEach(() => playground.close());

const row = () => within(screen.getByRole('region', { name: 'Tools' }));
const draft = () => getActiveDraft(useDrafts.getState());

test('a tool that is added is sent with the next run, with its choice', async () => {
  act(() => void fireEvent.click(row().getByRole('button', { name: 'Add tool' })));
  const dialog = within(await screen.findByRole('dialog', { name: 'Tool' }));
  expect(dialog.getByRole('status').textContent).toBe('Enter a name');
  fireEvent.change(dialog.getByRole('textbox', { name: 'Name' }), { target: { value: 'find_order' } });
  fireEvent.change(dialog.getByRole('textbox', { name: 'Description' }), { target: { value: 'Finds it' } });
  act(() => void fireEvent.click(dialog.getByRole('button', { name: 'Done' })));
  fireEvent.change(screen.getByRole('combobox', { name: 'tool_choice' }), { target: { value: 'function:find_order' } });
  playground.run('Hi');
  await waitFor(() =>
    expect(playground.provider.calls.some(({ path }) => path.endsWith('/chat/completions'))).toBe(true),
  );
  const { body } = playground.provider.calls.findLast(({ path }) => path.endsWith('/chat/completions'))!;
  expect(body).toMatchObject({
    tools: [{ type: 'function', function: { name: 'find_order', description: 'Finds it' } }],
    tool_choice: { type: 'function', function: { name: 'find_order' } },
  });
});

test('a tool with a problem keeps its text and is not run', async () => {
  act(() => void fireEvent.click(row().getByRole('button', { name: 'Add tool' })));
  const dialog = within(await screen.findByRole('dialog', { name: 'Tool' }));
  fireEvent.change(dialog.getByRole('textbox', { name: 'Name' }), { target: { value: 'a' } });
  fireEvent.change(dialog.getByRole('textbox', { name: 'JSON schema' }), { target: { value: '{"type": ' } });
  act(() => void fireEvent.click(dialog.getByRole('button', { name: 'Done' })));
  playground.run('Hi');
  expect(await screen.findByText(/^Tools: Invalid JSON at line 1/)).toBeTruthy();
  expect(draft().tools).toMatchObject([{ parameters: '{"type": ' }]);
  act(() => void fireEvent.click(row().getByRole('button', { name: /Invalid JSON/ })));
  act(() => void fireEvent.click(screen.getByRole('button', { name: 'Remove tool' })));
  expect(draft().tools).toEqual([]);
});
