import { useState } from 'react';
import { useLocation } from 'wouter';
import type { AuditFilter } from '../../../../shared/contract/audit.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useCreateRunDataset } from '../../../queries/dataset-import.ts';
import { datasetAddress } from '../../../shell/addresses.ts';
import { showToast } from '../../../stores/toasts.ts';

/** Makes a dataset of the runs that match the filter of the audit. */
export function RunDatasetDialog({ filter, onClose }: { filter: AuditFilter; onClose: () => void }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('Runs from the audit');
  const [isExpected, setExpected] = useState(true);
  const [hasFeedback, setFeedback] = useState(true);
  const create = useCreateRunDataset();
  const run = (): void =>
    create.mutate(
      { name: name.trim(), selection: { filter }, answer: isExpected ? 'expected' : 'text', hasFeedback },
      {
        onSuccess: ({ id, rowCount, skippedRuns }) => {
          const skipped = skippedRuns === 0 ? '' : ` Skipped ${formatPlural(skippedRuns, 'run')} without texts.`;
          showToast({ tone: 'neutral', text: `Made a dataset of ${formatPlural(rowCount, 'row')}.${skipped}` });
          navigate(datasetAddress(id));
        },
      },
    );
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" isBusy={create.isPending} aria-disabled={name.trim() === '' || undefined} onClick={run}>
        Make a dataset
      </Button>
    </>
  );
  return (
    <Dialog title="Make a dataset" isOpen onClose={onClose} footer={footer}>
      <p className="small secondary">
        Each run that matches the filter becomes a row: its variables, its answer and its model. The rows are a copy.
      </p>
      <TextField label="Name" maxLength={300} value={name} onValueChange={setName} />
      <Checkbox label="Use answers as expected values" isChecked={isExpected} onCheckedChange={setExpected} />
      <Checkbox label="Include feedback" isChecked={hasFeedback} onCheckedChange={setFeedback} />
      {create.error && (
        <p className="small negative" role="alert">
          {describeError(create.error).message}
        </p>
      )}
    </Dialog>
  );
}
