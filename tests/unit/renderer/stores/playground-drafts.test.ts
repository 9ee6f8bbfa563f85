import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rememberModel, useModelChoices } from '../../../../renderer/stores/model-choices.ts';
import {
  exampleDraft,
  maxDrafts,
  promptEdit,
  applyOtherWindowChanges,
  getActiveDraft,
  useDrafts,
} from '../../../../renderer/stores/playground-drafts.ts';

const first = useDrafts.getInitialState();
beforeEach(() => {
  useDrafts.setState(first, true);
  useModelChoices.setState({ recent: [], favourites: [] });
});

afterEach(() => {
  vi.useRealTimers();
});

const names = () => useDrafts.getState().drafts.map(({ name }) => name);
const shown = (expected: string) => useDrafts.getState().drafts.find(({ name }) => name === expected)!;
const active = () => useDrafts.getState().drafts.find(({ id }) => id === useDrafts.getState().activeId);

test('a first start opens the filled-in example on the on-device model', () => {
  expect(active()).toMatchObject({ ...exampleDraft, aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini' });
});

test('a new draft is on top, open and has a unique name', () => {
  const { create } = useDrafts.getState();
  create();
  create();
  expect(names()).toEqual(['Untitled prompt 2', 'Untitled prompt', 'Answer from a passage']);
  expect(active()?.name).toBe('Untitled prompt 2');
});

test('a new draft has the last used model', () => {
  rememberModel({ aiSystem: 'OpenAi', name: 'gpt-old' });
  rememberModel({ aiSystem: 'Groq', name: 'groq-fast' });
  const id = useDrafts.getState().create();
  expect(active()).toMatchObject({ aiSystem: 'Groq', model: 'groq-fast' });
  expect(useDrafts.getState().newId).toBe(id);
});

test('a copy has the contents but neither the runs nor the example mark', () => {
  const { activeId, change, duplicate } = useDrafts.getState();
  change(activeId, { shownRunId: 'run', promptText: 'Changed' });
  duplicate(activeId);
  expect(active()).toMatchObject({
    name: 'Answer from a passage, copy',
    promptText: 'Changed',
    isExample: false,
    shownRunId: null,
  });
});

test('a deleted draft returns to its position', () => {
  const { activeId, create, remove, restore } = useDrafts.getState();
  create({ name: 'Second' });
  const deleted = remove(activeId);
  expect(names()).toEqual(['Second']);
  if (deleted) restore(deleted);
  expect(names()).toEqual(['Second', 'Answer from a passage']);
  expect(active()?.id).toBe(activeId);
});

test('there is always a draft', () => {
  const { activeId, remove } = useDrafts.getState();
  remove(activeId);
  expect(names()).toEqual(['Untitled prompt']);
  expect(active()?.promptText).toBe('');
});

test('adds a number to a used name', () => {
  const { activeId, create, rename } = useDrafts.getState();
  const other = create({ name: 'Other' });
  rename(activeId, 'Other');
  rename(other, 'Other');
  expect(names()).toEqual(['Other', 'Other 2']);
});

test('the oldest drafts are removed first, never the open one', () => {
  const { activeId, activate, create } = useDrafts.getState();
  for (let count = 0; count < maxDrafts + 5; count += 1) create({ name: `Draft ${count}` });
  expect(names().length).toBe(maxDrafts);
  activate(activeId);
  expect(useDrafts.getState().activeId).not.toBe(activeId);
});

test('applies what another window wrote, unless this one has something newer', () => {
  const { activeId, create } = useDrafts.getState();
  create({ name: 'Second', promptText: 'Newer here' });
  const [second, example] = useDrafts.getState().drafts as [ReturnType<typeof shown>, ReturnType<typeof shown>];
  useDrafts.getState().change(activeId, { shownRunId: 'run of this window' });
  const elsewhere = {
    changed: [
      { ...example, promptText: 'Written there', shownRunId: 'run of that window', updatedAt: Date.now() + 1 },
      { ...second, promptText: 'Older there', updatedAt: second.updatedAt - 1 },
      { ...second, id: 'third', name: 'Third' },
    ],
    removedIds: [],
  };
  applyOtherWindowChanges(elsewhere);
  expect(names()).toEqual(['Third', 'Second', 'Answer from a passage']);
  expect(shown('Answer from a passage')).toMatchObject({
    promptText: 'Written there',
    shownRunId: 'run of this window',
  });
  expect(shown('Second').promptText).toBe('Newer here');
  applyOtherWindowChanges({ changed: [], removedIds: [second.id] });
  expect(names()).toEqual(['Third', 'Answer from a passage']);
});

test('a window that found no drafts opens the first one of another window, unless it has been used', () => {
  const [example] = useDrafts.getState().drafts;
  const other = { ...example!, id: 'other', name: 'Written there', isExample: false };
  applyOtherWindowChanges({ changed: [other], removedIds: [] });
  expect([names(), active()?.name]).toEqual([['Written there'], 'Written there']);

  useDrafts.setState(first, true);
  useDrafts.getState().change(example!.id, { promptText: 'Written here' });
  applyOtherWindowChanges({ changed: [other], removedIds: [] });
  expect([names(), active()?.promptText]).toEqual([['Written there', 'Answer from a passage'], 'Written here']);
});

test('an echo of what this window wrote changes nothing', () => {
  const before = useDrafts.getState();
  const changed = before.drafts.map((draft) => ({ ...draft, updatedAt: draft.updatedAt + 1 }));
  expect(applyOtherWindowChanges({ changed, removedIds: [] })).toEqual([]);
  expect(useDrafts.getState()).toBe(before);
});

test("a person's own prompt in place of the example's has neither its parameters nor its name", () => {
  expect(promptEdit(exampleDraft, 'Write a poem.\n\nOn {{thing}}.')).toEqual({
    promptText: 'Write a poem.\n\nOn {{thing}}.',
    isExample: false,
    parameters: {},
    name: 'Untitled prompt',
  });
  expect(promptEdit({ isExample: true, name: 'Poems' }, 'Write a poem.')).not.toHaveProperty('name');
});

test('an edited example keeps its parameters, as does any other prompt', () => {
  const edited = exampleDraft.promptText.replace('short sentence', 'long sentence');
  expect([
    promptEdit(exampleDraft, edited),
    promptEdit({ isExample: false, name: exampleDraft.name }, 'Write a poem.'),
  ]).toEqual([
    { promptText: edited, isExample: false },
    { promptText: 'Write a poem.', isExample: false },
  ]);
});

test('a run of another window does not put back the text that this one has changed', () => {
  vi.useFakeTimers({ now: 1_000 });
  const { create, change } = useDrafts.getState();
  const column = { id: 'column', aiSystem: 'OpenAi', model: 'gpt-test', isGrounded: true, runId: null } as const;
  const id = create({ promptText: 'Old text', compared: [column] });
  const both = useDrafts.getState();
  // The other window: its run starts before it has the text of this one.
  vi.setSystemTime(3_000);
  change(id, { shownRunId: 'run' });
  change(id, { compared: [{ ...column, runId: 'compared' }] });
  const elsewhere = getActiveDraft(useDrafts.getState());
  useDrafts.setState(both, true);
  vi.setSystemTime(2_000);
  change(id, { promptText: 'New text' });
  expect(applyOtherWindowChanges({ changed: [elsewhere], removedIds: [] })).toEqual([]);
  expect(active()?.promptText).toBe('New text');
  change(id, { compared: [{ ...column, model: 'gpt-other' }] });
  expect(active()?.updatedAt).toBe(2_000);
});

test('the last draft that another window deletes leaves one empty draft in both', () => {
  const { activeId, change } = useDrafts.getState();
  change(activeId, { promptText: 'Only one' });
  const empty = { ...active()!, id: 'empty', name: 'Untitled prompt', promptText: '' };
  applyOtherWindowChanges({ changed: [empty], removedIds: [activeId] });
  expect(names()).toEqual(['Untitled prompt']);
  expect(active()?.id).toBe('empty');
});
