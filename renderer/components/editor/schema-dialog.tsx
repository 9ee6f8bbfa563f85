import { setDiagnostics } from '@codemirror/lint';
import { highlightActiveLine, highlightActiveLineGutter, lineNumbers } from '@codemirror/view';
import { useEffect, useMemo, useState } from 'react';
import {
  describeSchemaIssue,
  isObject,
  type JsonSchema,
  schemaLimitIssue,
  type SchemaIssue,
} from '../../../shared/json-schema.ts';
import { describeMistake, parseJson, type JsonMistake } from '../../drafts/json-text.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { useEditor, type EditorProps } from './code-editor.tsx';
import { useSchemaCheck } from '../../queries/schemas.ts';
import { SchemaSupport } from './schema-support.tsx';

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
  /** Every edit is saved at once, valid or not. */
  onTextChange: (text: string) => void;
  onClose: () => void;
}

const pauseMs = 300;

/** The text after a pause in typing: a check takes longer than a key press. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

/** The schema in the field's text, which may be inside `{"name", "schema", ...}`; null if there is none. */
function readSchema(text: string): JsonSchema | null {
  const parsed = parseJson(text);
  const value = 'value' in parsed ? parsed.value : null;
  if (!isObject(value)) return null;
  return isObject(value['schema']) ? value['schema'] : value;
}

/** The field's text with another schema in the same form. */
function writeSchema(text: string, schema: JsonSchema): string {
  const parsed = parseJson(text);
  const value = 'value' in parsed ? parsed.value : null;
  const isWrapped = isObject(value) && isObject(value['schema']);
  return JSON.stringify(isWrapped ? { ...value, schema } : schema, null, 2);
}

/** A schema that is checked after each pause in typing. The issue is undefined until the check completes. */
function useCheckedSchema(text: string): { schema: JsonSchema | null; issue: SchemaIssue | null | undefined } {
  const paused = usePaused(text);
  const schema = useMemo(() => readSchema(paused), [paused]);
  const limit = useMemo(() => schema && schemaLimitIssue(schema), [schema]);
  const { data, isPlaceholderData } = useSchemaCheck(limit ? null : schema);
  if (schema === null || paused !== text) return { schema, issue: undefined };
  return { schema, issue: limit ?? (isPlaceholderData ? undefined : data?.issue) };
}

/** A large editor for the JSON schema of `response_format`. */
export function SchemaDialog({ text, onTextChange, onClose }: SchemaDialogProps) {
  const parsed = parseJson(text);
  const mistake = 'mistake' in parsed ? parsed.mistake : null;
  const { schema, issue } = useCheckedSchema(text);
  const problem = mistake ? describeMistake(mistake) : issue ? `The schema ${describeSchemaIssue(issue)}` : null;
  const format = (): void => {
    if ('value' in parsed) onTextChange(JSON.stringify(parsed.value, null, 2));
  };
  const footer = (
    <>
      <p className={problem ? 'small negative grow' : 'small tertiary grow'} role="status">
        {problem ?? (issue === null ? 'Valid JSON schema' : 'Valid JSON')}
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
      {schema && issue === null && (
        <SchemaSupport schema={schema} onFix={(fixed) => onTextChange(writeSchema(text, fixed))} />
      )}
    </Dialog>
  );
}
