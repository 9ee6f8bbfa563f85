import { setDiagnostics } from '@codemirror/lint';
import { highlightActiveLine, highlightActiveLineGutter, lineNumbers } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { classNames } from '../../../components/class-names.ts';
import { useEditor, type EditorProps } from '../../../components/editor/code-editor.tsx';
import { templateHighlights, setUnfilled } from './template-highlights.ts';
import { templateCompletion, type TemplateNames } from './template-completion.ts';

export interface TemplateMistake {
  message: string;
  start: number;
  end: number;
}

export interface TemplateEditorProps extends EditorProps {
  names: TemplateNames;
  mistakes: readonly TemplateMistake[];
  /** Positions of names that a run would render empty; null leaves the highlights unchanged. */
  unfilled: readonly { start: number; end: number }[] | null;
  /** Gets a function that moves the focus and the cursor to an offset, and returns the function that releases it. */
  onReady?: (focusAt: (offset: number) => void) => () => void;
}

/** An editor for Handlebars: colours, matching blocks, completion, and highlights for mistakes and unfilled names. */
export function TemplateEditor({ names, mistakes, unfilled, onReady, className, ...props }: TemplateEditorProps) {
  const newestNames = useRef(names);
  useLayoutEffect(() => {
    newestNames.current = names;
  }, [names]);
  const { parent, view } = useEditor(props, () => [
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    templateHighlights,
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
