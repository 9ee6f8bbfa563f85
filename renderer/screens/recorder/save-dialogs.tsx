import { type ReactNode, useState } from 'react';
import type { ConversationRun } from '../../../shared/contract/conversations.ts';
import { maxAddedRuns } from '../../../shared/contract/dataset-import.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { Combobox, type ComboboxOption } from '../../components/combobox.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { formatPlural } from '../../components/format.ts';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useDatasetList } from '../../queries/datasets.ts';
import { useCreatePrompt } from '../../queries/prompts.ts';
import { useAddRunsToDataset, useCreateRunDataset } from '../../queries/recorded-calls.ts';
import { datasetAddress, promptAddress } from '../../shell/addresses.ts';
import { useOpenResult } from '../../shell/navigate-from-here.ts';

interface SaveDialogProps {
  title: string;
  action: string;
  explanation: string;
  isReady: boolean;
  isBusy: boolean;
  error: unknown;
  onSave: () => void;
  onClose: () => void;
  children: ReactNode;
}

function SaveDialog({
  title,
  action,
  explanation,
  isReady,
  isBusy,
  error,
  onSave,
  onClose,
  children,
}: SaveDialogProps) {
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" isBusy={isBusy} aria-disabled={!isReady || undefined} onClick={onSave}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog title={title} isOpen onClose={onClose} footer={footer}>
      <p className="small secondary">{explanation}</p>
      {children}
      {error !== null && (
        <p className="small negative" role="alert">
          {describeError(error).message}
        </p>
      )}
    </Dialog>
  );
}

interface NameFieldProps {
  name: string;
  onChange: (name: string) => void;
  onEnter: () => void;
}

function NameField({ name, onChange, onEnter }: NameFieldProps) {
  return (
    <TextField
      label="Name"
      maxLength={200}
      value={name}
      onValueChange={onChange}
      onKeyDown={(event) => event.key === 'Enter' && onEnter()}
    />
  );
}

interface CallDialogProps {
  run: ConversationRun;
  /** Of the conversation. */
  name: string;
  onClose: () => void;
}

/** Saves the messages and the parameters of a call as a prompt. */
export function PromptDialog({ run, name: suggestion, onClose }: CallDialogProps) {
  const openResult = useOpenResult();
  const create = useCreatePrompt();
  const [name, setName] = useState(suggestion.slice(0, 200));
  const { promptText, systemMessage, configuration } = run.input;
  const isReady = name.trim() !== '';
  const save = (): void => {
    if (!isReady || create.isPending) return;
    const { aiSystem, model } = run;
    create
      .mutateAsync({ name: name.trim(), promptText, systemMessage, configuration, aiSystem, model })
      .then((saved) => openResult({ address: promptAddress(saved.id), text: `Saved prompt "${saved.name}".` }))
      .catch(() => {});
  };
  return (
    <SaveDialog
      title="Save as prompt"
      action="Save prompt"
      explanation="Saves the system message, the messages, the tools and the parameters of this call as the first version of a prompt."
      isReady={isReady}
      isBusy={create.isPending}
      error={create.error}
      onSave={save}
      onClose={onClose}
    >
      <NameField name={name} onChange={setName} onEnter={save} />
    </SaveDialog>
  );
}

const newDataset = 'new';

function useDatasetOptions(): ComboboxOption[] {
  const pages = useDatasetList().data?.pages ?? [];
  const datasets = pages.flatMap(({ data }) => data);
  return [
    { value: newDataset, label: 'New dataset', group: 'New' },
    ...datasets.map(({ id, name, rowCount }) => ({
      value: id,
      label: name,
      group: 'Existing',
      detail: formatPlural(rowCount, 'row'),
    })),
  ];
}

interface ScopeChoiceProps {
  calls: number;
  scope: 'call' | 'conversation';
  onChange: (scope: 'call' | 'conversation') => void;
}

function ScopeChoice({ calls, scope, onChange }: ScopeChoiceProps) {
  return (
    <Segmented
      label="Calls"
      value={scope}
      options={[
        { value: 'call', label: 'This call' },
        { value: 'conversation', label: `All ${formatPlural(calls, 'call')}` },
      ]}
      onValueChange={onChange}
    />
  );
}

/** Adds a call, or the calls of its conversation, to a new or an existing dataset. */
export function DatasetDialog({
  runs,
  run,
  name: suggestion,
  onClose,
}: CallDialogProps & { runs: readonly ConversationRun[] }) {
  const openResult = useOpenResult();
  const create = useCreateRunDataset();
  const add = useAddRunsToDataset();
  const options = useDatasetOptions();
  const [name, setName] = useState(suggestion.slice(0, 200));
  const [target, setTarget] = useState(newDataset);
  const [scope, setScope] = useState<'call' | 'conversation'>(runs.length > 1 ? 'conversation' : 'call');
  const isNew = target === newDataset;
  const isReady = !isNew || name.trim() !== '';
  const runIds = (scope === 'call' ? [run] : runs.slice(-maxAddedRuns)).map(
    ({ conversationRunId }) => conversationRunId,
  );
  const save = (): void => {
    if (!isReady || create.isPending || add.isPending) return;
    const selection = { runIds };
    const saving = isNew
      ? create.mutateAsync({ name: name.trim(), selection, answer: 'expected', hasFeedback: true })
      : add.mutateAsync({ id: target, runIds });
    saving
      .then((saved) => openResult({ address: datasetAddress(saved.id), text: `Added to dataset "${saved.name}".` }))
      .catch(() => {});
  };
  return (
    <SaveDialog
      title="Add to dataset"
      action={isNew ? 'Create dataset' : 'Add to dataset'}
      explanation="Each call becomes a row with its prompt, and its answer as the expected value."
      isReady={isReady}
      isBusy={create.isPending || add.isPending}
      error={isNew ? create.error : add.error}
      onSave={save}
      onClose={onClose}
    >
      {runs.length > 1 && <ScopeChoice calls={runs.length} scope={scope} onChange={setScope} />}
      <div className="labelled">
        <span className="label">Dataset</span>
        <Combobox
          label="Dataset"
          value={target}
          shown={options.find(({ value }) => value === target)?.label ?? ''}
          options={options}
          onValueChange={setTarget}
          placeholder="Search datasets"
        />
      </div>
      {isNew && <NameField name={name} onChange={setName} onEnter={save} />}
    </SaveDialog>
  );
}
