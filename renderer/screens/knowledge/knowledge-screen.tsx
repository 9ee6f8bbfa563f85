import { FilePlus2, FolderPlus, Search } from 'lucide-react';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { useLocation } from 'wouter';
import type { DataspaceSummary, SourceDetail } from '../../../shared/contract/knowledge-window.ts';
import { Button } from '../../components/button.tsx';
import { QueryView } from '../../components/query-view.tsx';
import { EmptyState, ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useHost } from '../../host/host-context.tsx';
import {
  useDataspaces,
  useFollowKnowledge,
  useRemoveSource,
  useSource,
  type SourceFilter,
} from '../../queries/knowledge.ts';
import { dataspaceAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { usePlace } from '../../stores/activity.ts';
import { deleteWithUndo } from '../../stores/deletions.ts';
import { uploadFiles, type ChosenFile } from '../../stores/uploads.ts';
import { DataspaceList } from './dataspace-list.tsx';
import { DropZone } from './drop-zone.tsx';
import { FilePicker, tellNothingAdded } from './file-picker.tsx';
import { readKnowledgeAddress, type KnowledgeAddress } from './knowledge-address.ts';
import './knowledge.css';
import { MissingDataspace, NoDataspace } from './no-dataspace.tsx';
import { SearchResults } from './search-results.tsx';
import { SourceList } from './source-list.tsx';
import { SourcePanel } from './source-panel.tsx';

interface SearchFieldProps {
  field: RefObject<HTMLInputElement | null>;
  dataspace: DataspaceSummary;
  words: string;
  onWords: (words: string) => void;
  onSearch: (query: string) => void;
}

function SearchField({ field, dataspace, words, onWords, onSearch }: SearchFieldProps) {
  return (
    <form
      className="toolbar knowledge__search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(words.trim());
      }}
    >
      <TextField
        ref={field}
        label={`Search ${dataspace.name}`}
        isLabelHidden
        icon={Search}
        placeholder={`Ask ${dataspace.name}: a question, words, a name`}
        maxLength={10_000}
        value={words}
        onValueChange={(next) => {
          onWords(next);
          if (next === '') onSearch('');
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          onWords('');
          onSearch('');
        }}
      />
      <Button type="submit" aria-disabled={words.trim() === ''}>
        Search
      </Button>
    </form>
  );
}

interface DataspaceViewProps {
  dataspace: DataspaceSummary;
  address: KnowledgeAddress;
  source: SourceDetail | undefined;
  search: RefObject<HTMLInputElement | null>;
  /** The field that takes files; every way to add some opens it. */
  picker: RefObject<HTMLInputElement | null>;
}

/** The middle and the right: sources or what a search found, and the open source. */
function DataspaceView({ dataspace, address, source, search, picker }: DataspaceViewProps) {
  const { client } = useHost();
  const [, navigate] = useLocation();
  const [filter, setFilter] = useState<SourceFilter>({ text: '', status: 'all' });
  const [words, setWords] = useState('');
  const [query, setQuery] = useState('');
  const endSearch = (): void => {
    setWords('');
    setQuery('');
    search.current?.focus();
  };
  const removeSource = useRemoveSource();
  const addFiles = (files: readonly ChosenFile[]): void => {
    uploadFiles(client, dataspace.id, files);
    if (files.length === 0) tellNothingAdded();
  };
  const remove = ({ id, name }: SourceDetail): void => {
    if (id === address.sourceId) navigate(dataspaceAddress(dataspace.id));
    deleteWithUndo({ id, text: `"${name}" is deleted.`, carryOut: () => removeSource(id) });
  };
  return (
    <DropZone label={`Drop files to add them to ${dataspace.name}`} onFiles={addFiles}>
      <FilePicker picker={picker} onFiles={addFiles} />
      <SearchField field={search} dataspace={dataspace} words={words} onWords={setWords} onSearch={setQuery} />
      <div className="knowledge__work">
        {query === '' ? (
          <SourceList
            dataspace={dataspace}
            selectedId={address.sourceId}
            filter={filter}
            onFilter={setFilter}
            onAdd={() => picker.current?.click()}
            onRemove={remove}
          />
        ) : (
          <section className="panel line-right knowledge__sources" aria-label="Found passages">
            <SearchResults
              question={{ dataspaceId: dataspace.id, query }}
              open={address.passage && { sourceId: address.sourceId, start: address.passage.start }}
              onEnd={endSearch}
            />
          </section>
        )}
        {source ? (
          <SourcePanel key={source.id} source={source} passage={address.passage} onRemove={() => remove(source)} />
        ) : (
          <div className="list-state">
            {dataspace.sources > 0 && address.sourceId === null && (
              <EmptyState
                title="Choose a source"
                reason="Its text opens here, passage by passage, as the search and completions see it."
              />
            )}
          </div>
        )}
      </div>
    </DropZone>
  );
}

function Knowledge({ dataspaces }: { dataspaces: readonly DataspaceSummary[] }) {
  const [location] = useLocation();
  const [isNaming, setNaming] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const address = readKnowledgeAddress(location);
  const source = useSource(address.sourceId);
  // While a source is on its way the dataspace stays that was open: what was searched in it would be lost.
  const openId = useRef<string | null>(null);
  const sourceHome = source.data?.dataspaceId ?? (source.isPending ? openId.current : null);
  const wantedId = address.sourceId === null ? address.dataspaceId : sourceHome;
  // Without an address the newest one is open: most people have one.
  const isPlain = address.sourceId === null && address.dataspaceId === null;
  const dataspace = isPlain ? dataspaces[0] : dataspaces.find(({ id }) => id === wantedId);
  useEffect(() => {
    openId.current = dataspace?.id ?? null;
  }, [dataspace?.id]);
  usePlace(dataspace?.name ?? null);
  const group = 'Knowledge';
  useActions('knowledge', [
    {
      id: 'knowledge.new',
      title: 'Make a dataspace',
      group,
      icon: FolderPlus,
      keys: 'Mod+Alt+N',
      run: () => setNaming(true),
    },
    {
      id: 'knowledge.search',
      title: 'Search the dataspace',
      group,
      icon: Search,
      keys: '/',
      isEnabled: dataspace !== undefined,
      run: () => search.current?.select(),
    },
    {
      id: 'knowledge.add',
      title: dataspaces.length === 0 ? 'Add files' : 'Add files to the dataspace',
      group,
      icon: FilePlus2,
      isEnabled: dataspace !== undefined || dataspaces.length === 0,
      run: () => picker.current?.click(),
    },
  ]);
  return (
    <div className="knowledge">
      <DataspaceList dataspaces={dataspaces} selected={dataspace} isNaming={isNaming} onNaming={setNaming} />
      {dataspace ? (
        <DataspaceView
          key={dataspace.id}
          dataspace={dataspace}
          address={address}
          source={source.data}
          search={search}
          picker={picker}
        />
      ) : address.sourceId !== null ? (
        <Missing source={source} />
      ) : dataspaces.length === 0 ? (
        <NoDataspace picker={picker} onNew={() => setNaming(true)} />
      ) : (
        <MissingDataspace onNew={() => setNaming(true)} />
      )}
    </div>
  );
}

/** In place of a source that is on its way or not there any more. */
function Missing({ source }: { source: ReturnType<typeof useSource> }) {
  if (!source.isError) return <LoadingRows label="Reading the source" rows={8} />;
  return <ErrorFailure title="This source cannot be shown" error={source.error} />;
}

/** Dataspaces with their sources: added, indexed, searched, read in their place. */
export function KnowledgeScreen() {
  useFollowKnowledge();
  const dataspaces = useDataspaces();
  return (
    <QueryView query={dataspaces} subject="the dataspaces" rows={6}>
      {(all) => <Knowledge dataspaces={all} />}
    </QueryView>
  );
}
