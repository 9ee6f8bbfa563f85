import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { modelNameOf } from '../../../shared/prompt-version-match.ts';
import { formatTime } from '../../components/format.ts';
import { VirtualList } from '../../components/virtual-list.tsx';

const rowHeight = 60;

export interface VersionListProps {
  versions: readonly PromptVersion[];
  selectedId: string | null;
  onSelect: (version: PromptVersion) => void;
  onOpen: (version: PromptVersion) => void;
  onEndReached: () => void;
}

function Row({ version }: { version: PromptVersion }) {
  return (
    <div className="version-row">
      <span className="row">
        <span className="medium grow truncate">Version {version.number}</span>
        <span className="caption tertiary numbers nowrap">{formatTime(version.createdAt)}</span>
      </span>
      <span className="caption secondary truncate">{version.note ?? <span className="tertiary">No note</span>}</span>
      <span className="caption tertiary truncate">{modelNameOf(version).model}</span>
    </div>
  );
}

/** The versions of a prompt, newest first. */
export function VersionList({ versions, selectedId, onSelect, onOpen, onEndReached }: VersionListProps) {
  return (
    <VirtualList
      label="Versions, newest first. Enter opens one in the playground"
      className="prompts__versions"
      items={versions}
      itemKey={({ id }) => id}
      rowHeight={rowHeight}
      selectedKey={selectedId}
      onSelect={onSelect}
      onOpen={onOpen}
      onEndReached={onEndReached}
      renderItem={(version) => <Row version={version} />}
    />
  );
}
