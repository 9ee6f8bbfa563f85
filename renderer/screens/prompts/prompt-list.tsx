import { FileInput, FileOutput, FilePlus2, FolderTree, Search, X } from 'lucide-react';
import { useState, type RefObject } from 'react';
import type { Model } from '../../../shared/contract/providers.ts';
import type { PromptOutline } from '../../../shared/contract/prompt-library.ts';
import type { Prompt } from '../../../shared/contract/prompts.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { formatPlural, formatTime } from '../../components/format.ts';
import { Badge } from '../../components/badges.tsx';
import { Popover } from '../../components/popover.tsx';
import { EmptyState, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { useModels } from '../../queries/providers.ts';
import type { usePromptList } from '../../queries/prompts.ts';
import { everyPrompt, isNarrowed, usePromptsView } from '../../stores/prompts.ts';
import { shutdownBadge } from '../../components/models/model-list.ts';
import { modelOf } from './library-model.ts';
import { LibraryNav } from './library-nav.tsx';
import { openExport, openImport } from './transfer/transfer.ts';
import { useLibraryDrafts } from './use-library-drafts.ts';
import { useToday } from '../../components/use-today.ts';

const rowHeight = 48;
const noModels: readonly Model[] = [];

/** A row of the list, with the main details of its newest version and its draft. */
function Row({ prompt, models, isEdited }: { prompt: Prompt; models: readonly Model[]; isEdited: boolean }) {
  const model = modelOf(prompt.latestVersion, models);
  const today = useToday();
  const shutdown = model && shutdownBadge(model, today);
  return (
    <div className="list-row">
      <span className="row">
        <span className="medium grow truncate">{prompt.name}</span>
        <span className="caption tertiary numbers nowrap">{formatTime(prompt.updatedAt)}</span>
      </span>
      <span className="row">
        {/* Truncated at its end only: the version and the labels matter most. */}
        <span className="prompts__details grow caption tertiary truncate">
          <span>Version {prompt.latestVersion.number}</span>
          {prompt.labels.length > 0 && (
            <span className="accent">{prompt.labels.map(({ label }) => label).join(', ')}</span>
          )}
          {prompt.folder !== null && <span>{prompt.folder}</span>}
          {prompt.tags.length > 0 && <span>{prompt.tags.join(', ')}</span>}
        </span>
        {isEdited && <Badge tone="caution">Draft</Badge>}
        {shutdown && <Badge tone={shutdown.tone}>{shutdown.text}</Badge>}
      </span>
    </div>
  );
}

function NoMatches() {
  return (
    <div className="list-state">
      <EmptyState
        title="No matching prompts"
        reason="Search covers names, folders, tags, descriptions, labels and the text of every version."
      >
        <Button onClick={() => usePromptsView.setState(everyPrompt)}>Show all prompts</Button>
      </EmptyState>
    </div>
  );
}

export interface PromptListProps {
  outline: PromptOutline;
  list: ReturnType<typeof usePromptList>;
  /** The loaded part of the list. */
  prompts: readonly Prompt[];
  selectedId: string | null;
  search: RefObject<HTMLInputElement | null>;
  onSelect: (prompt: Prompt) => void;
  onOpen: (prompt: Prompt) => void;
  onNew: () => void;
}

/** The number of loaded prompts. */
function ResultCount({ list, prompts }: Pick<PromptListProps, 'list' | 'prompts'>) {
  const count = formatPlural(prompts.length, 'prompt');
  return (
    <span className="visually-hidden" role="status">
      {list.hasNextPage ? `More than ${count}` : count}
    </span>
  );
}

function ListActions({ onNew }: Pick<PromptListProps, 'onNew'>) {
  return (
    <div className="prompts__actions">
      <Button size="small" variant="primary" icon={FilePlus2} aria-label="New prompt" onClick={onNew}>
        New
      </Button>
      <span className="grow" />
      <Button size="small" variant="quiet" icon={FileInput} aria-label="Import prompts" onClick={openImport}>
        Import
      </Button>
      <Button size="small" variant="quiet" icon={FileOutput} aria-label="Export prompts" onClick={openExport}>
        Export
      </Button>
    </div>
  );
}

function Head({ outline, list, prompts, search }: PromptListProps) {
  const view = usePromptsView();
  return (
    <div className="list-find">
      <Popover
        label="Folders and tags"
        trigger={<IconButton className="narrow-only" icon={FolderTree} label="Folders and tags" size="small" />}
      >
        <LibraryNav outline={outline} />
      </Popover>
      <TextField
        ref={search}
        label="Search prompts"
        isLabelHidden
        size="small"
        icon={Search}
        placeholder="Search names and texts"
        value={view.query}
        onValueChange={(next) => usePromptsView.setState({ query: next })}
        onKeyDown={(event) => event.key === 'Escape' && usePromptsView.setState({ query: '' })}
        end={
          isNarrowed(view) && (
            <button
              type="button"
              className="prompts__clear"
              aria-label="Show all prompts"
              onClick={() => usePromptsView.setState(everyPrompt)}
            >
              <X className="icon icon--small" />
            </button>
          )
        }
      />
      <ResultCount list={list} prompts={prompts} />
    </div>
  );
}

/** Identifies the query of the rows: another query starts at its first row, once its rows are loaded. */
function useShownQuery({ isPlaceholderData }: PromptListProps['list']): string {
  const query = JSON.stringify(usePromptsView());
  const [shown, setShown] = useState(query);
  if (!isPlaceholderData && shown !== query) setShown(query);
  return shown;
}

/** The prompts that match the search, the newest first. */
export function PromptList(props: PromptListProps) {
  const { list, prompts, selectedId, onSelect, onOpen } = props;
  const models = useModels().data?.data ?? noModels;
  const drafts = useLibraryDrafts();
  const shownQuery = useShownQuery(list);
  const readOn = (): void => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
  };
  return (
    <section className="panel prompts__list" aria-label="Prompts">
      <ListActions onNew={props.onNew} />
      <Head {...props} />
      <QueryView query={list} subject="the prompts" rows={6}>
        {() =>
          prompts.length === 0 && !list.hasNextPage ? (
            <NoMatches />
          ) : (
            <VirtualList
              key={shownQuery}
              label="Prompts, newest first. Press Enter to open one in the playground"
              className="list-rows"
              items={prompts}
              itemKey={({ id }) => id}
              rowHeight={rowHeight}
              selectedKey={selectedId}
              onSelect={onSelect}
              onOpen={onOpen}
              onEndReached={readOn}
              renderItem={(prompt) => <Row prompt={prompt} models={models} isEdited={drafts.has(prompt.id)} />}
            />
          )
        }
      </QueryView>
    </section>
  );
}
