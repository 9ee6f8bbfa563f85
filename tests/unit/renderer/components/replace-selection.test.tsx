import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { afterEach, expect, test } from 'vitest';
import { replaceSelection } from '../../../../renderer/components/editor/editor-extensions.ts';

let editor: EditorView;
afterEach(() => editor.destroy());

function openEditor(...extensions: Extension[]): void {
  const state = EditorState.create({
    doc: 'one two',
    selection: { anchor: 0, head: 3 },
    extensions: [replaceSelection, extensions],
  });
  editor = new EditorView({ state, parent: document.body });
}

/** Resolves with whether the browser was left to insert the text by itself. */
function type(data: string, inputType = 'insertText'): boolean {
  const event = new InputEvent('beforeinput', { data, inputType, bubbles: true, cancelable: true });
  return editor.contentDOM.dispatchEvent(event);
}

test('typed text replaces the selection without the browser, which would style it', () => {
  openEditor();
  expect(type('three')).toBe(false);
  expect(editor.state.doc.toString()).toBe('three two');
  expect(editor.state.selection.main).toMatchObject({ from: 5, to: 5 });
});

test("the browser inserts text without a selection, and text that isn't typed", () => {
  openEditor();
  expect(type('three', 'insertFromDrop')).toBe(true);
  editor.dispatch({ selection: { anchor: 3 } });
  expect(type('three')).toBe(true);
  expect(editor.state.doc.toString()).toBe('one two');
});

test('nothing replaces the selection of a read-only text', () => {
  openEditor(EditorState.readOnly.of(true));
  type('three');
  expect(editor.state.doc.toString()).toBe('one two');
});

test('extensions that follow typing come first', () => {
  const seen: unknown[] = [];
  openEditor(EditorView.inputHandler.of((_view, from, to, text) => seen.push({ from, to, text }) > 0));
  expect(type('(')).toBe(false);
  expect(seen).toEqual([{ from: 0, to: 3, text: '(' }]);
  expect(editor.state.doc.toString()).toBe('one two');
});
