import { Check, CircleX, TriangleAlert } from 'lucide-react';
import type { SchemaLint } from '../editor/checked-schema.ts';
import { FixSchemaButton } from '../editor/fix-schema.tsx';
import { formatPlural } from '../format.ts';
import { Icon } from '../icon.tsx';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import type { SchemaFinding } from '../../../shared/schema-lint.ts';
import { schemaTargetNames, schemaTargets } from '../../../shared/schema-rules.ts';

function State({ findings }: { findings: readonly SchemaFinding[] }) {
  const rejected = findings.filter(({ effect }) => effect === 'rejected').length;
  if (findings.length === 0) {
    return (
      <span className="positive support__state">
        <Icon icon={Check} size="tiny" />
        OK
      </span>
    );
  }
  return (
    <span className={rejected > 0 ? 'negative support__state' : 'caution support__state'}>
      <Icon icon={rejected > 0 ? CircleX : TriangleAlert} size="tiny" />
      {rejected > 0 ? formatPlural(rejected, 'problem') : formatPlural(findings.length, 'note')}
    </span>
  );
}

const maxShown = 20;

function Finding({ finding: { pointer, message } }: { finding: SchemaFinding }) {
  return (
    <li className="support__finding">
      <span className="mono--small truncate" title={pointer}>
        {pointer === '' ? '/' : pointer.replaceAll('/properties/', '/')}
      </span>{' '}
      {message}
    </li>
  );
}

export interface ProviderSupportProps {
  /** Null until the schema is valid and its lint complete. */
  lint: SchemaLint | null;
  onFix: (schema: JsonSchema) => void;
}

/** What each provider doesn't support in the schema of a tool, with a fix to what all of them accept. */
export function ProviderSupport({ lint, onFix }: ProviderSupportProps) {
  return (
    <aside className="tools-view__providers" aria-label="Provider support">
      <div className="header">
        <h2>Accepted by</h2>
        <span className="grow" />
        {lint && <FixSchemaButton lint={lint} onFix={onFix} />}
      </div>
      {lint === null ? (
        <p className="caption tertiary tool-pane__note">Shown once the schema is valid.</p>
      ) : (
        <ul className="scroll support" tabIndex={0} aria-label="Providers">
          {schemaTargets.map((target) => {
            const findings = lint.findings.filter((finding) => finding.target === target);
            return (
              <li key={target} className="support__provider" aria-label={schemaTargetNames[target]}>
                <span className="medium">{schemaTargetNames[target]}</span>
                <State findings={findings} />
                {findings.length > 0 && (
                  <ul className="support__findings">
                    {findings.slice(0, maxShown).map((finding) => (
                      <Finding key={finding.pointer + finding.message} finding={finding} />
                    ))}
                    {findings.length > maxShown && (
                      <li className="tertiary">{formatPlural(findings.length - maxShown, 'more finding')}</li>
                    )}
                  </ul>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </aside>
  );
}
