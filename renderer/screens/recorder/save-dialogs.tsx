import { type ReactNode, useState } from 'react';
import { withoutReserved } from '../../../shared/contract/completions.ts';
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
import { useAddVersion, useCreatePrompt, usePromptsAtOnce } from '../../queries/prompts.ts';
import { useAddRunsToDataset, useCreateRunDataset } from '../../queries/recorded-calls.ts';
import { datasetAddress, promptAddress } from '../../shell/addresses.ts';
import { useOpenResult } from '../../shell/navigate-from-here.ts';
import { everyPrompt } from '../../stores/prompts.ts';

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

const newPrompt = 'new';
/** Prompts to choose from, those that changed last. */
const maxPromptOptions = 500;

function usePromptOptions(): ComboboxOption[] {
  const prompts = usePromptsAtOnce(everyPrompt, { max: maxPromptOptions, isEnabled: true }).data ?? [];
  return [
    { value: newPrompt, label: 'New prompt', group: 'New' },
    ...prompts.map(({ id, name, folder }) => ({
      value: id,
      label: name,
      group: 'New version of',
      ...(folder && { detail: folder }),
    })),
  ];
}

interface SavedPrompt {
  target: string;
  name: string;
  note: string;
}

/** Saves a call as a new prompt, or as the next version of one, and opens it. */
function useSavePrompt({ input, aiSystem, model }: ConversationRun) {
  const openResult = useOpenResult();
  const create = useCreatePrompt();
  const add = useAddVersion();
  const { promptText, systemMessage } = input;
  const configuration = input.configuration && withoutReserved(input.configuration);
  const version = { promptText, systemMessage, configuration, aiSystem, model };
  const save = async ({ target, name, note }: SavedPrompt): Promise<void> => {
    if (target === newPrompt) {
      const saved = await create.mutateAsync({ name: name.trim(), ...version });
      return openResult({ address: promptAddress(saved.id), text: `Saved prompt "${saved.name}".` });
    }
    const { id, number } = await add.mutateAsync({ promptId: target, ...version, note: note.trim() || null });
    return openResult({ address: promptAddress(target, id), text: `Saved version ${number} of "${name}".` });
  };
  return { save, isBusy: create.isPending || add.isPending, errors: { create: create.error, add: add.error } };
}

/** Saves the messages and the parameters of a call as a prompt, or as a version of one. */
export function PromptDialog({ run, name: suggestion, onClose }: CallDialogProps) {
  const { save: send, isBusy, errors } = useSavePrompt(run);
  const options = usePromptOptions();
  const [name, setName] = useState(suggestion.slice(0, 200));
  const [note, setNote] = useState('');
  const [target, setTarget] = useState(newPrompt);
  const isNew = target === newPrompt;
  const shown = options.find(({ value }) => value === target)?.label ?? '';
  const isReady = !isNew || name.trim() !== '';
  const save = (): void => {
    if (isReady && !isBusy) send({ target, name: isNew ? name : shown, note }).catch(() => {});
  };
  return (
    <SaveDialog
      title="Save as prompt"
      action={isNew ? 'Save prompt' : 'Save version'}
      explanation={`Saves the system message, the messages, the tools and the parameters of this call as ${
        isNew ? 'the first version of a prompt' : 'the newest version of the prompt'
      }.`}
      isReady={isReady}
      isBusy={isBusy}
      error={isNew ? errors.create : errors.add}
      onSave={save}
      onClose={onClose}
    >
      {options.length > 1 && (
        <div className="labelled">
          <span className="label">Save as</span>
          <Combobox
            label="Save as"
            value={target}
            shown={isNew ? shown : `New version of ${shown}`}
            options={options}
            onValueChange={setTarget}
            placeholder="Search prompts"
          />
        </div>
      )}
      {isNew ? (
        <NameField name={name} onChange={setName} onEnter={save} />
      ) : (
        <TextField
          label="Note"
          maxLength={10_000}
          placeholder="What changed? (optional)"
          value={note}
          onValueChange={setNote}
          onKeyDown={(event) => event.key === 'Enter' && save()}
        />
      )}
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
