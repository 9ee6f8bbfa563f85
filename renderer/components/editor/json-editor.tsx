import { setDiagnostics } from '@codemirror/lint';
import { highlightActiveLine, highlightActiveLineGutter, lineNumbers } from '@codemirror/view';
import { useEffect } from 'react';
import type { JsonMistake } from '../../drafts/json-text.ts';
import { classNames } from '../class-names.ts';
import { useEditor, type EditorProps } from './code-editor.tsx';

export interface JsonEditorProps extends EditorProps {
  mistake: JsonMistake | null;
  /** Whether the editor gets the focus when it appears. */
  isFocused?: boolean;
}

/** JSON with line numbers, and a mark at a mistake. */
export function JsonEditor({ mistake, isFocused = false, className, ...props }: JsonEditorProps) {
  const { parent, view } = useEditor(props, () => [lineNumbers(), highlightActiveLine(), highlightActiveLineGutter()]);
  const { line, column, message } = mistake ?? { line: 0, column: 0, message: '' };
  useEffect(() => {
    if (isFocused) view.current?.focus();
  }, [isFocused, view]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { doc } = editor.state;
    const from = line === 0 ? 0 : Math.min(doc.line(Math.min(line, doc.lines)).from + column - 1, doc.length);
    const diagnostic = { from, to: Math.min(from + 1, doc.length), severity: 'error' as const, message };
    editor.dispatch(setDiagnostics(editor.state, line === 0 ? [] : [diagnostic]));
  }, [line, column, message, props.value, view]);
  return <div ref={parent} className={classNames('editor', className)} />;
}
