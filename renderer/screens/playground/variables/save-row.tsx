import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Dataset, DatasetColumn, RowValues } from '../../../../shared/contract/datasets.ts';
import { convertValue } from '../../../../shared/dataset-values.ts';
import { Button } from '../../../components/button.tsx';
import { Combobox } from '../../../components/combobox.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { isFileField, readFileValues } from '../../../drafts/file-values.ts';
import type { VariableField } from '../../../drafts/variable-model.ts';
import { useAddDatasetVersion, useCreateDataset, useDatasetList } from '../../../queries/datasets.ts';
import { datasetAddress } from '../../../shell/addresses.ts';
import { showToast } from '../../../stores/toasts.ts';

const newDataset = 'new';

interface ColumnValue extends DatasetColumn {
  readonly value: unknown;
}

/** A variable as a column with its value; undefined is no value. */
function columnValueOf(field: VariableField): ColumnValue {
  const { name, text, isJson, isFilled, problem } = field;
  if (isFileField(field)) {
    const files = (readFileValues(text) ?? []).map(({ fileId }) => ({ fileId }));
    return field.kind === 'file' ? { name, type: 'file', value: files[0] } : { name, type: 'json', value: files };
  }
  if (!isFilled || problem !== null) return { name, type: isJson ? 'json' : 'text', value: undefined };
  return isJson ? { name, type: 'json', value: JSON.parse(text) as unknown } : { name, type: 'text', value: text };
}

/** The row in the columns of a dataset, which gets the columns that it lacks. */
export function rowFor(columns: readonly DatasetColumn[], fields: readonly VariableField[]) {
  const values = fields.map(columnValueOf);
  const known = new Map(columns.map(({ name, type }) => [name, type]));
  const added = values.filter(({ name }) => !known.has(name)).map(({ name, type }) => ({ name, type }));
  const row: RowValues = Object.fromEntries(
    values.flatMap(({ name, type, value }): [string, unknown][] => {
      const column = known.get(name) ?? type;
      const converted = column === type ? value : convertValue(value, column);
      return converted === undefined ? [] : [[name, converted]];
    }),
  );
  return { row, added };
}

function useSaveRow(fields: readonly VariableField[], onSaved: (dataset: Dataset) => void) {
  const create = useCreateDataset();
  const append = useAddDatasetVersion();
  return {
    isPending: create.isPending || append.isPending,
    error: create.error ?? append.error,
    save(dataset: Dataset | null, name: string): void {
      const { row, added } = rowFor(dataset?.columns ?? [], fields);
      if (dataset === null) return create.mutate({ name, columns: added, rows: [row] }, { onSuccess: onSaved });
      append.mutate(
        {
          id: dataset.id,
          baseVersion: dataset.latestVersion,
          ...(added.length > 0 && { columns: [...dataset.columns, ...added] }),
          changes: { added: [row] },
          note: 'Row from the playground',
        },
        { onSuccess: onSaved },
      );
    },
  };
}

interface DatasetSelectProps {
  id: string;
  /** Null for a new one. */
  dataset: Dataset | null;
  datasets: readonly Dataset[];
  onChange: (id: string) => void;
}

function DatasetSelect({ id, dataset, datasets, onChange }: DatasetSelectProps) {
  return (
    <Combobox
      label="Dataset"
      value={id}
      shown={dataset?.name ?? 'New dataset'}
      placeholder="Search datasets"
      options={[
        { value: newDataset, label: 'New dataset', group: 'New' },
        ...datasets.map((one) => ({
          value: one.id,
          label: one.name,
          group: 'Datasets',
          detail: formatPlural(one.rowCount, 'row'),
        })),
      ]}
      onValueChange={onChange}
    />
  );
}

interface SaveRowProps {
  name: string;
  fields: readonly VariableField[];
  onClose: () => void;
}

/** Saves the values of the variables as a row of a dataset. */
export function SaveRow({ name, fields, onClose }: SaveRowProps) {
  const [, navigate] = useLocation();
  const list = useDatasetList();
  const datasets = (list.data?.pages ?? []).flatMap(({ data }) => data);
  const [chosenId, setChosenId] = useState<string | null>(null);
  const [newName, setNewName] = useState(name);
  // The dataset with most of the variables is the likeliest.
  const fitting = datasets.find(({ columns }) =>
    fields.every((field) => columns.some((one) => one.name === field.name)),
  );
  const id = chosenId ?? fitting?.id ?? newDataset;
  const dataset = datasets.find((one) => one.id === id) ?? null;
  const { added } = rowFor(dataset?.columns ?? [], fields);
  const { save, isPending, error } = useSaveRow(fields, (saved) => {
    onClose();
    showToast({
      tone: 'neutral',
      text: `Saved the values as row ${saved.rowCount} of "${saved.name}".`,
      action: { label: 'Open dataset', run: () => navigate(datasetAddress(saved.id)) },
    });
  });
  const isNameless = dataset === null && newName.trim() === '';
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        variant="primary"
        isBusy={isPending}
        aria-disabled={isNameless || list.isPending || undefined}
        onClick={() => save(dataset, newName.trim())}
      >
        Save row
      </Button>
    </>
  );
  return (
    <Dialog title="Save values as a dataset row" isOpen onClose={onClose} footer={footer}>
      <div className="save-row">
        <DatasetSelect id={id} dataset={dataset} datasets={datasets} onChange={setChosenId} />
        {dataset === null && <TextField label="Name" maxLength={300} value={newName} onValueChange={setNewName} />}
        <p className="small secondary">
          {dataset !== null && added.length > 0
            ? `Adds ${formatPlural(added.length, 'column')} to the dataset: ${added.map((one) => one.name).join(', ')}.`
            : `Columns: ${fields.map((field) => field.name).join(', ')}.`}
        </p>
        {error && (
          <p className="small negative" role="alert">
            {describeError(error).message}
          </p>
        )}
      </div>
    </Dialog>
  );
}
