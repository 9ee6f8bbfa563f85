import type { UseQueryResult } from '@tanstack/react-query';
import { FileInput, FileOutput, FilePlus2, FolderSync, Search } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { useLocation } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import { AppError } from '../../../shared/app-error.ts';
import { maxTransferredPrompts } from '../../../shared/contract/prompt-transfer.ts';
import type { PromptOutline } from '../../../shared/contract/prompt-library.ts';
import type { Prompt } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { isMac } from '../../components/key-caps.tsx';
import { EmptyState, QueryView } from '../../components/state-panels.tsx';
import { useModels } from '../../queries/providers.ts';
import {
  useFollowPrompts,
  usePrompt,
  usePromptList,
  usePromptOutline,
  usePromptsAtOnce,
} from '../../queries/prompts.ts';
import {
  draftAddress,
  promptAddress,
  type PromptsAddress,
  readPromptsAddress,
  versionDraftAddress,
} from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { useShowPageTitle } from '../../stores/window.ts';
import { useDeletions } from '../../stores/deletions.ts';
import { useDrafts } from '../../stores/playground-drafts.ts';
import { isNarrowed, type LibraryFilter, usePromptsView } from '../../stores/prompts.ts';
import { closeFolders, openFolders, useFoldersState, useFollowPromptFolders } from './folders/linked-folders.ts';
import { LibraryNav } from './library-nav.tsx';
import { type OpenAddress, PromptDetail } from './prompt-detail.tsx';
import { PromptList } from './prompt-list.tsx';
import { closeTransfer, openExport, openImport, useTransfer } from './transfer/transfer.ts';
import { ExportDialog } from './transfer/export-dialog.tsx';
import { ImportDialog } from './transfer/import-dialog.tsx';
import { FileDialog } from './folders/file-dialog.tsx';
import { FoldersDialog } from './folders/folders-dialog.tsx';
import './prompts.css';

/** The dialogs of the linked folders and their command. */
function LinkedFolders() {
  const { open } = useFoldersState();
  const folders = useFollowPromptFolders();
  useActions('prompt-folders', [
    {
      id: 'prompts.folders',
      title: 'Show linked folders',
      group: 'Prompts',
      icon: FolderSync,
      run: openFolders,
    },
  ]);
  if (open === 'nothing') return null;
  const folder = open === 'folders' ? undefined : folders.find(({ id }) => id === open.folderId);
  if (open === 'folders' || folder === undefined) return <FoldersDialog folders={folders} onClose={closeFolders} />;
  return <FileDialog key={open.path} folder={folder} path={open.path} />;
}

/** The dialogs of import and export, and their commands. `prompts` are those in the list. */
export function PromptTransfer({ prompts }: { prompts: readonly Prompt[] }) {
  const { open } = useTransfer();
  useActions('prompt-transfer', [
    { id: 'prompts.import', title: 'Import prompts', group: 'Prompts', icon: FileInput, run: openImport },
    {
      id: 'prompts.export',
      title: 'Export prompts',
      group: 'Prompts',
      icon: FileOutput,
      isEnabled: prompts.length > 0,
      run: openExport,
    },
  ]);
  if (open === 'import') return <ImportDialog onClose={closeTransfer} />;
  return open === 'export' ? <ExportDialog prompts={prompts} onClose={closeTransfer} /> : null;
}

const noModels: readonly Model[] = [];
const noPrompts: readonly Prompt[] = [];

function useNewPrompt(): () => void {
  const [, navigate] = useLocation();
  return () => navigate(draftAddress(useDrafts.getState().create()));
}

function EmptyLibrary({ onNew }: { onNew: () => void }) {
  return (
    <div className="list-state">
      <PromptTransfer prompts={noPrompts} />
      <EmptyState
        title="No prompts yet"
        reason={`Write one in the playground and save it with ${isMac ? 'Command' : 'Ctrl'}+S. Each save creates a version that never changes.`}
      >
        <Button variant="primary" icon={FilePlus2} onClick={onNew}>
          New prompt
        </Button>
        <Button icon={FileInput} onClick={openImport}>
          Import prompts
        </Button>
        <Button icon={FolderSync} onClick={openFolders}>
          Link a folder
        </Button>
      </EmptyState>
    </div>
  );
}

function NothingOpen() {
  return (
    <div className="list-state">
      <EmptyState title="No prompt selected" reason="Select a prompt to see its versions, diffs and runs." />
    </div>
  );
}

function OpenPrompt({ prompt, address }: { prompt: UseQueryResult<Prompt>; address: OpenAddress }) {
  const outline = usePromptOutline().data;
  const models = useModels().data?.data ?? noModels;
  const folders = useMemo(() => outline?.folders.map(({ folder }) => folder) ?? [], [outline]);
  if (prompt.error instanceof AppError && (prompt.error.status === 404 || prompt.error.status === 400)) {
    return (
      <div className="list-state">
        <EmptyState title="Prompt not found" reason="It may have been deleted. Its runs are still in the audit." />
      </div>
    );
  }
  return (
    <QueryView query={prompt} subject="the prompt">
      {(open) => <PromptDetail key={open.id} prompt={open} address={address} folders={folders} models={models} />}
    </QueryView>
  );
}

/** The prompt that the address names, unless it was just deleted. */
function useOpenPrompt(address: PromptsAddress) {
  const deleted = useDeletions(({ ids }) => ids);
  const promptId = address.view === 'none' || deleted.has(address.promptId) ? null : address.promptId;
  const prompt = usePrompt(promptId);
  return { promptId, prompt };
}

/** All prompts of the view once the export is open; until then, those that the list has loaded. */
function useExported(listed: readonly Prompt[]) {
  const view = usePromptsView();
  const isExporting = useTransfer(({ open }) => open === 'export');
  const all = usePromptsAtOnce(view, { max: maxTransferredPrompts, isEnabled: isExporting });
  const deleted = useDeletions(({ ids }) => ids);
  const prompts = useMemo(() => all.data?.filter(({ id }) => !deleted.has(id)), [all.data, deleted]);
  return isExporting && prompts ? { key: 'all', prompts } : { key: 'listed', prompts: listed };
}

/** The loaded prompts of a view, without those whose deletion can still be undone. */
function useListedPrompts(view: LibraryFilter) {
  const list = usePromptList(view);
  const deleted = useDeletions(({ ids }) => ids);
  const listed = useMemo(
    () => (list.data?.pages ?? []).flatMap(({ data }) => data).filter(({ id }) => !deleted.has(id)),
    [list.data, deleted],
  );
  return { list, listed };
}

function Library({ outline, onNew }: { outline: PromptOutline; onNew: () => void }) {
  const [location, navigate] = useLocation();
  const search = useRef<HTMLInputElement>(null);
  const view = usePromptsView();
  const { list, listed } = useListedPrompts(view);
  const address = readPromptsAddress(location);
  const { promptId, prompt } = useOpenPrompt(address);
  const exported = useExported(listed);
  useShowPageTitle(prompt.data?.name ?? null);
  useActions('prompts', [
    {
      id: 'prompts.find',
      title: 'Search prompts',
      group: 'Prompts',
      icon: Search,
      keys: '/',
      run: () => search.current?.select(),
    },
    {
      id: 'prompts.new',
      title: 'New prompt',
      group: 'Prompts',
      icon: FilePlus2,
      keys: 'Mod+Alt+N',
      run: onNew,
    },
  ]);
  // The last prompt may be deleted on the screen but not yet at the host.
  if (list.isSuccess && listed.length === 0 && !list.hasNextPage && !isNarrowed(view)) {
    return <EmptyLibrary onNew={onNew} />;
  }
  return (
    <div className="prompts">
      <PromptTransfer key={exported.key} prompts={exported.prompts} />
      <div className="wide-only prompts__nav">
        <LibraryNav outline={outline} />
      </div>
      <PromptList
        outline={outline}
        list={list}
        prompts={listed}
        selectedId={promptId}
        search={search}
        onSelect={({ id }) => navigate(promptAddress(id), { replace: promptId !== null })}
        onOpen={({ id, latestVersionId }) => navigate(versionDraftAddress(id, latestVersionId))}
        onNew={onNew}
      />
      <section className="panel prompts__detail" aria-label={prompt.data?.name ?? 'Prompt'}>
        {promptId === null || address.view === 'none' ? (
          <NothingOpen />
        ) : (
          <OpenPrompt prompt={prompt} address={address} />
        )}
      </section>
    </div>
  );
}

/** The library: folders and tags, the prompts, and one prompt with its versions. */
export function PromptsScreen() {
  useFollowPrompts();
  const outline = usePromptOutline();
  const onNew = useNewPrompt();
  return (
    <>
      <LinkedFolders />
      <QueryView query={outline} subject="the prompts" rows={6}>
        {(read) => (read.prompts === 0 ? <EmptyLibrary onNew={onNew} /> : <Library outline={read} onNew={onNew} />)}
      </QueryView>
    </>
  );
}
