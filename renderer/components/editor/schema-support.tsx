import { CircleX, TriangleAlert } from 'lucide-react';
import { useMemo } from 'react';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import { portableSchema } from '../../../shared/portable-schema.ts';
import { lintSchema, type SchemaFinding } from '../../../shared/schema-lint.ts';
import { schemaTargetNames, schemaTargets } from '../../../shared/schema-rules.ts';
import { Badge } from '../badges.tsx';
import { Button } from '../button.tsx';
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

export interface SchemaSupportProps {
  /** Valid and within the limits. */
  schema: JsonSchema;
  onFix: (schema: JsonSchema) => void;
}

/** The parts of a schema that each provider doesn't support, and a fix that all of them accept. */
export function SchemaSupport({ schema, onFix }: SchemaSupportProps) {
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
