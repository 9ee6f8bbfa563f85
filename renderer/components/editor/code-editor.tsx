import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { searchKeymap } from '@codemirror/search';
import { Annotation, Compartment, EditorState, Prec, Transaction } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder, type ViewUpdate } from '@codemirror/view';
import { useEffect, useEffectEvent, useRef } from 'react';
import { classNames } from '../class-names.ts';
import { allowEditorStyles, editorTheme, lineDirection, replaceSelection } from './editor-extensions.ts';
import { editorText, textChange } from './text-change.ts';

/** Side effects of an edit besides the changed text. */
export interface EditDetails {
  anchor: number;
  head: number;
  /** CodeMirror's name for the edit: `input.type`, `delete.backward`. */
  userEvent: string | undefined;
}

/** The history of a text of which the editor shows a part. */
export interface SharedHistory {
  undo: () => void;
  redo: () => void;
}

export interface EditorProps {
  /** Its accessible name. */
  label: string;
  value: string;
  onValueChange: (value: string, details: EditDetails) => void;
  hint?: string;
  className?: string;
  /** Replaces the editor's built-in history. */
  sharedHistory?: SharedHistory | undefined;
}

// The window's own keys: run, and the model picker.
const windowKeys = new Set(['Mod-Enter', 'Mod-l', 'Ctrl-l', 'Mod-k', 'Ctrl-k', 'Escape']);
const editingKeys = [...defaultKeymap, ...historyKeymap, ...searchKeymap].filter(
  ({ key, mac }) => !windowKeys.has(key ?? '') && !windowKeys.has(mac ?? ''),
);

const commonExtensions: Extension = [
  drawSelection(),
  EditorView.lineWrapping,
  lineDirection,
  replaceSelection,
  keymap.of(editingKeys),
  editorTheme,
];

function delegateHistory({ undo, redo }: SharedHistory): Extension {
  const run = (step: () => void) => () => {
    step();
    return true;
  };
  return [
    Prec.high(
      keymap.of([
        { key: 'Mod-z', run: run(undo), preventDefault: true },
        { key: 'Mod-y', mac: 'Mod-Shift-z', run: run(redo), preventDefault: true },
        { linux: 'Ctrl-Shift-z', run: run(redo), preventDefault: true },
      ]),
    ),
    // The context menu of the browser.
    EditorView.domEventHandlers({
      beforeinput(event) {
        if (event.inputType !== 'historyUndo' && event.inputType !== 'historyRedo') return false;
        if (event.inputType === 'historyUndo') undo();
        else redo();
        return true;
      },
    }),
  ];
}

const description = new Compartment();

function describe(label: string, hint: string | undefined): Extension {
  return [
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
    hint ? placeholder(hint) : [],
  ];
}

/** Marks a change from outside the editor. */
const isFromOutside = Annotation.define<boolean>();

function detailsOf({ state, transactions }: ViewUpdate): EditDetails {
  const { anchor, head } = state.selection.main;
  const userEvent = transactions.map((transaction) => transaction.annotation(Transaction.userEvent)).find(Boolean);
  return { anchor, head, userEvent };
}

/** Creates the editor once. `onValueChange` and the value may change later. */
export function useEditor(
  { value, onValueChange, label, hint, sharedHistory }: EditorProps,
  extensions: () => Extension,
) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const report = useEffectEvent((update: ViewUpdate) => onValueChange(update.state.doc.toString(), detailsOf(update)));
  const undo = useEffectEvent(() => sharedHistory?.undo());
  const redo = useEffectEvent(() => sharedHistory?.redo());

  // The editor lives as long as its draft. Later changes are transactions.
  const createEditor = useEffectEvent((element: HTMLElement) => {
    allowEditorStyles();
    return new EditorView({
      parent: element,
      state: EditorState.create({
        doc: value,
        extensions: [
          sharedHistory ? delegateHistory({ undo: () => undo(), redo: () => redo() }) : history(),
          commonExtensions,
          extensions(),
          description.of(describe(label, hint)),
          EditorView.updateListener.of((update) => {
            const isEdit = update.transactions.some(
              (transaction) => transaction.docChanged && !transaction.annotation(isFromOutside),
            );
            if (isEdit) report(update);
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
    if (!editor) return;
    // A transaction instead of a new state, so that Ctrl+Z can undo a restored run.
    const changes = textChange(editor.state.doc.toString(), editorText(value));
    if (changes) editor.dispatch({ changes, annotations: isFromOutside.of(true) });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.contentDOM.getAttribute('aria-label') === label) return;
    editor.dispatch({ effects: description.reconfigure(describe(label, hint)) });
  }, [label, hint]);

  return { parent, view };
}

/** Several lines of plain text in the editor's typeface. */
export function PlainEditor({ className, ...props }: EditorProps) {
  const { parent } = useEditor(props, () => []);
  return <div ref={parent} className={classNames('editor', 'editor--plain', className)} />;
}
