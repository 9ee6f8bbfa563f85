import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { useHost } from '../../host/host-context.tsx';
import { promptVersionOptions } from '../../queries/prompts.ts';
import { useDrafts, type Draft } from '../../stores/playground-drafts.ts';
import { isEdited } from '../../drafts/draft-version.ts';

/** Unsaved edits of a prompt, and the version that they started from. */
export interface LibraryDraft {
  readonly draft: Draft;
  readonly version: PromptVersion;
}

const readVersions = (results: UseQueryResult<PromptVersion>[]) => results.map(({ data }) => data);

/** Playground drafts that differ from their version, by prompt. */
export function useLibraryDrafts(): ReadonlyMap<string, LibraryDraft> {
  const { client } = useHost();
  const drafts = useDrafts((state) => state.drafts);
  const sources = useMemo(
    () => drafts.flatMap((draft) => (draft.source ? [{ draft, ...draft.source }] : [])),
    [drafts],
  );
  const versions = useQueries({
    queries: sources.map(({ promptId, versionId }) => promptVersionOptions(client, promptId, versionId)),
    combine: readVersions,
  });
  return useMemo(() => {
    const edited = new Map<string, LibraryDraft>();
    sources.forEach(({ draft, promptId }, index) => {
      const version = versions[index];
      if (version && !edited.has(promptId) && isEdited(draft, version)) edited.set(promptId, { draft, version });
    });
    return edited;
  }, [sources, versions]);
}
