import { ClipboardList, FileUp } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { ImportedDataset } from '../../../../shared/contract/dataset-import.ts';
import type { DatasetInput } from '../../../../shared/contract/datasets.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { Button } from '../../../components/button.tsx';
import { Combobox } from '../../../components/combobox.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { readFileValues } from '../../../drafts/file-values.ts';
import { readFields } from '../../../drafts/variable-model.ts';
import { useCreateDataset, useDatasetList, useDatasetVersions } from '../../../queries/datasets.ts';
import { datasetAddress } from '../../../shell/addresses.ts';
import { type Draft, getActiveDraft, useDrafts } from '../../../stores/playground-drafts.ts';
import { writeChecks } from './check-drafts.ts';
import { RowsPreview } from './rows-preview.tsx';
import { exampleDataset } from '../datasets/example-dataset.ts';
import { ImportDataset } from '../datasets/import-dataset.tsx';
import { useProblem, useSetup } from './setup-context.ts';

/** A dataset with the values of the open prompt as its first row; null if it has no variables. */
export function valuesDataset(draft: Draft): DatasetInput | null {
  const fields = readFields(parseTemplate(draft.promptText).variables, draft);
  if (fields.length === 0) return null;
  const columns = fields.map(({ name, kind, isJson }) => ({
    name,
    type: kind === 'file' ? ('file' as const) : isJson ? ('json' as const) : ('text' as const),
  }));
  const row = Object.fromEntries(
    fields.flatMap(({ name, kind, isJson, isFilled, problem, text }) => {
      if (!isFilled || problem !== null) return [];
      if (kind === 'file') return (readFileValues(text) ?? []).map(({ fileId }) => [name, { fileId }]);
      return [[name, isJson ? (JSON.parse(text) as unknown) : text]];
    }),
  ) as Record<string, unknown>;
  return { name: `Values of ${draft.name}`.slice(0, 300), columns, rows: [row] };
}

function useInputs() {
  const { change } = useSetup();
  const create = useCreateDataset();
  const select = (datasetId: string): void => change({ datasetId, datasetVersion: null });
  return {
    select,
    isBusy: create.isPending,
    failure: create.error,
    take: ({ id, report }: ImportedDataset) => {
      select(id);
      // promptfoo and OpenAI Evals keep their checks beside the rows.
      change(({ checks }) => (checks.length === 0 ? { checks: writeChecks(report.checks) } : {}));
    },
    createFrom: (body: DatasetInput) => create.mutate(body, { onSuccess: ({ id }) => select(id) }),
  };
}

type Inputs = ReturnType<typeof useInputs>;

/** Ways to get rows for a person who has none. */
function NoRows({ createFrom, isBusy }: Inputs) {
  const { change } = useSetup();
  const playground = useDrafts(getActiveDraft);
  const values = valuesDataset(playground);
  return (
    <div className="setup__hint">
      <p className="small secondary">Every variant runs over the rows of a dataset. A row fills the variables.</p>
      <div className="row">
        <Button
          size="small"
          isBusy={isBusy}
          onClick={() => {
            createFrom(exampleDataset);
            change(({ checks }) => ({
              checks:
                checks.length > 0
                  ? checks
                  : [
                      {
                        id: crypto.randomUUID(),
                        kind: 'contains',
                        isNot: false,
                        fields: { column: 'expected', ignoreCase: 'true' },
                        checks: [],
                      },
                    ],
            }));
          }}
        >
          Create sample dataset
        </Button>
        {values && (
          <Button size="small" isBusy={isBusy} onClick={() => createFrom(values)}>
            Create from the playground's values
          </Button>
        )}
      </div>
    </div>
  );
}

function VersionSelect() {
  const { draft, change, dataset } = useSetup();
  const versions = useDatasetVersions(draft.datasetId ?? '', { isEnabled: draft.datasetId !== null });
  const all = versions.data?.pages.flatMap(({ data }) => data) ?? [];
  if (!dataset || (all.length < 2 && draft.datasetVersion === null)) return null;
  const shown = new Set([...all.map(({ version }) => version), dataset.version]);
  return (
    <Select
      label="Version of the dataset"
      size="small"
      value={draft.datasetVersion === null ? 'latest' : String(draft.datasetVersion)}
      options={[
        { value: 'latest', label: 'Latest' },
        ...[...shown].map((version) => ({ value: String(version), label: `Version ${version}` })),
      ]}
      onValueChange={(value) => change({ datasetVersion: value === 'latest' ? null : Number(value) })}
    />
  );
}

function DatasetSelect({ onChange }: { onChange: (datasetId: string) => void }) {
  const { draft, dataset } = useSetup();
  const datasets = useDatasetList().data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Combobox
      label="Dataset"
      size="small"
      value={draft.datasetId ?? ''}
      shown={dataset?.name ?? (draft.datasetId === null ? 'Choose a dataset' : 'Loading')}
      placeholder="Search datasets"
      options={datasets.map(({ id, name, rowCount }) => ({
        value: id,
        label: name,
        group: 'Datasets',
        detail: formatPlural(rowCount, 'row'),
      }))}
      onValueChange={onChange}
    />
  );
}

/** The dataset, and which column fills which variable. */
export function InputsSection() {
  const { draft, dataset, datasetQuery } = useSetup();
  const [, navigate] = useLocation();
  const inputs = useInputs();
  const [isImporting, setImporting] = useState(false);
  const problem = useProblem('datasetId');
  const failure = inputs.failure ?? datasetQuery.error;
  return (
    <section className="line-top" aria-label="Inputs">
      <div className="header">
        <h2>Inputs</h2>
        <div className="setup__dataset">
          <DatasetSelect onChange={inputs.select} />
        </div>
        <VersionSelect />
        {dataset && (
          <span className="caption tertiary nowrap setup__counts">
            {formatWhole(dataset.rowCount)} {dataset.rowCount === 1 ? 'row' : 'rows'},{' '}
            {formatPlural(dataset.columns.length, 'column')}
          </span>
        )}
        <span className="grow" />
        {draft.datasetId !== null && (
          <Button
            size="small"
            variant="quiet"
            icon={ClipboardList}
            onClick={() => navigate(datasetAddress(draft.datasetId ?? undefined))}
          >
            Edit rows
          </Button>
        )}
        <Button size="small" icon={FileUp} onClick={() => setImporting(true)}>
          Import file
        </Button>
      </div>
      {(problem ?? failure) && (
        <p className="setup__hint caption negative" role="alert">
          {problem ?? describeError(failure).message}
        </p>
      )}
      {draft.datasetId === null ? <NoRows {...inputs} /> : <RowsPreview />}
      {isImporting && (
        <ImportDataset
          onClose={() => setImporting(false)}
          onImported={(imported) => {
            setImporting(false);
            inputs.take(imported);
          }}
        />
      )}
    </section>
  );
}
