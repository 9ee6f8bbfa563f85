import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import { useEffect, useEffectEvent, useRef } from 'react';
import { classNames } from '../class-names.ts';
import { allowEditorStyles, editorTheme, lineDirection, replaceSelection } from './editor-extensions.ts';

export interface EditorProps {
  /** Read out as its name. */
  label: string;
  value: string;
  onValueChange: (value: string) => void;
  hint?: string;
  className?: string;
}

// The window's own keys: run, and the model picker.
const windowKeys = new Set(['Mod-Enter', 'Mod-l', 'Ctrl-l', 'Mod-k', 'Ctrl-k', 'Escape']);
const editingKeys = [...defaultKeymap, ...historyKeymap, ...searchKeymap].filter(
  ({ key, mac }) => !windowKeys.has(key ?? '') && !windowKeys.has(mac ?? ''),
);

const commonExtensions: Extension = [
  history(),
  drawSelection(),
  EditorView.lineWrapping,
  lineDirection,
  replaceSelection,
  keymap.of(editingKeys),
  editorTheme,
];

/** Makes the editor once; `onValueChange` and the value may change under it. */
export function useEditor({ value, onValueChange, label, hint }: EditorProps, extensions: () => Extension) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const report = useEffectEvent((next: string) => onValueChange(next));

  // The editor lives as long as its draft; what changes later goes in through transactions.
  const createEditor = useEffectEvent((element: HTMLElement) => {
    allowEditorStyles();
    return new EditorView({
      parent: element,
      state: EditorState.create({
        doc: value,
        extensions: [
          commonExtensions,
          extensions(),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
          hint ? placeholder(hint) : [],
          EditorView.updateListener.of((update) => {
            if (update.docChanged) report(update.state.doc.toString());
          }),
        ],
      }),
    });
  });
  useEffect(() => {
    if (!parent.current) return;
    const editor = createEditor(parent.current);
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    // A transaction in place of a new state: an old run that was put back can be undone with Ctrl+Z.
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return { parent, view };
}

/** Several lines of plain text in the editor's typeface. */
export function PlainEditor({ className, ...props }: EditorProps) {
  const { parent } = useEditor(props, () => []);
  return <div ref={parent} className={classNames('editor', 'editor--plain', className)} />;
}
