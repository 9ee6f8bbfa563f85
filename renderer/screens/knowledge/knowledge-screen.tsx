import { FilePlus2, FolderPlus, Search } from 'lucide-react';
import { type RefObject, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { EmptyState, ErrorFailure, LoadingRows, QueryView } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import {
  defaultDataspace,
  type SourceFilter,
  useCreateDefaultDataspace,
  useDataspaces,
  useFollowKnowledge,
  useRemoveSource,
  useSource,
} from '../../queries/knowledge.ts';
import { dataspaceAddress, type KnowledgeAddress, readKnowledgeAddress } from '../../shell/addresses.ts';
import { useNavigateFromHere } from '../../shell/navigate-from-here.ts';
import { type ChosenFile, uploadFiles } from '../../stores/knowledge.ts';
import { DropZone, FilePicker, tellNothingAdded } from './add-files.tsx';
import { AppError } from '../../../shared/app-error.ts';
import type { DataspaceSummary, SourceDetail } from '../../../shared/contract/knowledge-window.ts';
import { useActions } from '../../stores/actions.ts';
import { useShowPageTitle } from '../../stores/window.ts';
import { deleteWithUndo } from '../../stores/deletions.ts';
import { DataspaceList } from './dataspace-list.tsx';
import { AnswerPanel } from './answer-panel.tsx';
import { SearchBar, useDataspaceQuery } from './search-bar.tsx';
import { SearchResults } from './search-results.tsx';
import { SourceList } from './source-list.tsx';
import { SourcePanel } from './source-panel.tsx';
import './knowledge.css';

const dataspaceReason =
  'A dataspace holds files that prompts are answered from. Files are parsed, chunked and indexed on this device. Nothing leaves it until a run sends passages to a model.';

/** Replaces a deleted dataspace. */
function MissingDataspace({ onNew }: { onNew: () => void }) {
  return (
    <div className="list-state">
      <EmptyState title="Dataspace not found" reason="It was deleted, or the link is incomplete.">
        <Button variant="primary" icon={FolderPlus} onClick={onNew}>
          Create dataspace
        </Button>
      </EmptyState>
    </div>
  );
}

/** Before the first dataspace. Adding files creates the default one, which API clients also use when they name none. */
function NoDataspace({ picker, onNew }: { picker: RefObject<HTMLInputElement | null>; onNew: () => void }) {
  const { client } = useHost();
  const navigateFromHere = useNavigateFromHere();
  const { mutateAsync: createDefault, isPending } = useCreateDefaultDataspace();
  const addFiles = (files: readonly ChosenFile[]): void => {
    if (files.length === 0) return tellNothingAdded();
    if (isPending) return;
    const navigate = navigateFromHere();
    void createDefault().then(
      ({ id }) => {
        uploadFiles(client, id, files);
        navigate(dataspaceAddress(id));
      },
      () => {
        // A toast showed the error.
      },
    );
  };
  return (
    <DropZone label={`Drop files to add them to a new dataspace "${defaultDataspace}"`} onFiles={addFiles}>
      <FilePicker picker={picker} onFiles={addFiles} />
      <div className="list-state">
        <EmptyState
          title="No dataspaces yet"
          reason={`${dataspaceReason} Drop files here, or create a dataspace first.`}
        >
          <Button variant="primary" icon={FilePlus2} isBusy={isPending} onClick={() => picker.current?.click()}>
            Add files
          </Button>
          <Button icon={FolderPlus} onClick={onNew}>
            Create dataspace
          </Button>
        </EmptyState>
      </div>
    </DropZone>
  );
}

interface DataspaceViewProps {
  dataspace: DataspaceSummary;
  address: KnowledgeAddress;
  source: SourceDetail | undefined;
  search: RefObject<HTMLInputElement | null>;
  /** The file input behind every "Add files" button. */
  picker: RefObject<HTMLInputElement | null>;
}

/** The middle and the right: sources, search results or an answer, and the open source. */
function DataspaceView({ dataspace, address, source, search, picker }: DataspaceViewProps) {
  const { client } = useHost();
  const [, navigate] = useLocation();
  const [filter, setFilter] = useState<SourceFilter>({ text: '', status: 'all' });
  const query = useDataspaceQuery(dataspace, search);
  const removeSource = useRemoveSource();
  const addFiles = (files: readonly ChosenFile[]): void => {
    uploadFiles(client, dataspace.id, files);
    if (files.length === 0) tellNothingAdded();
  };
  const remove = (removed: SourceDetail): void => {
    const { id, name } = removed;
    if (id === address.sourceId) navigate(dataspaceAddress(dataspace.id));
    deleteWithUndo({ id, counted: { source: removed }, text: `Deleted "${name}".`, carryOut: () => removeSource(id) });
  };
  const open = address.passage && { sourceId: address.sourceId, start: address.passage.start };
  return (
    <DropZone label={`Drop files to add them to "${dataspace.name}"`} onFiles={addFiles}>
      <FilePicker picker={picker} onFiles={addFiles} />
      <SearchBar field={search} dataspaceName={dataspace.name} {...query.bar} />
      <div className="knowledge__work">
        {query.shown === 'sources' ? (
          <SourceList
            dataspace={dataspace}
            selectedId={address.sourceId}
            filter={filter}
            onFilter={setFilter}
            onAdd={() => picker.current?.click()}
            onRemove={remove}
          />
        ) : (
          <section className="panel line-right knowledge__sources" aria-label={query.run ? 'Answer' : 'Search results'}>
            {query.run ? (
              <AnswerPanel run={query.run} open={open} {...query.answer} />
            ) : (
              <SearchResults
                question={{ dataspaceId: dataspace.id, query: query.searched }}
                open={open}
                onEnd={query.end}
              />
            )}
          </section>
        )}
        {source ? (
          <SourcePanel key={source.id} source={source} passage={address.passage} onRemove={() => remove(source)} />
        ) : (
          <div className="list-state">
            {dataspace.sources > 0 &&
              address.sourceId === null &&
              (query.shown === 'sources' ? (
                <EmptyState title="No source selected" reason="Select a source to read its passages." />
              ) : (
                <EmptyState title="No passage selected" reason="Select a passage to read it in its source." />
              ))}
          </div>
        )}
      </div>
    </DropZone>
  );
}

/** The dataspace and the source in the address. */
function useOpenDataspace(dataspaces: readonly DataspaceSummary[]) {
  const [location] = useLocation();
  const address = readKnowledgeAddress(location);
  const source = useSource(address.sourceId);
  // While a source loads, its dataspace stays open: otherwise its search would be lost.
  const [openId, setOpenId] = useState<string | null>(null);
  const sourceHome = source.data?.dataspaceId ?? (source.isPending ? openId : null);
  const requestedId = address.sourceId === null ? address.dataspaceId : sourceHome;
  // Without an address, the newest dataspace opens: most people have one.
  const isPlain = address.sourceId === null && address.dataspaceId === null;
  const dataspace = isPlain ? dataspaces[0] : dataspaces.find(({ id }) => id === requestedId);
  if (openId !== (dataspace?.id ?? null)) setOpenId(dataspace?.id ?? null);
  return { address, source, dataspace };
}

function Knowledge({ dataspaces }: { dataspaces: readonly DataspaceSummary[] }) {
  const [isNaming, setNaming] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const { address, source, dataspace } = useOpenDataspace(dataspaces);
  useShowPageTitle(dataspace?.name ?? null);
  const group = 'Knowledge';
  useActions('knowledge', [
    {
      id: 'knowledge.new',
      title: 'Create dataspace',
      group,
      icon: FolderPlus,
      keys: 'Mod+Alt+N',
      run: () => setNaming(true),
    },
    {
      id: 'knowledge.search',
      title: 'Search dataspace',
      group,
      icon: Search,
      keys: '/',
      isEnabled: dataspace !== undefined,
      run: () => search.current?.select(),
    },
    {
      id: 'knowledge.add',
      title: dataspaces.length === 0 ? 'Add files' : 'Add files to dataspace',
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

/** Replaces a source that is loading or was deleted. */
function Missing({ source }: { source: ReturnType<typeof useSource> }) {
  const [, navigate] = useLocation();
  if (!source.isError) return <LoadingRows label="Loading source" rows={8} />;
  const isMissing = source.error instanceof AppError && source.error.code === 'not_found';
  return (
    <div className="list-state">
      {isMissing ? (
        <EmptyState title="Source not found" reason="It was deleted, or the link is incomplete.">
          <Button onClick={() => navigate('/knowledge')}>Show all sources</Button>
        </EmptyState>
      ) : (
        <ErrorFailure title="Couldn't load the source" error={source.error}>
          <Button onClick={() => void source.refetch()}>Retry</Button>
        </ErrorFailure>
      )}
    </div>
  );
}

/** Dataspaces with their sources: add, index, search, ask and read. */
export function KnowledgeScreen() {
  useFollowKnowledge();
  const dataspaces = useDataspaces();
  return (
    <QueryView query={dataspaces} subject="the dataspaces" rows={6}>
      {(all) => <Knowledge dataspaces={all} />}
    </QueryView>
  );
}
