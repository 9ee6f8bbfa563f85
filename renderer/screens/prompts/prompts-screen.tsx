import { FileInput, FilePlus2, Search } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { useLocation } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import type { Prompt } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { QueryView } from '../../components/query-view.tsx';
import { EmptyState } from '../../components/state-panels.tsx';
import { useModels } from '../../queries/models.ts';
import { useNewestVersions, usePrompts } from '../../queries/prompts.ts';
import { promptAddress, versionDraftAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { usePlace } from '../../stores/activity.ts';
import { useDeletions } from '../../stores/deletions.ts';
import { useDrafts } from '../../stores/playground-drafts.ts';
import { usePromptsView } from '../../stores/prompts-view.ts';
import { draftAddress } from '../playground/session/use-addresses.ts';
import { filterPrompts, foldersOf } from './library-model.ts';
import { LibraryNav } from './library-nav.tsx';
import { PromptDetail } from './prompt-detail.tsx';
import { PromptList } from './prompt-list.tsx';
import { readPromptsAddress } from './prompts-address.ts';
import { PromptTransfer } from './transfer/prompt-transfer.tsx';
import { openImport } from './transfer/transfer-state.ts';
import './prompts.css';

/** A library beyond this has its texts read when someone searches, not when it is opened. */
const mostReadUnasked = 500;

const noModels: readonly Model[] = [];
const noPrompts: readonly Prompt[] = [];

function useNewPrompt(): () => void {
  const [, navigate] = useLocation();
  return () => navigate(draftAddress(useDrafts.getState().create()));
}

function EmptyLibrary({ onNew }: { onNew: () => void }) {
  return (
    <div className="prompts__state">
      <PromptTransfer prompts={noPrompts} />
      <EmptyState
        title="No prompts yet"
        reason="Write one in the playground and save it with Ctrl+S or Command+S. Each save is a version that never changes."
      >
        <Button variant="primary" icon={FilePlus2} onClick={onNew}>
          Write a prompt
        </Button>
        <Button icon={FileInput} onClick={openImport}>
          Import prompts
        </Button>
      </EmptyState>
    </div>
  );
}

function NothingOpen({ isUnknown }: { isUnknown: boolean }) {
  return (
    <section className="panel prompts__detail" aria-label="Prompt">
      <div className="prompts__state">
        <EmptyState
          title={isUnknown ? 'There is no such prompt' : 'Choose a prompt'}
          reason={
            isUnknown
              ? 'It was deleted. Its runs are still in the audit.'
              : 'Its versions, their differences and their runs stand here.'
          }
        />
      </div>
    </section>
  );
}

function Library({ prompts, onNew }: { prompts: readonly Prompt[]; onNew: () => void }) {
  const [location, navigate] = useLocation();
  const search = useRef<HTMLInputElement>(null);
  const view = usePromptsView();
  const models = useModels().data?.data ?? noModels;
  const isSearching = view.words.trim() !== '';
  const newest = useNewestVersions(prompts, isSearching || prompts.length <= mostReadUnasked);
  const shown = useMemo(() => filterPrompts(prompts, view, newest.data), [prompts, view, newest.data]);
  const folders = useMemo(() => foldersOf(prompts).map(({ path }) => path), [prompts]);
  const address = readPromptsAddress(location);
  const open = address.view === 'none' ? undefined : prompts.find(({ id }) => id === address.promptId);
  usePlace(open?.name ?? null);
  useActions('prompts', [
    {
      id: 'prompts.find',
      title: 'Search the prompts',
      group: 'Prompts',
      icon: Search,
      keys: '/',
      run: () => search.current?.select(),
    },
    {
      id: 'prompts.new',
      title: 'Write a new prompt',
      group: 'Prompts',
      icon: FilePlus2,
      keys: 'Mod+Alt+N',
      run: onNew,
    },
  ]);
  return (
    <div className="prompts">
      <PromptTransfer prompts={shown} />
      <div className="wide-only prompts__nav">
        <LibraryNav prompts={prompts} />
      </div>
      <PromptList
        prompts={prompts}
        shown={shown}
        versions={newest.data}
        isReading={isSearching && newest.isFetching}
        models={models}
        selectedId={open?.id ?? null}
        search={search}
        onSelect={({ id }) => navigate(promptAddress(id), { replace: open !== undefined })}
        onOpen={({ id, latestVersionId }) => navigate(versionDraftAddress(id, latestVersionId))}
        onNew={onNew}
      />
      {open && address.view !== 'none' ? (
        <PromptDetail key={open.id} prompt={open} address={address} folders={folders} models={models} />
      ) : (
        <NothingOpen isUnknown={address.view !== 'none'} />
      )}
    </div>
  );
}

/** The library: folders and tags, the prompts, and one prompt with its versions. */
export function PromptsScreen() {
  const prompts = usePrompts();
  const deleted = useDeletions(({ ids }) => ids);
  const onNew = useNewPrompt();
  const kept = useMemo(() => (prompts.data ?? []).filter(({ id }) => !deleted.has(id)), [prompts.data, deleted]);
  return (
    <QueryView query={prompts} subject="the prompts" rows={6}>
      {() => (kept.length === 0 ? <EmptyLibrary onNew={onNew} /> : <Library prompts={kept} onNew={onNew} />)}
    </QueryView>
  );
}
