import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { Dialog } from '../../components/dialog.tsx';
import { formatTime } from '../../components/format.ts';
import { Badge } from '../../components/marks.tsx';
import { QueryView } from '../../components/query-view.tsx';
import { usePromptLabelChanges } from '../../queries/prompt-labels.ts';
import { usePromptVersion } from '../../queries/prompts.ts';

function VersionName(props: { prompt: Prompt; versionId: string; versions: readonly PromptVersion[] }) {
  const { prompt, versionId, versions } = props;
  const listed = versions.find(({ id }) => id === versionId);
  const read = usePromptVersion(listed ? null : prompt.id, listed ? null : versionId);
  const version = listed ?? read.data;
  return <>{version ? `version ${version.number}` : 'a version'}</>;
}

/** Where the labels of a prompt pointed and when they were moved, the newest move first. */
export function LabelHistory(props: { prompt: Prompt; versions: readonly PromptVersion[]; onClose: () => void }) {
  const { prompt, versions, onClose } = props;
  const changes = usePromptLabelChanges(prompt.id);
  const name = (versionId: string) => <VersionName prompt={prompt} versionId={versionId} versions={versions} />;
  return (
    <Dialog title={`Label history of ${prompt.name}`} isOpen onClose={onClose}>
      <QueryView query={changes} subject="the label history">
        {(read) =>
          read.length === 0 ? (
            <p className="secondary">No labels yet.</p>
          ) : (
            <ul className="label-history small">
              {read.map(({ label, previousVersionId, promptVersionId, changedAt }, index) => (
                <li key={index} className="row">
                  <Badge tone="accent">{label}</Badge>
                  <span className="grow">
                    {promptVersionId === null ? 'removed from ' : 'set to '}
                    {name(promptVersionId ?? previousVersionId ?? '')}
                    {promptVersionId !== null && previousVersionId !== null && <> from {name(previousVersionId)}</>}
                  </span>
                  <span className="caption tertiary numbers nowrap">{formatTime(changedAt)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Dialog>
  );
}
