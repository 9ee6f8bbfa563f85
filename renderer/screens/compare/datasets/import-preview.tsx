import type { DatasetFormat, DatasetPreview, ImportEntry } from '../../../../shared/contract/dataset-import.ts';
import type { DatasetColumn } from '../../../../shared/contract/datasets.ts';
import { Badge } from '../../../components/badges.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { formatPlural } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { TextField } from '../../../components/text-field.tsx';
import type { DatasetFile } from '../../../queries/dataset-import.ts';
import { shownText } from './grid/cell-values.ts';
import { columnTypeOptions } from './grid/column-popover.tsx';

const formatNames: Readonly<Record<DatasetFormat, string>> = {
  csv: 'CSV',
  jsonl: 'JSONL',
  json: 'JSON',
  xlsx: 'Excel',
  promptfoo: 'promptfoo tests',
  'openai-evals': 'OpenAI Evals',
  'github-models': 'GitHub Models (.prompt.yml)',
  langfuse: 'Langfuse',
};

const outcomes = {
  imported: { tone: 'positive', label: 'Imported' },
  changed: { tone: 'accent', label: 'Changed' },
  skipped: { tone: 'caution', label: 'Skipped' },
  missing: { tone: 'caution', label: 'Missing' },
} as const;

/** What an import reads, changes and leaves out. */
export function Entries({ entries }: { entries: readonly ImportEntry[] }) {
  if (entries.length === 0) return null;
  return (
    <ul className="import-dataset__entries small" tabIndex={0} aria-label="Report">
      {entries.slice(0, 100).map(({ outcome, field, message, rows }, index) => (
        <li key={index} className="row">
          <Badge tone={outcomes[outcome].tone}>{outcomes[outcome].label}</Badge>
          <span>
            {field !== '' && <span className="mono--small">{field}: </span>}
            {message}
            {rows !== null && <span className="tertiary"> ({formatPlural(rows, 'row')})</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A column of the preview as the person wants it. */
export interface ColumnChoice {
  readonly name: string;
  readonly type: DatasetColumn['type'];
  readonly isImported: boolean;
}

interface PreviewTableProps {
  preview: DatasetPreview;
  choices: readonly ColumnChoice[];
  onChange: (choices: readonly ColumnChoice[]) => void;
}

/** The columns with what becomes of them, above the first rows. */
export function PreviewTable({ preview, choices, onChange }: PreviewTableProps) {
  const change = (index: number, next: Partial<ColumnChoice>): void =>
    onChange(choices.with(index, { ...choices[index]!, ...next }));
  return (
    <div className="import-dataset__table" tabIndex={0} role="region" aria-label="First rows">
      <table aria-label="First rows">
        <thead>
          <tr>
            {preview.columns.map(({ name, missing }, index) => {
              const choice = choices[index]!;
              return (
                <th key={name} scope="col">
                  <div>
                    <Checkbox
                      label={`Import ${name}`}
                      isChecked={choice.isImported}
                      onCheckedChange={(isImported) => change(index, { isImported })}
                    />
                    <TextField
                      label={`Name of ${name}`}
                      isLabelHidden
                      size="small"
                      isMono
                      maxLength={200}
                      disabled={!choice.isImported}
                      value={choice.name}
                      onValueChange={(next) => change(index, { name: next })}
                    />
                    <Select
                      label={`Type of ${name}`}
                      size="small"
                      value={choice.type}
                      isDisabled={!choice.isImported}
                      options={columnTypeOptions}
                      onValueChange={(type) => change(index, { type })}
                    />
                    <span className="caption tertiary">
                      {missing === 0 ? 'Complete' : `${formatPlural(missing, 'row')} without a value`}
                    </span>
                  </div>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {preview.rows.slice(0, 10).map((row, index) => (
            <tr key={index}>
              {preview.columns.map(({ name }) => (
                <td key={name}>
                  <span className="clamped small">{shownText(row[name])}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Why the columns can't be imported like this; null if they can. */
export function choicesProblem(choices: readonly ColumnChoice[]): string | null {
  const names = choices.filter(({ isImported }) => isImported).map(({ name }) => name.trim());
  if (names.length === 0) return 'Select at least one column.';
  if (names.includes('')) return 'Every column needs a name.';
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : `Two columns have the name "${twice}".`;
}

interface ReadingFieldsProps {
  source: DatasetFile;
  preview: DatasetPreview;
  onChange: (source: DatasetFile) => void;
}

/** How the file is read: its format and, in a workbook, the sheet. */
export function ReadingFields({ source, preview, onChange }: ReadingFieldsProps) {
  const { report, rowCount } = preview;
  const isWorkbook = report.format === 'xlsx';
  const [checks, judges] = [report.checks.length, report.judges.length];
  return (
    <>
      <Select
        label="Format"
        isLabelHidden={false}
        value={report.format}
        options={Object.entries(formatNames).map(([value, label]) => ({ value: value as DatasetFormat, label }))}
        onValueChange={(format) => onChange({ ...source, format, sheet: isWorkbook ? null : (source.sheet ?? null) })}
      />
      {report.sheets.length > 1 && (
        <Select
          label={isWorkbook ? 'Sheet' : 'Table'}
          isLabelHidden={false}
          value={report.sheet}
          options={report.sheets.map((value) => ({ value, label: value }))}
          onValueChange={(sheet) => onChange({ ...source, format: report.format, sheet })}
        />
      )}
      <span className="small secondary numbers" role="status">
        {formatPlural(rowCount, 'row')}, {formatPlural(preview.columns.length, 'column')}
        {checks > 0 && `, ${formatPlural(checks, 'check')}`}
        {judges > 0 && `, ${formatPlural(judges, 'proposed judge')}`}
      </span>
    </>
  );
}
