import { Pencil } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import type { Prompt, PromptVariable, PromptVersion } from '../../../shared/contract/prompts.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { modelNameOf } from '../../../shared/prompt-content.ts';
import { Button, CopyButton } from '../../components/button.tsx';
import { formatTime } from '../../components/format.ts';
import type { usePromptUsage } from '../../queries/prompt-details.ts';
import { auditAddress } from '../../shell/audit-address.ts';
import { settingText } from '../../components/diff/settings-diff.ts';
import { averages, modelOf, runCount } from './library-model.ts';
import { ShutdownNotice } from './version-notices.tsx';
import { VariablesDialog } from './prompt-dialogs.tsx';
import { VersionLabels } from './version-list.tsx';
import { splitMessages } from '../../../shared/prompt-messages.ts';
import { roleTitles } from '../../components/sent-messages.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import { readFields } from '../../drafts/variable-model.ts';
import { scanTags } from '../../../shared/prompt-template-tags.ts';

/** A read-only template with the editor's colours. */
function TemplateText({ text }: { text: string }) {
  const parts = useMemo(() => {
    const segments: { start: number; text: string; isTag: boolean }[] = [];
    let at = 0;
    for (const { start, end } of scanTags(text)) {
      if (start > at) segments.push({ start: at, text: text.slice(at, start), isTag: false });
      segments.push({ start, text: text.slice(start, end), isTag: true });
      at = end;
    }
    if (at < text.length) segments.push({ start: at, text: text.slice(at), isTag: false });
    return segments;
  }, [text]);
  return (
    <pre className="mono prompt-text">
      {parts.map((part) =>
        part.isTag ? (
          <span key={part.start} className="prompt-text__tag">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </pre>
  );
}

/** The messages of a template under their roles; a template without roles unchanged. */
function PromptText({ text }: { text: string }) {
  const messages = useMemo(() => splitMessages(text), [text]);
  if (messages === null || (messages.length === 1 && messages[0]?.opening === '')) return <TemplateText text={text} />;
  return messages.map(({ role, text: body, start }) => (
    <section key={start} aria-label={roleTitles[role]}>
      <h4 className="prompt-text__role small">{roleTitles[role]}</h4>
      <TemplateText text={body.trim()} />
    </section>
  ));
}

/**
 * The documented variables of a version, followed by the others in its text. A description stays when the text no longer uses its
 * variable.
 */
function variablesIn({ promptText, variables }: Pick<PromptVersion, 'promptText' | 'variables'>): PromptVariable[] {
  const known = new Set(variables.map(({ name }) => name));
  const fields = readFields(parseTemplate(promptText).variables, { values: {}, jsonNames: [] });
  const others = fields.filter(({ name }) => !known.has(name));
  const nothing = { description: null, defaultValue: null, sampleValue: null };
  return [...variables, ...others.map(({ name }) => ({ name, ...nothing }))];
}

export interface VersionViewProps {
  prompt: Prompt;
  version: PromptVersion;
  usage: ReturnType<typeof usePromptUsage>;
  models: readonly Model[];
}

/** The runs and results of a version, with a link to its runs. */
function Usage({ version, usage }: Pick<VersionViewProps, 'version' | 'usage'>) {
  if (usage.isError) return <dd className="tertiary">Unknown</dd>;
  const known = usage.data?.get(version.id);
  if (!known) return <dd className="tertiary">{usage.isFetching ? 'Counting…' : 'Unknown'}</dd>;
  if (known.runs === 0) return <dd className="tertiary">Not run yet</dd>;
  const href = auditAddress({
    filter: { promptVersionId: version.id },
    sort: 'newest',
    conversationId: null,
    runId: null,
  });
  return (
    <dd className="row prompts__usage">
      <Link href={href} className="link">
        {runCount(known)} in the audit
      </Link>
      {known.lastRunAt !== null && <span>Last run {formatTime(known.lastRunAt)}</span>}
      {averages(known).map((text) => (
        <span key={text}>{text}</span>
      ))}
    </dd>
  );
}

function VersionDetails({ prompt, version, usage }: VersionViewProps) {
  const { aiSystem, model } = modelNameOf(version);
  return (
    <dl className="prompts__facts">
      <div>
        <dt>Model</dt>
        <dd>
          {model}{' '}
          <span className="tertiary">{version.model === null ? 'Default built-in model' : providerName(aiSystem)}</span>
        </dd>
      </div>
      <div>
        <dt>Labels</dt>
        <dd>
          <VersionLabels prompt={prompt} version={version} />
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>{formatTime(version.createdAt)}</dd>
      </div>
      <div>
        <dt>Runs</dt>
        <Usage version={version} usage={usage} />
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

function Variables({ variables, onEdit }: Pick<PromptVersion, 'variables'> & { onEdit: () => void }) {
  if (variables.length === 0) return null;
  return (
    <section aria-label="Variables">
      <div className="header line-top">
        <h3>Variables</h3>
        <span className="grow" />
        <Button size="small" variant="quiet" icon={Pencil} onClick={onEdit}>
          Edit
        </Button>
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

/** One version, read-only: its content, its model and its results. */
export function VersionView(props: VersionViewProps) {
  const { version, usage, models } = props;
  const [isEditing, setEditing] = useState(false);
  const variables = useMemo(() => variablesIn(version), [version]);
  const model = modelOf(version, models);
  return (
    <div className="scroll prompts__version" tabIndex={0} role="region" aria-label={`Version ${version.number}`}>
      {model && <ShutdownNotice model={model} version={version} runs={usage.data?.get(version.id)?.runs ?? 0} />}
      <VersionDetails {...props} />
      {version.systemMessage !== null && version.systemMessage !== '' && (
        <section aria-label="System message">
          <div className="header line-top">
            <h3>System message</h3>
            <span className="grow" />
            <CopyButton text={version.systemMessage} label="Copy system message" isIconOnly size="small" />
          </div>
          <pre className="mono prompt-text">{version.systemMessage}</pre>
        </section>
      )}
      <section aria-label="Prompt">
        <div className="header line-top">
          <h3>Prompt</h3>
          <span className="grow" />
          <CopyButton text={version.promptText} label="Copy prompt" isIconOnly size="small" />
        </div>
        <PromptText text={version.promptText} />
      </section>
      <Parameters version={version} />
      <Variables variables={variables} onEdit={() => setEditing(true)} />
      {isEditing && <VariablesDialog version={version} variables={variables} onClose={() => setEditing(false)} />}
    </div>
  );
}
