import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap, placeholder, WidgetType, type DecorationSet } from '@codemirror/view';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { Highlight } from '../../../shared/contract/moderation.ts';
import { allowEditorStyles, lineDirection, replaceSelection } from '../../components/editor/editor-extensions.ts';
import { categoryNames } from './categories.tsx';
import './categories.css';

/** The two letters of its category, after a passage. */
class CodeBadge extends WidgetType {
  readonly codes: string;

  constructor(codes: string) {
    super();
    this.codes = codes;
  }

  override eq(other: CodeBadge): boolean {
    return other.codes === this.codes;
  }

  toDOM(): HTMLElement {
    const badge = document.createElement('sup');
    badge.textContent = this.codes;
    return badge;
  }
}

/** Passages with the same range share one highlight, in the hue of the first category. */
function decorationsOf(passages: readonly Highlight[], length: number): DecorationSet {
  const inside = passages.filter(({ start, end }) => start < end && end <= length);
  const byRange = Map.groupBy(inside, ({ start, end }) => `${start}-${end}`);
  const decorations = [...byRange.values()].flatMap((same) => {
    const { start, end, category } = same[0]!;
    const { className } = categoryNames[category];
    const codes = same.map((each) => categoryNames[each.category].code).join(' ');
    return [
      Decoration.mark({ tagName: 'mark', class: `passage passage--${className}`, inclusiveEnd: true }).range(
        start,
        end,
      ),
      Decoration.widget({ widget: new CodeBadge(codes), side: -1 }).range(end),
    ];
  });
  return Decoration.set(decorations, true);
}

const setPassages = StateEffect.define<readonly Highlight[]>();

const passageField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(highlights, transaction) {
    let next = highlights.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setPassages)) next = decorationsOf(effect.value, transaction.newDoc.length);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const documentTheme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text-primary)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-ui)', fontSize: '14px', lineHeight: '26px', scrollbarWidth: 'thin' },
  '.cm-content': { padding: '12px 16px', maxWidth: '66ch', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0', overflowWrap: 'anywhere' },
  '.cm-placeholder': { color: 'var(--text-tertiary)' },
});

/** Everything except whether the text can be edited, which changes with the text. */
function documentExtensions(onChange: (text: string) => void): Extension {
  const keys = [...defaultKeymap, ...historyKeymap].filter(({ key }) => key !== 'Mod-Enter' && key !== 'Escape');
  return [
    history(),
    EditorView.lineWrapping,
    lineDirection,
    replaceSelection,
    keymap.of(keys),
    documentTheme,
    passageField,
    EditorView.contentAttributes.of({ 'aria-label': 'Text to check', spellcheck: 'false' }),
    placeholder('Type or paste a text, then select Check'),
    EditorView.updateListener.of((update) => {
      if (update.docChanged && !update.state.readOnly) onChange(update.state.doc.toString());
    }),
  ];
}

/** Selects a range and scrolls it into view. */
function showRange(editor: EditorView, start: number, end: number): void {
  const { length } = editor.state.doc;
  editor.dispatch({
    selection: { anchor: Math.min(start, length), head: Math.min(end, length) },
    effects: EditorView.scrollIntoView(Math.min(start, length), { y: 'center' }),
  });
  editor.focus();
}

export interface DocumentEditorProps {
  value: string;
  /** Absent for a read-only text. */
  onValueChange?: ((value: string) => void) | undefined;
  passages: readonly Highlight[];
  /** Receives a function that selects a range and scrolls it into view. */
  onReady: (show: (start: number, end: number) => void) => void;
}

/** The text with its passages highlighted. The highlights move with edits before them. */
export function DocumentEditor({ value, onValueChange, passages, onReady }: DocumentEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const access = useRef(new Compartment());
  const report = useEffectEvent((next: string) => onValueChange?.(next));
  const isReadOnly = onValueChange === undefined;

  // The editor lives as long as the panel. Later changes are transactions.
  const createEditor = useEffectEvent((element: HTMLElement): EditorView => {
    allowEditorStyles();
    const readOnly = access.current.of(EditorState.readOnly.of(isReadOnly));
    const editor = new EditorView({
      parent: element,
      state: EditorState.create({ doc: value, extensions: [documentExtensions((text) => report(text)), readOnly] }),
    });
    onReady((start, end) => showRange(editor, start, end));
    return editor;
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
    editor.dispatch({ effects: access.current.reconfigure(EditorState.readOnly.of(isReadOnly)) });
    if (editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      effects: setPassages.of([]),
      scrollIntoView: true,
    });
  }, [value, isReadOnly]);

  useEffect(() => {
    view.current?.dispatch({ effects: setPassages.of(passages) });
  }, [passages]);

  return <div ref={parent} className="moderation__document" />;
}
