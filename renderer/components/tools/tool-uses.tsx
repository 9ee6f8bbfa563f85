import { Link } from 'wouter';
import { Button, ShowMore } from '../button.tsx';
import { ErrorFailure } from '../state-panels.tsx';
import { AppError } from '../../../shared/app-error.ts';
import type { ToolUse } from '../../../shared/contract/tool-library.ts';
import { useToolUses } from '../../queries/tools.ts';
import { agentAddress, promptAddress } from '../../shell/addresses.ts';

interface Owner {
  id: string;
  name: string;
  /** The versions of a prompt that have the tool, newest first; empty for an agent. */
  versions: Extract<ToolUse, { kind: 'prompt' }>[];
}

/** One entry for each prompt and each agent. */
function ownersOf(uses: readonly ToolUse[]): Owner[] {
  const byOwner = Map.groupBy(uses, ({ id }) => id);
  return [...byOwner].map(([id, own]) => ({
    id,
    name: own[0]!.name,
    versions: own.filter((use) => use.kind === 'prompt'),
  }));
}

const maxVersions = 3;

function versionsText(versions: Owner['versions']): string {
  const numbers = versions.slice(0, maxVersions).map(({ versionNumber }) => versionNumber);
  const more = versions.length > maxVersions ? ` and ${versions.length - maxVersions} more` : '';
  const isCurrent = versions[0]!.isLatest;
  return `${versions.length === 1 ? 'Version' : 'Versions'} ${numbers.join(', ')}${more}${isCurrent ? '' : ', not the latest'}`;
}

function OwnerRow({ owner: { id, name, versions } }: { owner: Owner }) {
  const [newest] = versions;
  return (
    <li className="tool-use">
      <Link
        className="link truncate"
        title={name}
        href={newest ? promptAddress(id, newest.versionId) : agentAddress(id)}
      >
        {name}
      </Link>
      <span className="caption tertiary">{newest ? versionsText(versions) : 'Agent'}</span>
    </li>
  );
}

/** The prompt versions and agents that have a tool of the library. */
export function ToolUses({ toolId }: { toolId: string }) {
  const list = useToolUses(toolId);
  // Someone may have deleted the tool in the library.
  if (list.error instanceof AppError && list.error.code === 'not_found') return null;
  const owners = ownersOf(list.data?.pages.flatMap(({ data }) => data) ?? []);
  return (
    <section className="line-top tool-uses scroll" aria-label="Used in">
      <div className="header">
        <h2>Used in</h2>
      </div>
      {list.isError && (
        <ErrorFailure title="Couldn't load where the tool is used" error={list.error}>
          <Button size="small" onClick={() => void list.refetch()}>
            Retry
          </Button>
        </ErrorFailure>
      )}
      {list.isSuccess && owners.length === 0 && (
        <p className="caption tertiary tool-pane__note">No saved prompt or agent has this tool.</p>
      )}
      <ul className="small" aria-label="Prompts and agents">
        {owners.map((owner) => (
          <OwnerRow key={owner.id} owner={owner} />
        ))}
      </ul>
      <ShowMore list={list} size="small" variant="quiet" />
    </section>
  );
}
