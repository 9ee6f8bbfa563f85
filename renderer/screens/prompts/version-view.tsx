import { Link } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { modelNameOf } from '../../../shared/prompt-version-match.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { formatCount, formatDuration, formatTime } from '../../components/format.ts';
import { useAuditSummary } from '../../queries/audit.ts';
import { auditAddress } from '../audit/filter/filter-address.ts';
import { formatCost } from '../audit/format.ts';
import { settingText } from './compare-model.ts';
import { modelOf } from './library-model.ts';
import { ShutdownNotice } from './shutdown-notice.tsx';
import { TemplateText } from './template-text.tsx';

/** How often a version ran and how well, with the way to its runs. */
function Usage({ version }: { version: PromptVersion }) {
  const filter = { promptVersionId: version.id };
  const { data, isError, isPlaceholderData } = useAuditSummary(filter);
  const href = auditAddress({ filter, sort: 'newest', conversationId: null, runId: null });
  if (isError) return <dd className="tertiary">Not known</dd>;
  if (!data || isPlaceholderData) return <dd className="tertiary">Counting</dd>;
  if (data.runs === 0) return <dd className="tertiary">Not run yet</dd>;
  const { averageScore } = data.feedback;
  return (
    <dd className="row prompts__usage">
      <Link href={href} className="link">
        {data.runs === 1 ? '1 run' : `${formatCount(data.runs)} runs`} in the audit
      </Link>
      {data.latency && <span>{formatDuration(data.latency.p50)} median</span>}
      {data.cost > 0 && <span>{formatCost(data.cost)}</span>}
      {averageScore !== null && <span>feedback {averageScore.toFixed(1)}</span>}
    </dd>
  );
}

function Facts({ version }: { version: PromptVersion }) {
  const { aiSystem, model } = modelNameOf(version);
  return (
    <dl className="prompts__facts">
      <div>
        <dt>Model</dt>
        <dd>
          {model} <span className="tertiary">{version.model === null ? 'the service’s first' : aiSystem}</span>
        </dd>
      </div>
      <div>
        <dt>Made</dt>
        <dd>{formatTime(version.createdAt)}</dd>
      </div>
      <div>
        <dt>Used</dt>
        <Usage version={version} />
      </div>
      {version.note !== null && (
        <div>
          <dt>Note</dt>
          <dd>{version.note}</dd>
        </div>
      )}
    </dl>
  );
}

function Parameters({ version }: { version: PromptVersion }) {
  const entries = Object.entries(version.configuration ?? {}).filter(([, value]) => value !== null);
  if (entries.length === 0) return null;
  return (
    <section aria-label="Parameters">
      <div className="header line-top">
        <h3>Parameters</h3>
      </div>
      <dl className="prompts__settings">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt className="mono--small">{name}</dt>
            <dd className="mono--small">{settingText(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Variables({ variables }: Pick<PromptVersion, 'variables'>) {
  if (variables.length === 0) return null;
  return (
    <section aria-label="Variables">
      <div className="header line-top">
        <h3>Variables</h3>
      </div>
      <table className="prompts__variables">
        <thead>
          <tr>
            <th>Name</th>
            <th>Description</th>
            <th>Default</th>
            <th>Sample</th>
          </tr>
        </thead>
        <tbody>
          {variables.map(({ name, description, defaultValue, sampleValue }) => (
            <tr key={name}>
              <td className="mono--small">{name}</td>
              {[description, defaultValue, sampleValue].map((text, index) => (
                <td key={index}>
                  {text === null ? <span className="tertiary">None</span> : <span className="clamped">{text}</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** One version, to be read: what it is made of, which model it runs on and how it did. */
export function VersionView({ version, models }: { version: PromptVersion; models: readonly Model[] }) {
  const model = modelOf(version, models);
  return (
    <div className="scroll prompts__version" tabIndex={0} role="region" aria-label={`Version ${version.number}`}>
      {model && <ShutdownNotice model={model} version={version} />}
      <Facts version={version} />
      {version.systemMessage !== null && version.systemMessage !== '' && (
        <section aria-label="System message">
          <div className="header line-top">
            <h3>System message</h3>
            <span className="grow" />
            <CopyButton text={version.systemMessage} label="Copy the system message" isIconOnly size="small" />
          </div>
          <pre className="mono prompt-text">{version.systemMessage}</pre>
        </section>
      )}
      <section aria-label="Prompt">
        <div className="header line-top">
          <h3>Prompt</h3>
          <span className="grow" />
          <CopyButton text={version.promptText} label="Copy the prompt" isIconOnly size="small" />
        </div>
        <TemplateText text={version.promptText} />
      </section>
      <Parameters version={version} />
      <Variables variables={version.variables} />
    </div>
  );
}
