import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { VersionDifferences } from '../../components/diff/version-diff.tsx';
import { formatTime } from '../../components/format.ts';
import { Select } from '../../components/select.tsx';

export interface CompareViewProps {
  versions: readonly PromptVersion[];
  before: PromptVersion;
  after: PromptVersion;
  onChoose: (beforeId: string, afterId: string) => void;
}

/** Any two versions of a prompt side by side: texts and settings. */
export function CompareView({ versions, before, after, onChoose }: CompareViewProps) {
  const known = [...new Map([...versions, before, after].map((version) => [version.id, version])).values()];
  const options = known
    .toSorted((one, other) => other.number - one.number)
    .map(({ id, number, createdAt }) => ({ value: id, label: `Version ${number}, ${formatTime(createdAt)}` }));
  const names = [`Version ${before.number}`, `Version ${after.number}`] as const;
  const key = `${before.id}/${after.id}`;
  return (
    <>
      <div className="compare__choice">
        <Select
          label="Left version"
          size="small"
          value={before.id}
          options={options}
          onValueChange={(id) => onChoose(id, after.id)}
        />
        <Select
          label="Right version"
          size="small"
          value={after.id}
          options={options}
          onValueChange={(id) => onChoose(before.id, id)}
        />
      </div>
      <div
        className="scroll prompts__version"
        tabIndex={0}
        role="region"
        aria-label={`Version ${before.number} compared with version ${after.number}`}
      >
        <VersionDifferences key={key} before={before} after={after} names={names} />
      </div>
    </>
  );
}
