import { useEffect, useEffectEvent, useState } from 'react';
import { useLocation } from 'wouter';
import type { DatasetJob } from '../../../../shared/contract/dataset-import.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { DatasetJobProgress } from '../../../components/dataset-job.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useDatasetJobs, useStartDatasetJob } from '../../../queries/dataset-import.ts';
import { datasetAddress } from '../../../shell/addresses.ts';
import type { Shown } from '../selection-words.ts';
import { showToast } from '../../../stores/toasts.ts';

/** The job that was started here, and what becomes of it. */
function useJob(onCompleted: (job: DatasetJob) => void) {
  const start = useStartDatasetJob();
  const jobs = useDatasetJobs();
  const job = start.data ? (jobs.data?.find(({ id }) => id === start.data.id) ?? start.data) : null;
  const isCompleted = job?.state === 'completed';
  const complete = useEffectEvent(() => {
    if (job) onCompleted(job);
  });
  useEffect(() => {
    if (isCompleted) complete();
  }, [isCompleted]);
  const error = start.error ? describeError(start.error).message : job?.state === 'failed' ? job.failure : null;
  return { start, job, isRunning: job?.state === 'running', error };
}

function completionText({ runs, skippedRuns }: DatasetJob): string {
  const made = `Made a dataset of ${formatPlural((runs ?? 0) - skippedRuns, 'row')}.`;
  if (skippedRuns === 0) return made;
  return `${made} Skipped ${formatPlural(skippedRuns, 'run')} whose texts are deleted, incomplete or longer than 4 MB.`;
}

/** Makes a dataset of the runs that match the filter of the audit. */
export function RunDatasetDialog({ selection, onClose }: { selection: Shown; onClose: () => void }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('Runs from the audit');
  const [isExpected, setExpected] = useState(true);
  const [hasFeedback, setFeedback] = useState(true);
  const { start, job, isRunning, error } = useJob((completed) => {
    showToast({ tone: 'neutral', text: completionText(completed) });
    navigate(datasetAddress(completed.datasetId!));
  });
  const run = (): void =>
    start.mutate({ name: name.trim(), selection, answer: isExpected ? 'expected' : 'text', hasFeedback });
  const footer = isRunning ? (
    <Button
      onClick={() => {
        onClose();
        showToast({ tone: 'neutral', text: 'The dataset is created in the background.' });
      }}
    >
      Continue in background
    </Button>
  ) : (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" isBusy={start.isPending} aria-disabled={name.trim() === '' || undefined} onClick={run}>
        Make a dataset
      </Button>
    </>
  );
  return (
    <Dialog title="Make a dataset" isOpen onClose={onClose} footer={footer}>
      <p className="small secondary">
        Each run that matches the filter becomes a row: its variables, its answer and its model. The rows are a copy.
      </p>
      <TextField label="Name" maxLength={300} value={name} disabled={isRunning} onValueChange={setName} />
      <Checkbox
        label="Use answers as expected values"
        isChecked={isExpected}
        isDisabled={isRunning}
        onCheckedChange={setExpected}
      />
      <Checkbox label="Include feedback" isChecked={hasFeedback} isDisabled={isRunning} onCheckedChange={setFeedback} />
      {job && isRunning && <DatasetJobProgress job={job} />}
      {job?.state === 'stopped' && (
        <p className="small secondary" role="status">
          Stopped. No dataset was created.
        </p>
      )}
      {error !== null && (
        <p className="small negative" role="alert">
          {error}
        </p>
      )}
    </Dialog>
  );
}
