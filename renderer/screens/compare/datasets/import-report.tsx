import { useState } from 'react';
import type { ImportedDataset, JudgeProposal } from '../../../../shared/contract/dataset-import.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { JudgeForm } from '../judges/judge-form.tsx';
import { Entries } from './import-preview.tsx';

interface ImportReportProps {
  imported: ImportedDataset;
  onClose: () => void;
  /** Opens a comparison with the checks that came with the rows. Absent where a setup takes them. */
  onCompare?: (dataset: ImportedDataset) => void;
}

/** What an import left out or changed, before the dataset opens. */
export function ImportReport({ imported, onClose, onCompare }: ImportReportProps) {
  const { checks, judges, entries } = imported.report;
  const footer = (
    <>
      {checks.length > 0 && onCompare && (
        <Button onClick={() => onCompare(imported)}>Compare with {formatPlural(checks.length, 'check')}</Button>
      )}
      <Button variant="primary" onClick={onClose}>
        Open dataset
      </Button>
    </>
  );
  return (
    <Dialog
      title={`Imported ${formatPlural(imported.rowCount, 'row')}`}
      isOpen
      isWide
      onClose={onClose}
      footer={footer}
    >
      <Entries entries={entries} />
      {judges.map((proposal) => (
        <ProposedJudge key={proposal.name} proposal={proposal} />
      ))}
    </Dialog>
  );
}

/** A judge that the file describes. It needs a model. */
function ProposedJudge({ proposal }: { proposal: JudgeProposal }) {
  const [created, setCreated] = useState<string | null>(null);
  if (created !== null)
    return (
      <p className="small" role="status">
        Created the judge &quot;{created}&quot;. Calibrate it under Judges before its verdicts count.
      </p>
    );
  return (
    <details className="import-dataset__judge">
      <summary className="small">Create the judge &quot;{proposal.name}&quot;</summary>
      {proposal.model !== null && <p className="caption tertiary">The file names the model {proposal.model}</p>}
      <JudgeForm judge={null} proposal={proposal} onSaved={({ name }) => setCreated(name)} />
    </details>
  );
}
