import { EditorState } from '@codemirror/state';
import { Direction, EditorView } from '@codemirror/view';
import { afterEach, expect, test } from 'vitest';
import { lineDirection } from '../../../../renderer/components/editor/editor-extensions.ts';

let editor: EditorView;
afterEach(() => editor.destroy());

test('every line of an editor has a separate direction, also a new one', () => {
  const state = EditorState.create({ doc: 'Hello\nمرحبا', extensions: lineDirection });
  editor = new EditorView({ state, parent: document.body });
  const directions = () => [...editor.contentDOM.querySelectorAll('.cm-line')].map((line) => line.getAttribute('dir'));
  expect(directions()).toEqual(['auto', 'auto']);
  editor.dispatch({ changes: { from: 0, insert: 'שלום\n' } });
  expect(directions()).toEqual(['auto', 'auto', 'auto']);
  expect(editor.textDirection).toBe(Direction.LTR);
});
