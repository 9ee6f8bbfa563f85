import { ClipboardList, FileUp, Plus, Search, Sparkles, Trash2 } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Dataset, DatasetInput } from '../../../../shared/contract/datasets.ts';
import { Button, IconButton, ShowMore } from '../../../components/button.tsx';
import { DatasetJobProgress } from '../../../components/dataset-job.tsx';
import { formatPlural, formatTime } from '../../../components/format.ts';
import { describeError, EmptyState, ErrorFailure, LoadingRows } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useDatasetJobs } from '../../../queries/dataset-import.ts';
import { useCreateDataset, useDatasetList, useDeleteDataset } from '../../../queries/datasets.ts';
import { datasetAddress, newComparisonAddress } from '../../../shell/addresses.ts';
import { useActions } from '../../../stores/actions.ts';
import { replaceNewSetup } from '../../../stores/comparison-drafts.ts';
import { deleteWithUndo, useDeletions } from '../../../stores/deletions.ts';
import { showToast } from '../../../stores/toasts.ts';
import { writeChecks } from '../setup/check-drafts.ts';
import { exampleDataset } from './example-dataset.ts';
import { ImportDataset } from './import-dataset.tsx';

const emptyDataset: DatasetInput = {
  name: 'Untitled dataset',
  columns: [
    { name: 'input', type: 'text' },
    { name: 'expected', type: 'expected' },
  ],
  rows: [{}],
};

function useDelete(): (dataset: Dataset) => void {
  const remove = useDeleteDataset();
  return ({ id, name, comparisonCount }) => {
    if (comparisonCount > 0) {
      const text = `${formatPlural(comparisonCount, 'comparison')} used "${name}". Delete ${comparisonCount === 1 ? 'it' : 'them'} first.`;
      showToast({ tone: 'negative', text });
      return;
    }
    deleteWithUndo({ id, text: `Deleted "${name}".`, carryOut: () => remove(id) });
  };
}

function DatasetRow({ dataset, onDelete }: { dataset: Dataset; onDelete: () => void }) {
  const [, navigate] = useLocation();
  const { id, name, rowCount, columns, latestVersion, updatedAt, comparisonCount } = dataset;
  return (
    <tr>
      <th scope="row">
        <a
          href={`#${datasetAddress(id)}`}
          className="truncate"
          onClick={(event) => {
            event.preventDefault();
            navigate(datasetAddress(id));
          }}
        >
          {name}
        </a>
      </th>
      <td className="numbers right">{formatPlural(rowCount, 'row')}</td>
      <td className="wide-only">
        <span className="mono--small truncate tertiary">{columns.map((column) => column.name).join(', ')}</span>
      </td>
      <td className="numbers right">Version {latestVersion}</td>
      <td className="numbers right wide-only">
        {comparisonCount === 0 ? (
          <span className="tertiary">Not used</span>
        ) : (
          formatPlural(comparisonCount, 'comparison')
        )}
      </td>
      <td className="numbers right tertiary nowrap">{formatTime(updatedAt)}</td>
      <td className="right">
        <IconButton icon={Trash2} size="small" label={`Delete ${name}`} onClick={onDelete} />
      </td>
    </tr>
  );
}

/** All datasets; a search loads the remaining pages. */
function useListed(search: string) {
  const list = useDatasetList();
  const deleted = useDeletions(({ ids }) => ids);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  useEffect(() => {
    if (search !== '' && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [search, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const all = useMemo(
    () => (list.data?.pages ?? []).flatMap(({ data }) => data).filter(({ id }) => !deleted.has(id)),
    [list.data, deleted],
  );
  const query = search.trim().toLowerCase();
  return { list, all, shown: all.filter(({ name }) => name.toLowerCase().includes(query)) };
}

function useCreate() {
  const [, navigate] = useLocation();
  const { mutate, isPending, variables } = useCreateDataset();
  const create = (input: DatasetInput): void =>
    mutate(input, {
      onSuccess: ({ id }) => navigate(datasetAddress(id)),
      onError: (error) =>
        showToast({ tone: 'negative', text: `Couldn't create the dataset. ${describeError(error).message}` }),
    });
  return { create, isCreating: (input: DatasetInput) => isPending && variables === input };
}

function DatasetTable({ datasets }: { datasets: readonly Dataset[] }) {
  const remove = useDelete();
  return (
    <table className="dataset-list__table" aria-label="Datasets">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className="right">
            Rows
          </th>
          <th scope="col" className="wide-only">
            Columns
          </th>
          <th scope="col" className="right">
            Version
          </th>
          <th scope="col" className="right wide-only">
            Used by
          </th>
          <th scope="col" className="right">
            Saved
          </th>
          <th scope="col">
            <span className="visually-hidden">Delete</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {datasets.map((dataset) => (
          <DatasetRow key={dataset.id} dataset={dataset} onDelete={() => remove(dataset)} />
        ))}
      </tbody>
    </table>
  );
}

function ListFailure({ list }: { list: ReturnType<typeof useDatasetList> }) {
  return (
    <div className="list-state">
      <ErrorFailure title="Couldn't load the datasets" error={list.error}>
        <Button isBusy={list.isFetching} onClick={() => void list.refetch()}>
          Retry
        </Button>
      </ErrorFailure>
    </div>
  );
}

const emptyReason =
  'A dataset has the inputs of a comparison: one row per case, with values for the variables of your prompts. Import a table, start with the example, save values in the playground as a row, or select runs in the audit.';

interface NewDatasetProps {
  onImport: () => void;
  onCreate: () => void;
}

function useListActions({ onImport, onCreate, onSearch }: NewDatasetProps & { onSearch: () => void }): void {
  const group = 'Compare';
  useActions('datasets', [
    { id: 'datasets.import', title: 'Import dataset', group, icon: FileUp, run: onImport },
    { id: 'datasets.new', title: 'New dataset', group, icon: Plus, run: onCreate },
    { id: 'datasets.find', title: 'Search datasets', group, icon: Search, keys: '/', run: onSearch },
  ]);
}

interface NewDatasetButtonsProps extends NewDatasetProps {
  isFirst: boolean;
  isCreating: boolean;
}

function NewDatasetButtons({ isFirst, isCreating, onImport, onCreate }: NewDatasetButtonsProps) {
  return (
    <>
      <Button variant={isFirst ? 'primary' : 'default'} icon={FileUp} onClick={onImport}>
        Import file
      </Button>
      <Button icon={Plus} isBusy={isCreating} onClick={onCreate}>
        New dataset
      </Button>
    </>
  );
}

interface ListedDatasetsProps {
  list: ReturnType<typeof useDatasetList>;
  shown: readonly Dataset[];
  search: string;
}

function ListedDatasets({ list, shown, search }: ListedDatasetsProps) {
  return (
    <div className="scroll dataset-list__rows" tabIndex={0} role="region" aria-label="Datasets">
      {shown.length === 0 && !list.hasNextPage ? (
        <div className="list-state">
          <EmptyState title={`No results for "${search}"`} />
        </div>
      ) : (
        <DatasetTable datasets={shown} />
      )}
      <ShowMore list={list} />
    </div>
  );
}

interface NoDatasetsProps {
  isCreatingExample: boolean;
  onExample: () => void;
  /** Other buttons, before. */
  children: ReactNode;
}

function NoDatasets({ isCreatingExample, onExample, children }: NoDatasetsProps) {
  const [, navigate] = useLocation();
  return (
    <div className="list-state">
      <EmptyState title="No datasets yet" reason={emptyReason}>
        {children}
        <Button icon={Sparkles} isBusy={isCreatingExample} onClick={onExample}>
          Create example
        </Button>
        <Button icon={ClipboardList} onClick={() => navigate('/audit')}>
          Open audit
        </Button>
      </EmptyState>
    </div>
  );
}

/** Datasets of recorded runs that are being made. */
function ActiveJobs() {
  const jobs = useDatasetJobs().data?.filter(({ state }) => state === 'running') ?? [];
  if (jobs.length === 0) return null;
  return (
    <ul className="dataset-list__jobs line-bottom" aria-label="Datasets in progress">
      {jobs.map((job) => (
        <li key={job.id}>
          <span className="truncate">{job.name}</span>
          <DatasetJobProgress job={job} />
        </li>
      ))}
    </ul>
  );
}

/** The datasets, and how new ones come to be. */
export function DatasetList() {
  const [, navigate] = useLocation();
  const [search, setSearch] = useState('');
  const [isImporting, setImporting] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const { list, all, shown } = useListed(search);
  const { create, isCreating } = useCreate();
  const ways = { onImport: () => setImporting(true), onCreate: () => create(emptyDataset) };
  useListActions({ ...ways, onSearch: () => field.current?.select() });
  const isEmpty = list.isSuccess && all.length === 0 && !list.hasNextPage;
  const buttons = <NewDatasetButtons {...ways} isFirst={isEmpty} isCreating={isCreating(emptyDataset)} />;
  return (
    <div className="dataset-list">
      <div className="toolbar">
        <h2 className="page-title grow">Datasets</h2>
        {!isEmpty && (
          <>
            <TextField
              ref={field}
              label="Search datasets"
              isLabelHidden
              size="small"
              icon={Search}
              placeholder="Search datasets"
              value={search}
              onValueChange={setSearch}
            />
            {buttons}
          </>
        )}
      </div>
      <ActiveJobs />
      {list.isPending && <LoadingRows label="Loading the datasets" rows={6} />}
      {list.isError && <ListFailure list={list} />}
      {isEmpty && (
        <NoDatasets isCreatingExample={isCreating(exampleDataset)} onExample={() => create(exampleDataset)}>
          {buttons}
        </NoDatasets>
      )}
      {list.isSuccess && !isEmpty && <ListedDatasets list={list} shown={shown} search={search} />}
      {isImporting && (
        <ImportDataset
          onClose={() => setImporting(false)}
          onImported={({ id }) => {
            setImporting(false);
            navigate(datasetAddress(id));
          }}
          onCompare={({ id, report }) => {
            replaceNewSetup({ datasetId: id, checks: writeChecks(report.checks) });
            navigate(newComparisonAddress);
          }}
        />
      )}
    </div>
  );
}
