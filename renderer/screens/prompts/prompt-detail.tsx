import { Copy, Ellipsis, FolderInput, Hash, Pencil, RotateCcw, SquareTerminal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { classNames } from '../../components/class-names.ts';
import { IconButton } from '../../components/icon-button.tsx';
import { Badge } from '../../components/marks.tsx';
import { Menu } from '../../components/menu.tsx';
import { QueryView } from '../../components/query-view.tsx';
import { ErrorFailure } from '../../components/state-panels.tsx';
import { usePromptVersion, usePromptVersions } from '../../queries/prompts.ts';
import { promptAddress, promptCompareAddress, promptRunAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { CompareView } from './compare-view.tsx';
import { DetailsDialog, type DetailField } from './details-dialog.tsx';
import type { PromptsAddress } from './prompts-address.ts';
import { RunView } from './run-view.tsx';
import { usePromptCommands, type PromptCommands } from './use-prompt-commands.ts';
import { VersionList } from './version-list.tsx';
import { VersionView } from './version-view.tsx';

const views = [
  { value: 'version', label: 'Version' },
  { value: 'compare', label: 'Compare' },
  { value: 'run', label: 'Run' },
] as const;

export type OpenAddress = Exclude<PromptsAddress, { view: 'none' }>;

interface HeadProps {
  prompt: Prompt;
  /** Undefined while it is on its way. */
  version: PromptVersion | undefined;
  isNewest: boolean;
  commands: PromptCommands;
  onEdit: (field: DetailField) => void;
}

function useDetailActions({ prompt, version, isNewest, commands, onEdit }: HeadProps, show: (view: string) => void) {
  const group = 'Prompts';
  useActions('prompt-detail', [
    {
      id: 'prompts.open',
      title: `Open ${prompt.name} in the playground`,
      group,
      icon: SquareTerminal,
      keys: 'O',
      isEnabled: version !== undefined,
      run: () => version && commands.openInPlayground(version.id),
    },
    {
      id: 'prompts.rename',
      title: `Rename ${prompt.name}`,
      group,
      icon: Pencil,
      keys: 'F2',
      run: () => onEdit('name'),
    },
    {
      id: 'prompts.move',
      title: `Move ${prompt.name} to a folder`,
      group,
      icon: FolderInput,
      run: () => onEdit('folder'),
    },
    { id: 'prompts.tag', title: `Tag ${prompt.name}`, group, icon: Hash, keys: 'T', run: () => onEdit('tags') },
    { id: 'prompts.duplicate', title: `Duplicate ${prompt.name}`, group, icon: Copy, run: commands.duplicate },
    {
      id: 'prompts.restore',
      title: `Restore version ${version?.number ?? ''}`,
      group,
      icon: RotateCcw,
      isEnabled: version !== undefined && !isNewest,
      run: () => version && commands.restore(version),
    },
    { id: 'prompts.delete', title: `Delete ${prompt.name}`, group, icon: Trash2, keys: 'Delete', run: commands.remove },
    { id: 'prompts.show.version', title: 'Read the version', group, keys: 'V', run: () => show('version') },
    { id: 'prompts.show.compare', title: 'Compare versions', group, keys: 'C', run: () => show('compare') },
    { id: 'prompts.show.run', title: 'Run with values', group, keys: 'R', run: () => show('run') },
  ]);
}

function Head({ prompt, version, isNewest, commands, onEdit }: HeadProps) {
  return (
    <div className="prompts__head">
      <div className="row">
        <h2 className="prompts__title truncate">{prompt.name}</h2>
        {version && !isNewest && <Badge tone="caution">Version {version.number}, not the newest</Badge>}
        <span className="grow" />
        {version && !isNewest && (
          <Button size="small" icon={RotateCcw} onClick={() => commands.restore(version)}>
            Restore
          </Button>
        )}
        <Button
          size="small"
          variant="primary"
          icon={SquareTerminal}
          keys="O"
          aria-disabled={!version || undefined}
          onClick={() => version && commands.openInPlayground(version.id)}
        >
          Open
        </Button>
        <Menu
          align="end"
          groups={[
            [
              { label: 'Rename', icon: Pencil, keys: 'F2', onSelect: () => onEdit('name') },
              { label: 'Move to a folder', icon: FolderInput, onSelect: () => onEdit('folder') },
              { label: 'Change tags', icon: Hash, keys: 'T', onSelect: () => onEdit('tags') },
              { label: 'Duplicate', icon: Copy, onSelect: commands.duplicate },
            ],
            [{ label: 'Delete', icon: Trash2, isNegative: true, onSelect: commands.remove }],
          ]}
        >
          <IconButton icon={Ellipsis} label={`More for ${prompt.name}`} size="small" />
        </Menu>
      </div>
      <p className="row caption tertiary">
        <span className="nowrap">{prompt.folder ?? 'No folder'}</span>
        {prompt.tags.map((tag) => (
          <Badge key={tag} isOutlined>
            {tag}
          </Badge>
        ))}
        {prompt.description !== null && <span className="truncate secondary">{prompt.description}</span>}
      </p>
    </div>
  );
}

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
  const commands = usePromptCommands(prompt);
  const { list, versions, main, other } = useVersionsOf(prompt, address);
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
  const head = { prompt, version, isNewest: shownId === prompt.latestVersionId, commands, onEdit: edit };
  useDetailActions(head, show);
  return (
    <>
      <Head {...head} />
      <div className="prompts__work" data-view={address.view}>
        <div className={classNames('panel', 'panel--inset', 'line-right', address.view === 'compare' && 'wide-only')}>
          <div className="header header--line">
            <h2>Versions</h2>
          </div>
          <QueryView query={list} subject="the versions">
            {() => (
              <VersionList
                versions={versions}
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
            <div className="prompts__state">
              <ErrorFailure title="The version could not be read" error={main.error}>
                <Button onClick={() => navigate(promptAddress(prompt.id))}>Open the newest version</Button>
              </ErrorFailure>
            </div>
          )}
          {version && address.view === 'version' && <VersionView key={version.id} version={version} models={models} />}
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
    </>
  );
}
