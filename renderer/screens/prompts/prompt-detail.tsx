import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { classNames } from '../../components/class-names.ts';
import { QueryView } from '../../components/query-view.tsx';
import { ErrorFailure } from '../../components/state-panels.tsx';
import { usePromptUsage } from '../../queries/prompt-usage.ts';
import { usePromptVersion, usePromptVersions } from '../../queries/prompts.ts';
import { promptAddress, promptCompareAddress, promptRunAddress } from '../../shell/addresses.ts';
import { CompareView } from './compare-view.tsx';
import { DraftNotice } from './draft-notice.tsx';
import { DetailsDialog, type DetailField } from './details-dialog.tsx';
import { LabelHistory } from './label-history.tsx';
import { PromptHead, useDetailActions } from './prompt-head.tsx';
import type { PromptsAddress } from './prompts-address.ts';
import { RunView } from './run-view.tsx';
import { useLibraryDrafts } from './use-library-drafts.ts';
import { usePromptCommands } from './use-prompt-commands.ts';
import { VersionList } from './version-list.tsx';
import { VersionView } from './version-view.tsx';

const views = [
  { value: 'version', label: 'Version' },
  { value: 'compare', label: 'Compare' },
  { value: 'run', label: 'Run' },
] as const;

export type OpenAddress = Exclude<PromptsAddress, { view: 'none' }>;

/** The version an address names, from the list where it is there. */
function useAddressedVersion(promptId: string, versionId: string, versions: readonly PromptVersion[]) {
  const listed = versions.find(({ id }) => id === versionId);
  const read = usePromptVersion(listed ? null : promptId, listed ? null : versionId);
  return { version: listed ?? read.data, error: listed ? null : read.error };
}

function useVersionsOf(prompt: Prompt, address: OpenAddress) {
  const list = usePromptVersions(prompt.id);
  const versions = (list.data?.pages ?? []).flatMap(({ data }) => data);
  const wantedId = address.view === 'compare' ? address.afterId : address.versionId;
  const main = useAddressedVersion(prompt.id, wantedId ?? prompt.latestVersionId, versions);
  const before = versions.find(({ number }) => main.version && number < main.version.number);
  const otherId = address.view === 'compare' ? address.beforeId : null;
  const other = useAddressedVersion(prompt.id, otherId ?? before?.id ?? prompt.latestVersionId, versions);
  return { list, versions, main, other };
}

export interface PromptDetailProps {
  prompt: Prompt;
  address: OpenAddress;
  folders: readonly string[];
  models: readonly Model[];
}

/** One prompt: its versions, and the chosen one to be read, compared or run. */
export function PromptDetail({ prompt, address, folders, models }: PromptDetailProps) {
  const [, navigate] = useLocation();
  const [edited, setEdited] = useState<DetailField | null>(null);
  const [isLabelsShown, setLabelsShown] = useState(false);
  const commands = usePromptCommands(prompt);
  const { list, versions, main, other } = useVersionsOf(prompt, address);
  const usage = usePromptUsage(prompt.id, list.data?.pages.length ?? 1);
  const draft = useLibraryDrafts().get(prompt.id);
  const { version } = main;
  const shownId = version?.id ?? prompt.latestVersionId;
  const show = (view: string): void => {
    const compare = () => promptCompareAddress(prompt.id, other.version?.id ?? shownId, shownId);
    const to = { version: promptAddress(prompt.id, shownId), run: promptRunAddress(prompt.id, shownId) };
    navigate(view === 'compare' ? compare() : view === 'run' ? to.run : to.version);
  };
  const select = ({ id }: PromptVersion): void => {
    const to =
      address.view === 'compare'
        ? promptCompareAddress(prompt.id, other.version?.id ?? id, id)
        : address.view === 'run'
          ? promptRunAddress(prompt.id, id)
          : promptAddress(prompt.id, id);
    navigate(to, { replace: true });
  };
  // A menu gives the focus back to its button before what it opened may have it.
  const edit = (field: DetailField): void => void requestAnimationFrame(() => setEdited(field));
  const showLabels = (): void => void requestAnimationFrame(() => setLabelsShown(true));
  const head = {
    onLabels: showLabels,
    prompt,
    version,
    isNewest: shownId === prompt.latestVersionId,
    commands,
    onEdit: edit,
  };
  useDetailActions(head, show);
  return (
    <>
      <PromptHead {...head} />
      {draft && <DraftNotice edited={draft} />}
      <div className="prompts__work" data-view={address.view}>
        <div className={classNames('panel', 'panel--inset', 'line-right', address.view === 'compare' && 'wide-only')}>
          <div className="header header--line">
            <h2>Versions</h2>
          </div>
          <QueryView query={list} subject="the versions">
            {() => (
              <VersionList
                versions={versions}
                labels={prompt.labels}
                usage={usage.data}
                selectedId={shownId}
                onSelect={select}
                onOpen={({ id }) => commands.openInPlayground(id)}
                onEndReached={() => {
                  if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
                }}
              />
            )}
          </QueryView>
        </div>
        <div className="panel">
          <div className="header header--line">
            <Segmented label="What is shown" value={address.view} options={views} onValueChange={show} />
          </div>
          {main.error && (
            <div className="list-state">
              <ErrorFailure title="The version could not be read" error={main.error}>
                <Button onClick={() => navigate(promptAddress(prompt.id))}>Open the newest version</Button>
              </ErrorFailure>
            </div>
          )}
          {version && address.view === 'version' && (
            <VersionView key={version.id} prompt={prompt} version={version} usage={usage} models={models} />
          )}
          {version && address.view === 'run' && <RunView key={version.id} version={version} />}
          {version && other.version && address.view === 'compare' && (
            <CompareView
              versions={versions}
              before={other.version}
              after={version}
              onChoose={(beforeId, afterId) => navigate(promptCompareAddress(prompt.id, beforeId, afterId))}
            />
          )}
        </div>
      </div>
      {edited && <DetailsDialog prompt={prompt} folders={folders} focus={edited} onClose={() => setEdited(null)} />}
      {isLabelsShown && <LabelHistory prompt={prompt} versions={versions} onClose={() => setLabelsShown(false)} />}
    </>
  );
}
