import { diagnosticCount, setDiagnostics } from '@codemirror/lint';
import { highlightActiveLine, highlightActiveLineGutter, lineNumbers } from '@codemirror/view';
import type { Extension } from '@codemirror/state';
import { useEffect } from 'react';
import { classNames } from '../../../components/class-names.ts';
import { useEditor, type EditorProps } from '../../../components/editor/code-editor.tsx';
import { templateHighlights, setUnfilled } from './template-highlights.ts';
import { type ReadNames, templateCompletion } from './template-completion.ts';

export interface TemplateMistake {
  message: string;
  start: number;
  end: number;
}

export interface TemplateEditorProps extends EditorProps {
  names: ReadNames;
  mistakes: readonly TemplateMistake[];
  /** Positions of names that a run would render empty; null leaves the highlights unchanged. */
  unfilled: readonly { start: number; end: number }[] | null;
  /** Gets a function that moves the focus and the selection, and returns the function that releases it. */
  onReady?: (focusAt: FocusAt) => () => void;
  /** Off for the text of one message, whose lines are counted from the start of the template. */
  hasLineNumbers?: boolean;
  /** More extensions. They don't change later. */
  extensions?: Extension;
}

export type FocusAt = (anchor: number, head?: number) => void;

const numberedLines = [lineNumbers(), highlightActiveLine(), highlightActiveLineGutter()];

/** An editor for Handlebars: colours, matching blocks, completion, and highlights for mistakes and unfilled names. */
export function TemplateEditor({
  names,
  mistakes,
  unfilled,
  onReady,
  className,
  hasLineNumbers = true,
  extensions,
  ...props
}: TemplateEditorProps) {
  const { parent, view } = useEditor(props, () => [
    hasLineNumbers ? numberedLines : [],
    templateHighlights,
    templateCompletion(names),
    extensions ?? [],
  ]);

  useEffect(() => {
    if (!onReady) return;
    const release = onReady((anchor, head = anchor) => {
      const editor = view.current;
      if (!editor) return;
      const { length } = editor.state.doc;
      const selection = { anchor: Math.min(anchor, length), head: Math.min(head, length) };
      editor.dispatch({ selection, scrollIntoView: true });
      editor.focus();
    });
    return () => release();
  }, [onReady, view]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { length } = editor.state.doc;
    const diagnostics = mistakes
      .filter(({ start }) => start <= length)
      .map(({ message, start, end }) => ({
        from: start,
        to: Math.min(end, length),
        severity: 'error' as const,
        message,
      }));
    // The first diagnostics have the editor configured again, which takes 20 ms of the window's start.
    if (diagnostics.length === 0 && diagnosticCount(editor.state) === 0) return;
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [mistakes, view]);

  useEffect(() => {
    if (unfilled) view.current?.dispatch({ effects: setUnfilled.of(unfilled) });
  }, [unfilled, view]);

  return <div ref={parent} className={classNames('editor', className)} />;
}
