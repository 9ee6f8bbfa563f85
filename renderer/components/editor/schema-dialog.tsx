import { setDiagnostics } from '@codemirror/lint';
import { highlightActiveLine, highlightActiveLineGutter, lineNumbers } from '@codemirror/view';
import { useEffect } from 'react';
import { describeMistake, parseJson, type JsonMistake } from '../../drafts/json-text.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { useEditor, type EditorProps } from './code-editor.tsx';

function JsonEditor({ mistake, ...props }: EditorProps & { mistake: JsonMistake | null }) {
  const { parent, view } = useEditor(props, () => [lineNumbers(), highlightActiveLine(), highlightActiveLineGutter()]);
  const { line, column, message } = mistake ?? { line: 0, column: 0, message: '' };
  useEffect(() => {
    view.current?.focus();
  }, [view]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { doc } = editor.state;
    const from = line === 0 ? 0 : Math.min(doc.line(Math.min(line, doc.lines)).from + column - 1, doc.length);
    const diagnostic = { from, to: Math.min(from + 1, doc.length), severity: 'error' as const, message };
    editor.dispatch(setDiagnostics(editor.state, line === 0 ? [] : [diagnostic]));
  }, [line, column, message, props.value, view]);
  return <div ref={parent} className="editor schema-editor" />;
}

export interface SchemaDialogProps {
  text: string;
  /** Every edit is kept at once, valid or not. */
  onTextChange: (text: string) => void;
  onClose: () => void;
}

/** A large editor for the JSON schema of `response_format`. */
export function SchemaDialog({ text, onTextChange, onClose }: SchemaDialogProps) {
  const parsed = parseJson(text);
  const mistake = 'mistake' in parsed ? parsed.mistake : null;
  const format = (): void => {
    if ('value' in parsed) onTextChange(JSON.stringify(parsed.value, null, 2));
  };
  const footer = (
    <>
      <p className={mistake ? 'small negative grow' : 'small tertiary grow'} role="status">
        {mistake ? describeMistake(mistake) : 'Valid JSON'}
      </p>
      <Button aria-disabled={mistake !== null || undefined} onClick={format}>
        Format
      </Button>
      <Button variant="primary" onClick={onClose}>
        Done
      </Button>
    </>
  );
  return (
    <Dialog title="JSON schema" isOpen isWide onClose={onClose} footer={footer}>
      <JsonEditor label="JSON schema" value={text} onValueChange={onTextChange} mistake={mistake} />
    </Dialog>
  );
}
