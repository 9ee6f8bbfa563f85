import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { classNames } from '../../components/class-names.ts';
import { ErrorFailure, QueryView } from '../../components/state-panels.tsx';
import { usePromptLabelChanges, usePromptUsage } from '../../queries/prompt-details.ts';
import { usePromptVersion, usePromptVersions } from '../../queries/prompts.ts';
import { promptAddress, promptCompareAddress, promptRunAddress, type PromptsAddress } from '../../shell/addresses.ts';
import { CompareView } from './compare-view.tsx';
import { DraftNotice } from './version-notices.tsx';
import { type DetailField, DetailsDialog } from './prompt-dialogs.tsx';
import { PromptHead, useDetailActions, usePromptCommands } from './prompt-head.tsx';
import { RunView } from './run-view.tsx';
import { useLibraryDrafts } from './use-library-drafts.ts';
import { VersionList } from './version-list.tsx';
import { VersionView } from './version-view.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { formatTime } from '../../components/format.ts';
import { Badge } from '../../components/badges.tsx';

function VersionName(props: { prompt: Prompt; versionId: string; versions: readonly PromptVersion[] }) {
  const { prompt, versionId, versions } = props;
  const listed = versions.find(({ id }) => id === versionId);
  const read = usePromptVersion(listed ? null : prompt.id, listed ? null : versionId);
  const version = listed ?? read.data;
  return <>{version ? `version ${version.number}` : 'a version'}</>;
}

/** The moves of a prompt's labels, the newest first. */
function LabelHistory(props: { prompt: Prompt; versions: readonly PromptVersion[]; onClose: () => void }) {
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

const views = [
  { value: 'version', label: 'Version' },
  { value: 'compare', label: 'Compare' },
  { value: 'run', label: 'Run' },
] as const;

export type OpenAddress = Exclude<PromptsAddress, { view: 'none' }>;

/** The version of an address, from the list if it is there; null while it loads. */
function useAddressedVersion(promptId: string, versionId: string | null, versions: readonly PromptVersion[]) {
  const listed = versions.find(({ id }) => id === versionId);
  const read = usePromptVersion(listed ? null : promptId, listed ? null : versionId);
  return { version: listed ?? read.data, error: listed ? null : read.error };
}

function useVersionsOf(prompt: Prompt, address: OpenAddress) {
  const list = usePromptVersions(prompt.id);
  const versions = (list.data?.pages ?? []).flatMap(({ data }) => data);
  const requestedId = address.view === 'compare' ? address.afterId : address.versionId;
  const main = useAddressedVersion(prompt.id, requestedId ?? prompt.latestVersionId, versions);
  const before = versions.find(({ number }) => main.version && number < main.version.number);
  const otherId = address.view === 'compare' ? address.beforeId : null;
  // The list tells which version is the previous one. A single version is compared with itself.
  const onlyId = list.isPending ? null : prompt.latestVersionId;
  const other = useAddressedVersion(prompt.id, otherId ?? before?.id ?? onlyId, versions);
  return { list, versions, main, other };
}

/** Links of the detail: another view of the shown version, or another version in the same view. */
function useWays(prompt: Prompt, address: OpenAddress, { shownId, otherId }: { shownId: string; otherId?: string }) {
  const [, navigate] = useLocation();
  const to = (view: string, versionId: string): string => {
    if (view === 'compare') return promptCompareAddress(prompt.id, otherId ?? null, versionId);
    return view === 'run' ? promptRunAddress(prompt.id, versionId) : promptAddress(prompt.id, versionId);
  };
  return {
    show: (view: string): void => navigate(to(view, shownId)),
    select: ({ id }: PromptVersion): void => navigate(to(address.view, id), { replace: true }),
    compare: (beforeId: string, afterId: string): void => navigate(promptCompareAddress(prompt.id, beforeId, afterId)),
    openNewest: (): void => navigate(promptAddress(prompt.id)),
  };
}

interface VersionsPanelProps {
  prompt: Prompt;
  /** Hidden in a narrow window. */
  isWideOnly: boolean;
  read: Pick<ReturnType<typeof useVersionsOf>, 'list' | 'versions'>;
  usage: ReturnType<typeof usePromptUsage>['data'];
  /** Null for a version that can't be loaded. */
  selectedId: string | null;
  onSelect: (version: PromptVersion) => void;
  onOpen: (version: PromptVersion) => void;
}

function VersionsPanel({ prompt, isWideOnly, read, usage, selectedId, onSelect, onOpen }: VersionsPanelProps) {
  const { list, versions } = read;
  return (
    <div className={classNames('panel', 'panel--inset', 'line-right', isWideOnly && 'wide-only')}>
      <div className="header header--line">
        <h2>Versions</h2>
      </div>
      <QueryView query={list} subject="the versions">
        {() => (
          <VersionList
            versions={versions}
            labels={prompt.labels}
            usage={usage}
            selectedId={selectedId}
            onSelect={onSelect}
            onOpen={onOpen}
            onEndReached={() => {
              if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
            }}
          />
        )}
      </QueryView>
    </div>
  );
}

export interface PromptDetailProps {
  prompt: Prompt;
  address: OpenAddress;
  folders: readonly string[];
  models: readonly Model[];
}

/** One prompt: its versions, and the selected one to read, compare or run. */
export function PromptDetail({ prompt, address, folders, models }: PromptDetailProps) {
  const [edited, setEdited] = useState<DetailField | null>(null);
  const [isLabelsShown, setLabelsShown] = useState(false);
  const commands = usePromptCommands(prompt);
  const { list, versions, main, other } = useVersionsOf(prompt, address);
  const usage = usePromptUsage(prompt.id, list.data?.pages.length ?? 1);
  const draft = useLibraryDrafts().get(prompt.id);
  const { version } = main;
  const error = main.error ?? (address.view === 'compare' ? other.error : null);
  const shownId = version?.id ?? prompt.latestVersionId;
  const ways = useWays(prompt, address, { shownId, ...(other.version && { otherId: other.version.id }) });
  const head = {
    // A menu restores the focus to its button first; what it opens takes the focus afterwards.
    onLabels: (): void => void requestAnimationFrame(() => setLabelsShown(true)),
    onEdit: (field: DetailField): void => void requestAnimationFrame(() => setEdited(field)),
    prompt,
    version,
    isNewest: shownId === prompt.latestVersionId,
    commands,
  };
  useDetailActions(head, ways.show);
  return (
    <>
      <PromptHead {...head} />
      {draft && <DraftNotice edited={draft} />}
      <div className="prompts__work" data-view={address.view}>
        <VersionsPanel
          prompt={prompt}
          isWideOnly={address.view === 'compare'}
          read={{ list, versions }}
          usage={usage.data}
          selectedId={main.error ? null : shownId}
          onSelect={ways.select}
          onOpen={({ id }) => commands.openInPlayground(id)}
        />
        <div className="panel">
          <div className="header header--line">
            <Segmented label="View" value={address.view} options={views} onValueChange={ways.show} />
          </div>
          {error && (
            <div className="list-state">
              <ErrorFailure title="Couldn't load the version" error={error}>
                <Button onClick={ways.openNewest}>Open latest version</Button>
              </ErrorFailure>
            </div>
          )}
          {version && address.view === 'version' && (
            <VersionView key={version.id} prompt={prompt} version={version} usage={usage} models={models} />
          )}
          {version && address.view === 'run' && <RunView key={version.id} version={version} />}
          {version && other.version && address.view === 'compare' && (
            <CompareView versions={versions} before={other.version} after={version} onChoose={ways.compare} />
          )}
        </div>
      </div>
      {edited && <DetailsDialog prompt={prompt} folders={folders} focus={edited} onClose={() => setEdited(null)} />}
      {isLabelsShown && <LabelHistory prompt={prompt} versions={versions} onClose={() => setLabelsShown(false)} />}
    </>
  );
}
