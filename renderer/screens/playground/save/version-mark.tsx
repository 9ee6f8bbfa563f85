import { useMemo } from 'react';
import { Link } from 'wouter';
import { Badge } from '../../../components/marks.tsx';
import { usePromptVersion } from '../../../queries/prompts.ts';
import { promptAddress } from '../../../shell/addresses.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';
import { isEdited } from '../../../drafts/draft-version.ts';

/** Which version a draft came from, and whether it still is that version. Nothing for a draft that is not in the library. */
export function VersionMark({ draft }: { draft: Draft }) {
  const source = draft.source ?? null;
  const { data: version } = usePromptVersion(source?.promptId ?? null, source?.versionId ?? null);
  const edited = useMemo(() => version !== undefined && isEdited(draft, version), [draft, version]);
  if (source === null || !version) return null;
  return (
    <>
      <Link
        className="link small nowrap"
        href={promptAddress(source.promptId, source.versionId)}
        aria-label={`Version ${version.number} in the library`}
      >
        Version {version.number}
      </Link>
      {edited && <Badge tone="caution">Edited</Badge>}
    </>
  );
}
