import {
  CircleX,
  Ellipsis,
  File,
  FileJson,
  FilePlus2,
  FileSpreadsheet,
  FileText,
  type LucideIcon,
  RefreshCw,
  Square,
  X,
} from 'lucide-react';
import { useLocation } from 'wouter';
import type { DataspaceSummary, SourceDetail } from '../../../shared/contract/knowledge-window.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { formatBytes, formatCount, formatPart, formatPlural } from '../../components/format.ts';
import { Menu, type MenuItem } from '../../components/menu.tsx';
import { EmptyState, Notice, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { type SourceFilter, useChangeDataspace, useSources } from '../../queries/knowledge.ts';
import { sourceAddress } from '../../shell/addresses.ts';
import { useDeletions } from '../../stores/deletions.ts';
import type { SourceMediaType } from '../../../shared/contract/dataspaces.ts';
import { Icon } from '../../components/icon.tsx';
import { Progress } from '../../components/badges.tsx';
import { detailsOf, isStopped, stageWords } from './source-words.ts';
import { dismissRejected, dismissUpload, type Upload, useUploads } from '../../stores/knowledge.ts';

/** More would hide the sources; the rest is counted. */
const maxShown = 6;

function Row({ upload }: { upload: Upload }) {
  const { id, name, bytes, fraction, state, reason } = upload;
  return (
    <li className="knowledge__upload">
      <span className="row">
        <span className="small truncate grow">{name}</span>
        <span className="caption tertiary nowrap numbers">
          {state === 'sending' ? formatPart(fraction * bytes, bytes) : formatBytes(bytes)}
        </span>
        <IconButton
          icon={X}
          label={state === 'rejected' ? `Dismiss ${name}` : `Cancel upload of ${name}`}
          size="small"
          onClick={() => dismissUpload(id)}
        />
      </span>
      {state === 'rejected' ? (
        <p className="caption negative">{reason}</p>
      ) : (
        <Progress label={`Uploading ${name}`} fraction={fraction} />
      )}
    </li>
  );
}

/** Files that are being uploaded, and rejected ones with the reason. */
function UploadList({ dataspaceId }: { dataspaceId: string }) {
  const uploads = useUploads((state) => state.uploads);
  const here = uploads.filter((upload) => upload.dataspaceId === dataspaceId);
  if (here.length === 0) return null;
  const rejected = here.filter(({ state }) => state === 'rejected');
  const onTheirWay = here.filter(({ state }) => state !== 'rejected');
  return (
    <div className="knowledge__uploads line-bottom" role="group" aria-label="Uploads">
      <ul>
        {[...onTheirWay, ...rejected].slice(0, maxShown).map((upload) => (
          <Row key={upload.id} upload={upload} />
        ))}
      </ul>
      {here.length > maxShown && (
        <p className="caption tertiary">and {formatPlural(here.length - maxShown, 'more file')}</p>
      )}
      <span className={rejected.length > 1 ? 'row' : 'visually-hidden'}>
        <span className="caption tertiary grow" role="status">
          {rejected.length > 0 && `${formatPlural(rejected.length, 'file')} rejected`}
        </span>
        {rejected.length > 1 && (
          <Button size="small" variant="quiet" onClick={() => dismissRejected(dataspaceId)}>
            Dismiss all
          </Button>
        )}
      </span>
    </div>
  );
}

function iconOf(mediaType: SourceMediaType): LucideIcon {
  if (mediaType === 'application/json') return FileJson;
  if (mediaType === 'text/csv') return FileSpreadsheet;
  return mediaType === 'text/plain' ? File : FileText;
}

function State({ source }: { source: SourceDetail }) {
  const { progress, status, failureReason, isOutdated } = source;
  if (progress) return <span className="caption accent nowrap">{stageWords(progress)}</span>;
  if (isStopped(source)) return <span className="caption tertiary nowrap">Stopped</span>;
  if (status === 'Failed') {
    return (
      <span className="row caption negative knowledge__reason">
        <Icon icon={CircleX} size="small" />
        <span className="truncate">{failureReason}</span>
      </span>
    );
  }
  if (!isOutdated) return null;
  return (
    <span className="row caption caution nowrap">
      <Icon icon={RefreshCw} size="small" />
      Outdated embeddings
    </span>
  );
}

/** A source in the list: its name, and its details or progress. */
function SourceRow({ source }: { source: SourceDetail }) {
  return (
    <div className="list-row">
      <span className="row">
        <Icon icon={iconOf(source.mediaType)} size="small" />
        <span className="medium truncate grow">{source.name}</span>
      </span>
      <span className="row knowledge__facts">
        {source.progress === null || source.progress.passagesTotal === null ? (
          detailsOf(source).map((detail) => (
            <span key={detail} className="caption tertiary numbers nowrap">
              {detail}
            </span>
          ))
        ) : (
          <Progress label={`Indexing ${source.name}`} fraction={source.progress.fraction} />
        )}
        <span className="grow" />
        <State source={source} />
      </span>
    </div>
  );
}

const rowHeight = 48;

interface SourceListProps {
  dataspace: DataspaceSummary;
  selectedId: string | null;
  filter: SourceFilter;
  onFilter: (filter: SourceFilter) => void;
  onAdd: () => void;
  onRemove: (source: SourceDetail) => void;
}

function manyActs(dataspace: DataspaceSummary, change: (act: 'failed' | 'outdated' | 'all') => void): MenuItem[] {
  const { failed, outdated, sources } = dataspace;
  return [
    {
      label: 'Re-index failed sources',
      detail: formatCount(failed),
      isDisabled: failed === 0,
      onSelect: () => change('failed'),
    },
    {
      label: 'Re-index outdated sources',
      detail: formatCount(outdated),
      isDisabled: outdated === 0,
      onSelect: () => change('outdated'),
    },
    {
      label: 'Re-index all sources',
      detail: formatCount(sources),
      isDisabled: sources === 0,
      onSelect: () => change('all'),
    },
  ];
}

function Head({ dataspace, onAdd }: { dataspace: DataspaceSummary; onAdd: () => void }) {
  const change = useChangeDataspace();
  const act = (name: 'stop' | 'failed' | 'outdated' | 'all') => change.mutate({ id: dataspace.id, act: name });
  return (
    <div className="header line-bottom knowledge__head">
      <h2>Sources</h2>
      {dataspace.sources > 0 && (
        <>
          <span className="caption tertiary numbers nowrap">{formatCount(dataspace.sources)}</span>
          <span className="caption tertiary numbers nowrap">{formatBytes(dataspace.bytes)}</span>
        </>
      )}
      <span className="grow" />
      {dataspace.processing > 0 && (
        <Button size="small" variant="quiet" icon={Square} onClick={() => act('stop')}>
          Stop
        </Button>
      )}
      <Menu align="end" groups={[manyActs(dataspace, act)]}>
        <IconButton icon={Ellipsis} label="More actions for sources" size="small" />
      </Menu>
      <Button size="small" icon={FilePlus2} onClick={onAdd}>
        Add files
      </Button>
    </div>
  );
}

/** Hides zeros, which would leave the name too little room in a narrow window. */
function withCount(name: string, count: number): string {
  return count === 0 ? name : `${name} ${formatCount(count)}`;
}

function Filter({ dataspace, filter, onFilter }: Pick<SourceListProps, 'dataspace' | 'filter' | 'onFilter'>) {
  return (
    <div className="header line-bottom knowledge__filter">
      <TextField
        label="Find a source by name"
        isLabelHidden
        size="small"
        placeholder="Find by name"
        value={filter.text}
        onValueChange={(text) => onFilter({ ...filter, text })}
        onKeyDown={(event) => event.key === 'Escape' && onFilter({ ...filter, text: '' })}
      />
      <Segmented
        label="Show"
        value={filter.status}
        onValueChange={(status) => onFilter({ ...filter, status })}
        options={[
          { value: 'all', label: 'All' },
          { value: 'Processing', label: withCount('In progress', dataspace.processing) },
          { value: 'Failed', label: withCount('Failed', dataspace.failed) },
        ]}
      />
    </div>
  );
}

function Empty({ isFiltered, onAdd, onShowAll }: { isFiltered: boolean; onAdd: () => void; onShowAll: () => void }) {
  return (
    <div className="list-state">
      {isFiltered ? (
        <EmptyState title="No matching sources">
          <Button onClick={onShowAll}>Show all sources</Button>
        </EmptyState>
      ) : (
        <EmptyState
          title="No sources yet"
          reason="Drop files here: text, Markdown, HTML, PDF, Word, CSV or JSON, up to 50 MB each. They are parsed, chunked and indexed on this device."
        >
          <Button variant="primary" icon={FilePlus2} onClick={onAdd}>
            Add files
          </Button>
        </EmptyState>
      )}
    </div>
  );
}

/** The sources of a dataspace with their progress. */
export function SourceList({ dataspace, selectedId, filter, onFilter, onAdd, onRemove }: SourceListProps) {
  const [, navigate] = useLocation();
  const list = useSources(dataspace.id, filter);
  const change = useChangeDataspace();
  const deleted = useDeletions(({ ids }) => ids);
  const sources = (list.data?.pages ?? []).flatMap(({ data }) => data).filter(({ id }) => !deleted.has(id));
  const readOn = (): void => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
  };
  const selected = sources.find(({ id }) => id === selectedId);
  return (
    <section
      className="panel line-right knowledge__sources"
      aria-label="Sources"
      onKeyDown={(event) => event.key === 'Delete' && selected && onRemove(selected)}
    >
      <Head dataspace={dataspace} onAdd={onAdd} />
      {dataspace.sources > 0 && <Filter dataspace={dataspace} filter={filter} onFilter={onFilter} />}
      {dataspace.outdated > 0 && (
        <Notice tone="caution">
          {formatPlural(dataspace.outdated, 'source')} can only be found by keywords, because the embedding model has
          changed. Re-index to search by meaning.{' '}
          <button type="button" className="link" onClick={() => change.mutate({ id: dataspace.id, act: 'outdated' })}>
            Re-index
          </button>
        </Notice>
      )}
      <UploadList dataspaceId={dataspace.id} />
      <QueryView query={list} subject="the sources" rows={6}>
        {() =>
          sources.length === 0 && !list.hasNextPage ? (
            <Empty
              isFiltered={filter.status !== 'all' || filter.text !== ''}
              onAdd={onAdd}
              onShowAll={() => onFilter({ text: '', status: 'all' })}
            />
          ) : (
            <VirtualList
              label="Sources, newest first"
              className="list-rows"
              items={sources}
              itemKey={({ id }) => id}
              rowHeight={rowHeight}
              selectedKey={selectedId}
              onSelect={({ id }) => id !== selectedId && navigate(sourceAddress(id))}
              onEndReached={readOn}
              renderItem={(source) => <SourceRow source={source} />}
            />
          )
        }
      </QueryView>
    </section>
  );
}
