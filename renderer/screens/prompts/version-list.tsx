import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import type { PromptVersionUsage } from '../../../shared/contract/prompt-usage.ts';
import { modelNameOf } from '../../../shared/prompt-version-match.ts';
import { formatTime } from '../../components/format.ts';
import { Badge } from '../../components/marks.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { averages, runCount } from './usage-text.ts';

const rowHeight = 78;

export interface VersionListProps {
  versions: readonly PromptVersion[];
  labels: Prompt['labels'];
  /** Undefined while it is on its way. */
  usage: ReadonlyMap<string, PromptVersionUsage> | undefined;
  selectedId: string | null;
  onSelect: (version: PromptVersion) => void;
  onOpen: (version: PromptVersion) => void;
  onEndReached: () => void;
}

interface RowProps {
  version: PromptVersion;
  labels: readonly string[];
  usage: PromptVersionUsage | undefined;
}

function Row({ version, labels, usage }: RowProps) {
  return (
    <div className="list-row">
      <span className="row">
        <span className="medium nowrap">Version {version.number}</span>
        <span className="row grow version-row__labels">
          {labels.map((label) => (
            <Badge key={label} isOutlined>
              {label}
            </Badge>
          ))}
        </span>
        <span className="caption tertiary numbers nowrap">{formatTime(version.createdAt)}</span>
      </span>
      <span className="caption secondary truncate">{version.note ?? <span className="tertiary">No note</span>}</span>
      <span className="caption tertiary truncate">{modelNameOf(version).model}</span>
      {usage && (
        <span className="caption tertiary numbers truncate">
          {usage.runs === 0 ? 'Not run yet' : [runCount(usage), ...averages(usage)].join(', ')}
        </span>
      )}
    </div>
  );
}

/** The versions of a prompt, newest first. */
export function VersionList(props: VersionListProps) {
  const { versions, labels, usage, selectedId, onSelect, onOpen, onEndReached } = props;
  const labelsOf = ({ id }: PromptVersion) =>
    labels.filter(({ promptVersionId }) => promptVersionId === id).map(({ label }) => label);
  return (
    <VirtualList
      label="Versions, newest first. Press Enter to open one in the playground"
      className="list-rows"
      items={versions}
      itemKey={({ id }) => id}
      rowHeight={rowHeight}
      selectedKey={selectedId}
      onSelect={onSelect}
      onOpen={onOpen}
      onEndReached={onEndReached}
      renderItem={(version) => <Row version={version} labels={labelsOf(version)} usage={usage?.get(version.id)} />}
    />
  );
}
