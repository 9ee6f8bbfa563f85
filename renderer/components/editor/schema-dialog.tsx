import { setDiagnostics } from '@codemirror/lint';
import { highlightActiveLine, highlightActiveLineGutter, lineNumbers } from '@codemirror/view';
import { useEffect, useMemo, useState } from 'react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { CircleX, TriangleAlert } from 'lucide-react';
import {
  describeSchemaIssue,
  isObject,
  type JsonSchema,
  type SchemaIssue,
  schemaLimitIssue,
} from '../../../shared/json-schema.ts';
import { describeMistake, type JsonMistake, parseJson } from '../../drafts/json-text.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { type EditorProps, useEditor } from './code-editor.tsx';
import { checkSchema } from '../../../shared/contract/schemas.ts';
import { useHost } from '../../host/host-context.tsx';
import { portableSchema } from '../../../shared/portable-schema.ts';
import { lintSchema, type SchemaFinding } from '../../../shared/schema-lint.ts';
import { schemaTargetNames, schemaTargets } from '../../../shared/schema-rules.ts';
import { Badge } from '../badges.tsx';
import { formatPlural } from '../format.ts';
import { Icon } from '../icon.tsx';

/** Findings with the same message for the same part of a schema. */
interface Group extends Pick<SchemaFinding, 'pointer' | 'message' | 'effect'> {
  readonly names: readonly string[];
}

function groupFindings(findings: readonly SchemaFinding[]): Group[] {
  const groups = Map.groupBy(findings, ({ pointer, message }) => `${pointer}\n${message}`);
  return [...groups.values()]
    .map((group) => ({ ...group[0]!, names: group.map(({ target }) => schemaTargetNames[target]) }))
    .toSorted((one, other) => Number(one.effect !== 'rejected') - Number(other.effect !== 'rejected'));
}

function supportText(findings: readonly SchemaFinding[]): string {
  const rejecting = new Set(findings.filter(({ effect }) => effect === 'rejected').map(({ target }) => target));
  if (findings.length === 0) return 'Every provider and the on-device model support this schema';
  if (rejecting.size === 0) return 'Accepted everywhere, but not enforced in full';
  return `Rejected by ${rejecting.size} of ${schemaTargets.length}: ${[...rejecting].map((target) => schemaTargetNames[target]).join(', ')}`;
}

const maxGroups = 50;

interface SchemaSupportProps {
  /** Valid and within the limits. */
  schema: JsonSchema;
  onFix: (schema: JsonSchema) => void;
}

/** The parts of a schema that each provider doesn't support, and a fix that all of them accept. */
function SchemaSupport({ schema, onFix }: SchemaSupportProps) {
  const findings = useMemo(() => lintSchema(schema), [schema]);
  const fixed = useMemo(() => (findings.length === 0 ? schema : portableSchema(schema)), [findings, schema]);
  const isFixable = JSON.stringify(fixed) !== JSON.stringify(schema);
  const groups = groupFindings(findings);
  return (
    <section className="schema-support" aria-label="Provider support">
      <div className="row schema-support__head">
        <h3 className="section-title">Provider support</h3>
        <span className="small secondary grow">{supportText(findings)}</span>
        {isFixable && (
          <Button size="small" onClick={() => onFix(fixed)}>
            Fix for all providers
          </Button>
        )}
      </div>
      {groups.length > 0 && (
        <ul className="schema-support__list scroll" tabIndex={0} aria-label="Unsupported parts of the schema">
          {groups.slice(0, maxGroups).map(({ pointer, message, effect, names }) => (
            <li key={pointer + message} className="row small">
              <span className={effect === 'rejected' ? 'negative' : 'caution'}>
                <Icon icon={effect === 'rejected' ? CircleX : TriangleAlert} size="small" />
              </span>
              <span className="mono--small schema-support__path truncate" title={pointer}>
                {pointer === '' ? '/' : pointer}
              </span>
              <span className="grow">{message}</span>
              <span className="row schema-support__names">
                {names.map((name) => (
                  <Badge key={name}>{name}</Badge>
                ))}
              </span>
            </li>
          ))}
          {groups.length > maxGroups && (
            <li className="small tertiary">{formatPlural(groups.length - maxGroups, 'more finding')}</li>
          )}
        </ul>
      )}
    </section>
  );
}

/** The host's check of a schema; null while there is no schema. */
function useSchemaCheck(schema: JsonSchema | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['schema-check', schema],
    enabled: schema !== null,
    // Each edit is a new schema, so nothing is cached.
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.call(checkSchema, { signal, body: { schema: schema! } }),
  });
}

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
