import { FileInput, FileOutput, FilePlus2, FolderTree, Search, X } from 'lucide-react';
import type { RefObject } from 'react';
import type { Model } from '../../../shared/contract/providers.ts';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { formatPlural, formatTime } from '../../components/format.ts';
import { IconButton } from '../../components/icon-button.tsx';
import { Badge } from '../../components/marks.tsx';
import { Popover } from '../../components/popover.tsx';
import { EmptyState } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { everyPrompt, usePromptsView } from '../../stores/prompts-view.ts';
import { shutdownMark } from '../playground/model/model-list.ts';
import { modelOf } from './library-model.ts';
import { LibraryNav } from './library-nav.tsx';
import { openExport, openImport } from './transfer/transfer-state.ts';

const rowHeight = 48;

function Row({
  prompt,
  version,
  models,
}: {
  prompt: Prompt;
  version: PromptVersion | undefined;
  models: readonly Model[];
}) {
  const model = version && modelOf(version, models);
  const shutdown = model && shutdownMark(model, new Date());
  return (
    <div className="prompt-row">
      <span className="medium truncate">{prompt.name}</span>
      <span className="caption tertiary numbers nowrap">{formatTime(prompt.updatedAt)}</span>
      <span className="row caption tertiary truncate">
        {version && <span className="nowrap">Version {version.number}</span>}
        {prompt.folder !== null && <span className="truncate">{prompt.folder}</span>}
        {prompt.tags.length > 0 && <span className="truncate">{prompt.tags.join(', ')}</span>}
      </span>
      <span className="prompt-row__mark">{shutdown && <Badge tone={shutdown.tone}>{shutdown.text}</Badge>}</span>
    </div>
  );
}

function NothingFound({ isReading }: { isReading: boolean }) {
  return (
    <div className="prompts__state">
      <EmptyState
        title={isReading ? 'Looking through the texts' : 'No prompt matches'}
        reason="Search looks at names, texts, system messages, tags, folders and descriptions."
      >
        <Button onClick={() => usePromptsView.setState(everyPrompt)}>Show all prompts</Button>
      </EmptyState>
    </div>
  );
}

export interface PromptListProps {
  prompts: readonly Prompt[];
  /** Those that pass the filter. */
  shown: readonly Prompt[];
  versions: ReadonlyMap<string, PromptVersion> | undefined;
  /** The texts are still on their way, so more may be found. */
  isReading: boolean;
  models: readonly Model[];
  selectedId: string | null;
  search: RefObject<HTMLInputElement | null>;
  onSelect: (prompt: Prompt) => void;
  onOpen: (prompt: Prompt) => void;
  onNew: () => void;
}

function Head({ prompts, shown, search, onNew }: PromptListProps) {
  const { words, folder, tags } = usePromptsView();
  const isNarrowed = words !== '' || folder !== null || tags.length > 0;
  return (
    <div className="prompts__find">
      <Popover
        label="Folders and tags"
        trigger={<IconButton className="narrow-only" icon={FolderTree} label="Folders and tags" size="small" />}
      >
        <LibraryNav prompts={prompts} />
      </Popover>
      <TextField
        ref={search}
        label="Search prompts"
        isLabelHidden
        size="small"
        icon={Search}
        placeholder="Search names and texts"
        value={words}
        onValueChange={(next) => usePromptsView.setState({ words: next })}
        onKeyDown={(event) => event.key === 'Escape' && usePromptsView.setState({ words: '' })}
        end={
          isNarrowed && (
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
      <IconButton icon={FileInput} label="Import prompts" size="small" onClick={openImport} />
      <IconButton icon={FileOutput} label="Export prompts" size="small" onClick={openExport} />
      <IconButton icon={FilePlus2} label="New prompt" size="small" onClick={onNew} />
      <span className="visually-hidden" role="status">
        {formatPlural(shown.length, 'prompt')}
      </span>
    </div>
  );
}

/** The prompts that pass the search, the newest first. */
export function PromptList(props: PromptListProps) {
  const { shown, versions, models, selectedId, isReading, onSelect, onOpen } = props;
  return (
    <section className="panel prompts__list" aria-label="Prompts">
      <Head {...props} />
      {shown.length === 0 ? (
        <NothingFound isReading={isReading} />
      ) : (
        <VirtualList
          label="Prompts, newest first. Enter opens one in the playground"
          className="prompts__rows"
          items={shown}
          itemKey={({ id }) => id}
          rowHeight={rowHeight}
          selectedKey={selectedId}
          onSelect={onSelect}
          onOpen={onOpen}
          renderItem={(prompt) => <Row prompt={prompt} version={versions?.get(prompt.id)} models={models} />}
        />
      )}
    </section>
  );
}
