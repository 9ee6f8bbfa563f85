import { setDiagnostics } from '@codemirror/lint';
import { highlightActiveLine, highlightActiveLineGutter, lineNumbers } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { classNames } from '../../../components/class-names.ts';
import { useEditor, type EditorProps } from '../../../components/editor/code-editor.tsx';
import { handlebarsMarks, setUnfilled } from './handlebars-marks.ts';
import { templateCompletion } from './template-completion.ts';
import type { TemplateNames } from './template-completion.ts';

export interface TemplateMistake {
  message: string;
  start: number;
  end: number;
}

export interface TemplateEditorProps extends EditorProps {
  names: TemplateNames;
  mistakes: readonly TemplateMistake[];
  /** Where names stand that a run would render empty; null leaves the marks as they are. */
  unfilled: readonly { start: number; end: number }[] | null;
  /** Gets a function that moves the focus and the cursor to an offset, and returns the function that releases it. */
  onReady?: (focusAt: (offset: number) => void) => () => void;
}

/** An editor that knows Handlebars: colours, matching blocks, completion, mistakes and unfilled names where they are. */
export function TemplateEditor({ names, mistakes, unfilled, onReady, className, ...props }: TemplateEditorProps) {
  const newestNames = useRef(names);
  useLayoutEffect(() => {
    newestNames.current = names;
  }, [names]);
  const { parent, view } = useEditor(props, () => [
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    handlebarsMarks,
    templateCompletion(() => newestNames.current),
  ]);

  useEffect(() => {
    if (!onReady) return;
    const release = onReady((offset) => {
      const editor = view.current;
      if (!editor) return;
      editor.dispatch({ selection: { anchor: Math.min(offset, editor.state.doc.length) }, scrollIntoView: true });
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
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [mistakes, view]);

  useEffect(() => {
    if (unfilled) view.current?.dispatch({ effects: setUnfilled.of(unfilled) });
  }, [unfilled, view]);

  return <div ref={parent} className={classNames('editor', className)} />;
}
