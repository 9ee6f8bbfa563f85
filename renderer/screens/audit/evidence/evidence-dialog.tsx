import { useDeferredValue, useEffect, useState, type ReactNode } from 'react';
import type { ExportSelection } from '../../../../shared/contract/audit-exports.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox, Segmented } from '../../../components/choices.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { ErrorFailure } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import {
  useAuditExports,
  useCreateAuditExport,
  useRedactionPreview,
  type RedactionQuery,
} from '../../../queries/audit-jobs.ts';
import { useToday } from '../../../components/use-today.ts';
import { usePackDraft, type PackDraft } from '../../../stores/audit.ts';
import { ColumnsField, FormatsField, RulesField } from './pack-fields.tsx';
import './evidence.css';
import { draftProblem, draftRules, packInput } from './pack-draft.ts';
import { PackList } from './pack-list.tsx';

const whichRuns = [
  { value: 'all', label: 'Whole conversations' },
  { value: 'matched', label: 'Matching runs only' },
] as const;

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="pack__field" role="group" aria-label={label}>
      <span className="small secondary">{label}</span>
      <div className="pack__control">{children}</div>
    </div>
  );
}

/** How long a text field must rest before the preview is recalculated, in milliseconds. */
const restMilliseconds = 300;

function useRested<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMilliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

/** What the rules of a draft would redact, recalculated when its fields rest. */
function useDraftPreview(draft: PackDraft, selection: ExportSelection) {
  const rested = useRested(useDeferredValue(draft));
  const rules = draftRules(rested);
  const query: RedactionQuery | null =
    rules.length === 0 || rested.columns.length === 0
      ? null
      : { selection, runs: rested.runs, columns: [...rested.columns], rules };
  const preview = useRedactionPreview(query);
  return {
    preview: query === null ? undefined : preview.data,
    isPreviewBehind: preview.isPlaceholderData || preview.isFetching,
    error: query === null ? null : preview.error,
  };
}

interface FormProps {
  selection: ExportSelection;
  /** The contents, as text: `3 selected conversations`. */
  subject: string;
  draft: PackDraft;
  name: string;
  onName: (name: string) => void;
  error: Error | null;
}

function PackForm({ selection, subject, draft, name, onName, error }: FormProps) {
  const change = (part: Partial<PackDraft>) => usePackDraft.setState(part);
  const preview = useDraftPreview(draft, selection);
  const today = useToday();
  return (
    <>
      <Field label="Scope">
        <span className="medium">{subject}</span>
        {'filter' in selection && (
          <Segmented label="Runs" value={draft.runs} onValueChange={(runs) => change({ runs })} options={whichRuns} />
        )}
      </Field>
      <Field label="Name">
        <TextField
          label="Pack name"
          isLabelHidden
          maxLength={200}
          placeholder={`Evidence ${today.toLocaleDateString('sv')}`}
          value={name}
          onValueChange={onName}
        />
      </Field>
      <Field label="Columns">
        <ColumnsField columns={draft.columns} onChange={(columns) => change({ columns })} />
      </Field>
      <Field label="Redact">
        <RulesField draft={draft} onChange={change} {...preview} />
      </Field>
      <Field label="Formats">
        <FormatsField draft={draft} onChange={change} />
      </Field>
      <Field label="Files">
        <Checkbox
          label="Include the files of prompts"
          isChecked={draft.files}
          onCheckedChange={(files) => change({ files })}
        />
        {draft.files && draftRules(draft).length > 0 && (
          <p className="small caution">Files aren't redacted. The pack contains them unchanged.</p>
        )}
      </Field>
      {error && <ErrorFailure title="Couldn't start the pack" error={error} />}
    </>
  );
}

export interface EvidenceDialogProps {
  selection: ExportSelection;
  subject: string;
  isOpen: boolean;
  onClose: () => void;
}

/** A new evidence pack, and the existing ones. */
export function EvidenceDialog({ selection, subject, isOpen, onClose }: EvidenceDialogProps) {
  const [tab, setTab] = useState<'new' | 'packs'>('new');
  const [name, setName] = useState('');
  const draft = usePackDraft();
  const packs = useAuditExports().data?.data ?? [];
  const create = useCreateAuditExport();
  const problem = draftProblem(draft);
  const write = () =>
    create.mutate(packInput(draft, selection, name), {
      onSuccess: () => {
        setName('');
        setTab('packs');
      },
    });
  const footer = tab === 'new' && (
    <>
      <span className="grow small caution">{problem}</span>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" isBusy={create.isPending} aria-disabled={problem !== null || undefined} onClick={write}>
        Create pack
      </Button>
    </>
  );
  return (
    <Dialog title="Evidence pack" isOpen={isOpen} onClose={onClose} isWide footer={footer}>
      <div>
        <Segmented
          label="View"
          value={tab}
          onValueChange={setTab}
          options={[
            { value: 'new', label: 'New pack' },
            { value: 'packs', label: `Packs (${packs.length})` },
          ]}
        />
      </div>
      {tab === 'new' ? (
        <PackForm
          selection={selection}
          subject={subject}
          draft={draft}
          name={name}
          onName={setName}
          error={create.error}
        />
      ) : (
        <PackList packs={packs} />
      )}
    </Dialog>
  );
}
