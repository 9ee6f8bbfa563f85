// @module-tag slow
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { EditorView } from '@codemirror/view';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allActions, useActionStore } from '../../../../../../renderer/stores/actions.ts';
import { getActiveDraft, useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { usePlaygroundView } from '../../../../../../renderer/stores/playground-view.ts';
import { openPlayground, type OpenPlayground } from '../../../../../support/open-playground.tsx';

const fewShot =
  '{{role "system"}}Be kind.\n{{role "user"}}Hi {{name}}\n{{role "model"}}Hello!\n{{role "user"}}{{question}}';

let playground: OpenPlayground;
beforeEach(async () => {
  playground = await openPlayground();
});
afterEach(() => playground.close());

const draft = () => getActiveDraft(useDrafts.getState());
const write = (promptText: string) => act(() => useDrafts.getState().change(draft().id, { promptText }));
const list = () => within(screen.getByRole('list', { name: 'Messages' }));
const editor = (name: string) => screen.getByRole('textbox', { name });
const viewOf = (name: string) => EditorView.findFromDOM(editor(name))!;
const texts = () =>
  list()
    .getAllByRole('textbox')
    .map((box) => `${box.getAttribute('aria-label')}: ${EditorView.findFromDOM(box)!.state.doc.toString()}`);

function type(name: string, text: string): void {
  const view = viewOf(name);
  act(() => view.dispatch({ ...view.state.replaceSelection(text), userEvent: 'input.type' }));
}

const press = (element: Element, key: string, more = {}) =>
  act(() => void fireEvent.keyDown(element, { key, ...more }));

async function choose(name: string, item: string): Promise<void> {
  press(screen.getByRole('button', { name: `${name}: role and actions` }), 'Enter');
  fireEvent.click(await screen.findByRole('menuitem', { name: item }));
}

test('a prompt without roles has one editor, and its first message turns it into messages', async () => {
  expect(screen.queryByRole('list', { name: 'Messages' })).toBeNull();
  expect(editor('Prompt, Handlebars').textContent).toBe('Hello');
  fireEvent.click(screen.getByRole('button', { name: /^Add message/ }));
  expect(texts()).toEqual(['Message 1, User: Hello', 'Message 2, Assistant: ']);
  await waitFor(() => expect(document.activeElement).toBe(editor('Message 2, Assistant')));
  type('Message 2, Assistant', 'Yes?');
  expect(draft().promptText).toBe('Hello\n{{~role "model"~}}\nYes?');
});

test('roles, order and number of messages change, and Ctrl+Z undoes each change', async () => {
  write(fewShot);
  const states = [fewShot];
  const then = async (edit: () => void | Promise<void>) => {
    await edit();
    expect(draft().promptText).not.toBe(states.at(-1));
    states.push(draft().promptText);
  };
  await then(() => choose('Message 3, Assistant', 'Move up'));
  expect(texts().map((text) => text.split(':')[0])).toEqual([
    'Message 1, System',
    'Message 2, Assistant',
    'Message 3, User',
    'Message 4, User',
  ]);
  await then(() => choose('Message 2, Assistant', 'System'));
  await then(() => act(() => screen.getByRole('button', { name: 'Remove Message 2, System' }).click()));
  await then(() => press(screen.getByRole('button', { name: 'Move Message 2, User' }), 'ArrowDown'));
  await then(() => type('Message 1, System', 'Always. '));
  await then(() => act(() => screen.getByRole('button', { name: 'Add example pair' }).click()));
  for (const state of states.toReversed().slice(1)) {
    press(list().getAllByRole('textbox')[0]!, 'z', { ctrlKey: true });
    expect(draft().promptText).toBe(state);
  }
  press(list().getAllByRole('textbox')[0]!, 'y', { ctrlKey: true });
  expect(draft().promptText).toBe(states[1]);
});

test('the text form is one click away, is stored, and has the same history', async () => {
  write(fewShot);
  type('Message 1, System', 'Always. ');
  const form = within(screen.getByRole('radiogroup', { name: 'Prompt view' }));
  fireEvent.click(form.getByText('Template'));
  expect(usePlaygroundView.getState().promptForm).toBe('text');
  press(editor('Prompt, Handlebars'), 'z', { ctrlKey: true });
  expect(draft().promptText).toBe(fewShot);
  fireEvent.click(form.getByText('Messages'));
  press(editor('Message 1, System'), 'y', { ctrlKey: true });
  expect(draft().promptText).toContain('Always.');
});

const insertAsText = (insertion: string, userEvent: string) => {
  const view = viewOf('Prompt, Handlebars');
  act(() => view.dispatch({ selection: { anchor: view.state.doc.length } }));
  act(() => view.dispatch({ ...view.state.replaceSelection(insertion), userEvent }));
};

test('a role that is typed stays text until a person asks for messages', () => {
  insertAsText('{{role "model"}}', 'input.type');
  expect(editor('Prompt, Handlebars').textContent).toBe('Hello{{role "model"}}');
  fireEvent.click(within(screen.getByRole('radiogroup', { name: 'Prompt view' })).getByText('Messages'));
  expect(texts()).toEqual(['Message 1, User: Hello', 'Message 2, Assistant: ']);
});

test('a pasted role makes messages, with the cursor after it', async () => {
  insertAsText('{{role "model"}}Yes', 'input.paste');
  expect(texts()).toEqual(['Message 1, User: Hello', 'Message 2, Assistant: Yes']);
  await waitFor(() => expect(document.activeElement).toBe(editor('Message 2, Assistant')));
  expect(viewOf('Message 2, Assistant').state.selection.main.head).toBe(3);
});

test('a folded message shows its first words, and opens where the cursor goes', async () => {
  write(`${fewShot}\n{{#each}}`);
  const fold = screen.getByRole('button', { name: 'Text of Message 4, User' });
  fireEvent.click(fold);
  expect(fold.getAttribute('aria-expanded')).toBe('false');
  expect(screen.queryByRole('textbox', { name: 'Message 4, User' })).toBeNull();
  const mistake = await within(screen.getByRole('list', { name: 'Template errors' })).findByRole('button');
  expect(mistake.textContent).toMatch(/^Message 4, User, 2:\d+ /);
  fireEvent.click(mistake);
  await waitFor(() => expect(document.activeElement).toBe(editor('Message 4, User')));
  expect(viewOf('Message 4, User').state.selection.main.head).toBeGreaterThanOrEqual('{{question}}\n'.length);
});

test('arrow keys move the cursor from one message to the next', () => {
  write(fewShot);
  const first = viewOf('Message 1, System');
  act(() => first.focus());
  act(() => first.dispatch({ selection: { anchor: first.state.doc.length } }));
  press(editor('Message 1, System'), 'ArrowDown');
  expect(document.activeElement).toBe(editor('Message 2, User'));
  press(editor('Message 2, User'), 'ArrowUp');
  expect(document.activeElement).toBe(editor('Message 1, System'));
  expect(first.state.selection.main.head).toBe(first.state.doc.length);
});

test('pairs of a user message and its answer are examples', () => {
  write(fewShot);
  const badges = list()
    .getAllByRole('listitem')
    .map((item) => within(item).queryByText('Example') !== null);
  expect(badges).toEqual([false, true, true, false]);
});

test('a role inside a loop is edited as text, with the reason', () => {
  write('{{#each turns}}{{role "user"}}{{this}}{{/each}}');
  expect(editor('Prompt, Handlebars')).not.toBeNull();
  expect(screen.getByText(/A role is set inside a block/)).not.toBeNull();
  expect(screen.queryByRole('button', { name: /^Add message/ })).toBeNull();
});

test('more messages than can be drawn at once are edited as text, with the reason', () => {
  write('{{role "user"}}a{{role "model"}}b'.repeat(251));
  expect(editor('Prompt, Handlebars')).not.toBeNull();
  expect(screen.getByText('More than 500 messages can be edited as text only.')).not.toBeNull();
});

test('the palette adds, moves and folds messages', () => {
  write(fewShot);
  const run = (id: string) =>
    act(() =>
      allActions(useActionStore.getState().sources)
        .find((action) => action.id === id)!
        .run(),
    );
  act(() => viewOf('Message 2, User').focus());
  run('playground.message.add');
  expect(draft().promptText).toContain('Hi {{name}}\n{{role "model"~}}\n');
  run('playground.message.up');
  expect(texts()[1]).toMatch(/^Message 2, Assistant/);
  run('playground.message.fold');
  expect(list().queryByRole('textbox')).toBeNull();
  run('playground.message.unfold');
  expect(list().getAllByRole('textbox')).toHaveLength(5);
});
