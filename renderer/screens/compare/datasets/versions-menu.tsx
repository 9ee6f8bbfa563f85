import { useMutation } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { DatasetDifference } from '../../../../shared/contract/dataset-edits.ts';
import type { Dataset, DatasetVersion } from '../../../../shared/contract/datasets.ts';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatPlural, formatTime } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { Popover } from '../../../components/popover.tsx';
import { ErrorFailure, LoadingRows } from '../../../components/state-panels.tsx';
import { useDatasetDifference, useDatasetVersions, useEditDataset } from '../../../queries/datasets.ts';
import { datasetAddress, datasetVersionAddress } from '../../../shell/addresses.ts';
import { useNavigateFromHere } from '../../../shell/navigate-from-here.ts';
import { showToast } from '../../../stores/toasts.ts';

/** What a version changed, in words. */
export function differenceText({
  addedRows,
  removedRows,
  changedRows,
  addedColumns,
  removedColumns,
}: DatasetDifference) {
  const parts = [
    changedRows > 0 && `${formatPlural(changedRows, 'row')} changed`,
    addedRows > 0 && `${formatPlural(addedRows, 'row')} added`,
    removedRows > 0 && `${formatPlural(removedRows, 'row')} removed`,
    addedColumns.length > 0 && `${formatPlural(addedColumns.length, 'column')} added`,
    removedColumns.length > 0 && `${formatPlural(removedColumns.length, 'column')} removed`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'Same rows' : parts.join(', ');
}

function Version(props: { datasetId: string; version: DatasetVersion; isShown: boolean; onOpen: () => void }) {
  const { datasetId, version, isShown, onOpen } = props;
  const difference = useDatasetDifference(datasetId, version.version);
  return (
    <li>
      <button
        type="button"
        className={classNames('dataset-versions__row', isShown && 'is-selected')}
        aria-current={isShown || undefined}
        onClick={onOpen}
      >
        <span className="row">
          <span className="medium grow">Version {version.version}</span>
          <span className="caption tertiary numbers nowrap">{formatTime(version.createdAt)}</span>
        </span>
        <span className="caption tertiary">
          {formatPlural(version.rowCount, 'row')}
          {version.version > 1 && difference.data && `: ${differenceText(difference.data)}`}
        </span>
        {version.note !== null && <span className="caption truncate">{version.note}</span>}
      </button>
    </li>
  );
}

/** The versions of a dataset with what each changed. */
export function VersionsMenu({ dataset, shown }: { dataset: Dataset; shown: number }) {
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const versions = useDatasetVersions(dataset.id, { isEnabled: isOpen });
  const open = (version: number): void => {
    setOpen(false);
    navigate(
      version === dataset.latestVersion ? datasetAddress(dataset.id) : datasetVersionAddress(dataset.id, version),
    );
  };
  return (
    <Popover
      label="Versions"
      isOpen={isOpen}
      onOpenChange={setOpen}
      className="dataset-versions"
      trigger={
        <button type="button" className="button button--small button--quiet nowrap">
          Version {shown}
          <Icon icon={ChevronDown} size="small" />
        </button>
      }
    >
      {versions.isPending && <LoadingRows label="Loading versions" />}
      {versions.isError && <ErrorFailure title="Couldn't load the versions" error={versions.error} />}
      <ul className="scroll">
        {versions.data?.pages
          .flatMap(({ data }) => data)
          .map((version) => (
            <Version
              key={version.version}
              datasetId={dataset.id}
              version={version}
              isShown={version.version === shown}
              onOpen={() => open(version.version)}
            />
          ))}
      </ul>
      {versions.hasNextPage && (
        <Button size="small" isBusy={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>
          Show older versions
        </Button>
      )}
    </Popover>
  );
}

/** Saves the rows of an older version as the newest one. */
export function useRestoreVersion() {
  const navigateFromHere = useNavigateFromHere();
  const { mutateAsync } = useEditDataset();
  return useMutation({
    onMutate: () => ({ navigate: navigateFromHere() }),
    mutationFn: ({ dataset, latestVersion }: { dataset: Dataset; latestVersion: number }) => {
      const { id, version, columns, rowCount } = dataset;
      const lines = [{ columns }, ...(rowCount > 0 ? [{ keep: [0, rowCount] }] : [])];
      const file = new File([lines.map((line) => JSON.stringify(line)).join('\n')], 'edits.jsonl');
      return mutateAsync({ id, baseVersion: version, latestVersion, note: `Restored version ${version}`, file });
    },
    onSuccess: ({ id, version }, { dataset }, { navigate }) => {
      showToast({ tone: 'neutral', text: `Restored version ${dataset.version} as version ${version}.` });
      navigate(datasetAddress(id));
    },
  });
}
