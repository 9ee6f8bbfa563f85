import { EmptyState } from '../../../components/state-panels.tsx';

/** The datasets, with one open; null is none. */
export function DatasetsView({ datasetId }: { datasetId: string | null }) {
  return (
    <div className="list-state">
      <EmptyState
        title={datasetId === null ? 'Create datasets over HTTP' : 'Change this dataset over HTTP'}
        reason="POST /datasets/import takes a CSV or JSONL file."
      />
    </div>
  );
}
