import { useLocation } from 'wouter';
import { AppError } from '../../../../shared/app-error.ts';
import { Button } from '../../../components/button.tsx';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { datasetAddress, readDatasetVersion } from '../../../shell/addresses.ts';
import { DatasetEditor, useOpenDataset } from './dataset-editor.tsx';
import { DatasetList } from './dataset-list.tsx';
import './datasets.css';

function OpenDataset({ datasetId, version }: { datasetId: string; version: number | null }) {
  const [, navigate] = useLocation();
  const { latest, shown } = useOpenDataset(datasetId, version);
  const error = latest.error ?? shown.error;
  if (error instanceof AppError && (error.status === 404 || error.status === 400)) {
    return (
      <div className="list-state">
        <EmptyState title="Dataset not found" reason={error.message}>
          <Button onClick={() => navigate(datasetAddress())}>Show datasets</Button>
        </EmptyState>
      </div>
    );
  }
  return (
    <QueryView query={latest} subject="the dataset" rows={8}>
      {(newest) => (
        <QueryView query={shown} subject="the version" rows={8}>
          {(found) => <DatasetEditor key={`${found.id}/${version ?? 'latest'}`} latest={newest} version={found} />}
        </QueryView>
      )}
    </QueryView>
  );
}

/** The datasets, or one of them in a grid. */
export function DatasetsView({ datasetId }: { datasetId: string | null }) {
  const [location] = useLocation();
  return datasetId === null ? (
    <DatasetList />
  ) : (
    <OpenDataset datasetId={datasetId} version={readDatasetVersion(location)} />
  );
}
