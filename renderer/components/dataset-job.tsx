import type { DatasetJob } from '../../shared/contract/dataset-import.ts';
import { useStopDatasetJob } from '../queries/dataset-import.ts';
import { Progress } from './badges.tsx';
import { Button } from './button.tsx';
import { formatPlural, formatWhole } from './format.ts';

/** How far a job is that makes a dataset of runs, with Stop. */
export function DatasetJobProgress({ job }: { job: DatasetJob }) {
  const stop = useStopDatasetJob();
  const { id, name, runs, readRuns } = job;
  return (
    <div className="row dataset-job">
      <Progress label={`Progress of ${name}`} fraction={runs === null ? null : readRuns / Math.max(1, runs)} />
      <span className="small secondary numbers nowrap">
        {runs === null ? 'Counting runs' : `${formatWhole(readRuns)} of ${formatPlural(runs, 'run')}`}
      </span>
      <Button size="small" isBusy={stop.isPending} onClick={() => stop.mutate(id)}>
        Stop
      </Button>
    </div>
  );
}
