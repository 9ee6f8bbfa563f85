import { CircleX, TriangleAlert } from 'lucide-react';
import type { SchemaFinding } from '../../../shared/schema-lint.ts';
import { schemaTargetNames, schemaTargets } from '../../../shared/schema-rules.ts';
import { describeSchemaIssue, isObject, type JsonSchema } from '../../../shared/json-schema.ts';
import { describeMistake, parseJson } from '../../drafts/json-text.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { Badge } from '../badges.tsx';
import { formatPlural } from '../format.ts';
import { Icon } from '../icon.tsx';
import { useCheckedSchema, useSchemaLint } from './checked-schema.ts';
import { FixSchemaButton } from './fix-schema.tsx';
import { JsonEditor } from './json-editor.tsx';

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
  const lint = useSchemaLint(schema);
  if (lint === null) return null;
  const { findings } = lint;
  const groups = groupFindings(findings);
  return (
    <section className="schema-support" aria-label="Provider support">
      <div className="row schema-support__head">
        <h3 className="section-title">Provider support</h3>
        <span className="small secondary grow">{supportText(findings)}</span>
        {lint.schema === schema && <FixSchemaButton lint={lint} onFix={onFix} />}
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

export interface SchemaDialogProps {
  text: string;
  /** Every edit is saved at once, valid or not. */
  onTextChange: (text: string) => void;
  onClose: () => void;
}

/** The field's text with another schema in the same form. */
function writeSchema(text: string, schema: JsonSchema): string {
  const parsed = parseJson(text);
  const value = 'value' in parsed ? parsed.value : null;
  const isWrapped = isObject(value) && isObject(value['schema']);
  return JSON.stringify(isWrapped ? { ...value, schema } : schema, null, 2);
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
      <JsonEditor
        className="schema-editor"
        label="JSON schema"
        value={text}
        onValueChange={onTextChange}
        mistake={mistake}
        isFocused
      />
      {schema && issue === null && (
        <SchemaSupport schema={schema} onFix={(fixed) => onTextChange(writeSchema(text, fixed))} />
      )}
    </Dialog>
  );
}
