import { expect, test } from 'vitest';
import {
  addExamplePair,
  addMessage,
  changeRole,
  isExample,
  moveMessage,
  removeMessage,
} from '../../../../../../renderer/screens/playground/messages/message-edits.ts';
import { PromptDocument } from '../../../../../../renderer/screens/playground/messages/prompt-document.ts';

const fewShot = '{{role "system"}}Be kind.\n{{role "user"}}Hi\n{{role "model"}}Hello!\n{{role "user"}}{{question}}';

const read = ({ blocks }: PromptDocument) => blocks?.map(({ role, text }) => `${role}: ${text}`) ?? null;
const idAt = ({ blocks }: PromptDocument, index: number) => blocks![index]!.id;
const details = (at: number, userEvent = 'input.type') => ({ anchor: at, head: at, userEvent });

/** Types at the end of a message, one letter at a time. */
function type(document: PromptDocument, index: number, text: string): void {
  const id = idAt(document, index);
  for (const letter of text) {
    const next = document.blocks![index]!.text + letter;
    document.editBlock(id, next, details(next.length));
  }
}

test('messages are read from the text, and an edit of one changes only its part', () => {
  const document = new PromptDocument(fewShot);
  expect(read(document)).toEqual(['system: Be kind.\n', 'user: Hi\n', 'assistant: Hello!\n', 'user: {{question}}']);
  document.editBlock(idAt(document, 1), 'Good morning\n', details(12));
  expect(document.text).toBe(fewShot.replace('Hi', 'Good morning'));
});

test('messages keep their ids while they are edited, moved and undone', () => {
  const document = new PromptDocument(fewShot);
  const ids = document.blocks!.map(({ id }) => id);
  type(document, 0, ' Always.');
  expect(document.blocks!.map(({ id }) => id)).toEqual(ids);
  moveMessage(document, ids[3]!, 1);
  expect(document.blocks!.map(({ id }) => id)).toEqual([ids[0], ids[3], ids[1], ids[2]]);
  document.undo();
  expect(document.blocks!.map(({ id }) => id)).toEqual(ids);
});

test('a line break at the end of a message stays', () => {
  const document = new PromptDocument('');
  addMessage(document);
  type(document, 0, 'Hi\n');
  type(document, 1, '\nHello\n\n');
  expect(read(document)).toEqual(['user: Hi\n', 'assistant: \nHello\n\n']);
  expect(read(new PromptDocument(document.text))).toEqual(read(document));
});

test('a half-typed tag leaves the messages unchanged', () => {
  const document = new PromptDocument(fewShot);
  for (const half of ['{{#each items}}', '{{', '{{#if x', '{{!-- ']) {
    document.editBlock(idAt(document, 0), half, details(half.length));
    expect(read(document)).toEqual([`system: ${half}`, 'user: Hi\n', 'assistant: Hello!\n', 'user: {{question}}']);
  }
  type(document, 1, 'there');
  for (let step = 0; step < 10 && document.text !== fewShot; step += 1) {
    document.undo();
    expect(document.blocks).toHaveLength(4);
  }
  expect(document.text).toBe(fewShot);
});

test('a typed or pasted role tag makes messages', () => {
  const document = new PromptDocument(fewShot);
  const text = 'Hi{{role "model"}}Hello{{role "user"}}And?';
  document.editBlock(idAt(document, 1), text, details(text.length, 'input.paste'));
  expect(read(document)).toHaveLength(6);
  expect(document.takeFocus()).not.toBeNull();
  expect(document.takeFocus()).toBeNull();
});

test('undo and redo cover typing, blocks and texts from elsewhere', () => {
  const document = new PromptDocument('Hello');
  const states = [document.text];
  const then = (edit: () => void) => {
    edit();
    states.push(document.text);
  };
  then(() => addMessage(document));
  then(() => type(document, 1, 'Yes'));
  then(() => changeRole(document, idAt(document, 1), 'system'));
  then(() => addExamplePair(document));
  then(() => document.replaceText('A restored run'));
  then(() => addMessage(document));
  for (const state of states.toReversed().slice(1)) {
    document.undo();
    expect(document.text).toBe(state);
  }
  document.undo();
  expect(document.text).toBe('Hello');
  for (const state of states.slice(1)) {
    document.redo();
    expect(document.text).toBe(state);
  }
});

test('a message is added after another one with the role that answers it', () => {
  const document = new PromptDocument('Hello');
  addMessage(document);
  expect(document.text).toBe('Hello\n{{~role "model"~}}\n');
  addMessage(document);
  addMessage(document, idAt(document, 0));
  expect(document.blocks!.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'user']);
});

test('an example pair comes before the message to answer', () => {
  const document = new PromptDocument(fewShot);
  addExamplePair(document);
  expect(document.blocks!.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
  ]);
  expect(document.blocks!.map((_, index) => isExample(document.blocks!, index))).toEqual([
    false,
    true,
    true,
    true,
    true,
    false,
  ]);
});

test('a single remaining message is a prompt without roles', () => {
  const document = new PromptDocument('{{role "system"}}Be kind.\n{{role "user"}}Hi');
  removeMessage(document, idAt(document, 0));
  expect(document.text).toBe('Hi');
  removeMessage(document, idAt(document, 0));
  expect([document.text, read(document)]).toEqual(['', ['user: ']]);
});

test('a role inside a block has no messages until it is outside', () => {
  const document = new PromptDocument('{{#each turns}}{{role "user"}}{{this}}{{/each}}');
  expect(document.blocks).toBeNull();
  document.editText('{{role "user"}}{{this}}', details(0));
  expect(document.blocks).toHaveLength(1);
});

test('moving to nowhere, to the same position or an unknown message changes nothing', () => {
  const document = new PromptDocument(fewShot);
  const before = document.snapshot();
  moveMessage(document, idAt(document, 0), -1);
  moveMessage(document, idAt(document, 3), 4);
  moveMessage(document, idAt(document, 1), 1);
  moveMessage(document, 999, 0);
  removeMessage(document, 999);
  changeRole(document, idAt(document, 0), 'system');
  expect(document.snapshot()).toBe(before);
});

test("line ends of other systems become the editor's", () => {
  const document = new PromptDocument('a\r\nb');
  expect(document.text).toBe('a\nb');
  document.replaceText('a\r\nb');
  document.undo();
  expect(document.text).toBe('a\nb');
});

test('an edit of 1,000 messages and one of 4 MB are undone', () => {
  const many = new PromptDocument(
    Array.from({ length: 1000 }, (_, index) => `{{role "${index % 2 ? 'model' : 'user'}"}}Message ${index}\n`).join(''),
  );
  const words = 'a word {{name}} '.repeat(10_000) + 'plain words '.repeat(330_000);
  const large = new PromptDocument(`{{role "system"}}Be kind.\n{{role "user"}}${words}`);
  for (const document of [many, large]) {
    type(document, 0, 'a');
    const before = document.text;
    moveMessage(document, idAt(document, 0), 1);
    expect(document.text).not.toBe(before);
    document.undo();
    expect(document.text).toBe(before);
  }
});
