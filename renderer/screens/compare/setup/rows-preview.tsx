import { ArrowDown, TriangleAlert } from 'lucide-react';
import { useMemo } from 'react';
import type { DatasetColumn, DatasetRows } from '../../../../shared/contract/datasets.ts';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { Icon } from '../../../components/icon.tsx';
import { Select } from '../../../components/select.tsx';
import { QueryView } from '../../../components/state-panels.tsx';
import { useDatasetRows } from '../../../queries/datasets.ts';
import {
  allVariables,
  type ColumnTarget,
  missingVariables,
  neededVariables,
  suggestedColumn,
  targetChange,
  targetOf,
} from './column-mapping.ts';
import { useSetup } from './setup-context.ts';
import { firstRows } from './setup-draft.ts';

const previewRows = 3;
const maxPreviewCharacters = 160;

function previewOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxPreviewCharacters ? `${text.slice(0, maxPreviewCharacters)}…` : text;
}

function targetKey(target: ColumnTarget): string {
  return target.kind === 'variable' ? `variable ${target.name}` : target.kind;
}

function ColumnSelect({ column }: { column: DatasetColumn }) {
  const { draft, change, needs } = useSetup();
  const variables = allVariables(needs);
  const target = targetOf(column, variables, draft);
  const isOwn = column.type !== 'expected' && variables.includes(column.name);
  const names = [...new Set([...variables, ...(target.kind === 'variable' ? [target.name] : [])])];
  const options = [
    ...names.map((name) => ({ value: `variable ${name}`, label: name, group: 'Variables' })),
    // A column with the name of a variable fills it.
    ...(isOwn
      ? []
      : [
          { value: 'title', label: 'Row title' },
          { value: 'checks', label: 'Checks only' },
        ]),
  ];
  const isUnfilled =
    target.kind === 'none' && missingVariables(neededVariables(needs), [column], { variables: {} }).length > 0;
  return (
    <div className={classNames(isUnfilled && 'is-unfilled')}>
      <Select
        label={`Use of column ${column.name}`}
        size="small"
        isMono={target.kind === 'variable'}
        value={target.kind === 'none' ? null : targetKey(target)}
        placeholder="Not used"
        options={options}
        onValueChange={(value) => {
          const [kind, ...name] = value.split(' ');
          const next: ColumnTarget =
            kind === 'variable' ? { kind, name: name.join(' ') } : { kind: kind as 'title' | 'checks' };
          change((before) => targetChange(column.name, next, before));
        }}
      />
    </div>
  );
}

function RowsTable({ columns, rows }: { columns: readonly DatasetColumn[]; rows: DatasetRows }) {
  return (
    <div className="scroll setup__rows" role="region" aria-label="First rows" tabIndex={0}>
      <table className="setup__csv">
        <thead>
          <tr>
            <th scope="col">Row</th>
            {columns.map(({ name }) => (
              <th key={name} scope="col" className="mono--small truncate">
                {name}
              </th>
            ))}
          </tr>
          <tr className="setup__map">
            <td>
              <Icon icon={ArrowDown} size="tiny" />
            </td>
            {columns.map((column) => (
              <td key={column.name}>
                <ColumnSelect column={column} />
              </td>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.data.slice(0, previewRows).map(({ id, values }, index) => (
            <tr key={id}>
              <td className="numbers tertiary">{index + 1}</td>
              {columns.map(({ name }) => (
                <td key={name} className="truncate secondary">
                  {previewOf(values[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MissingColumns() {
  const { draft, change, needs, dataset } = useSetup();
  const missing = useMemo(
    () => (dataset ? missingVariables(neededVariables(needs), dataset.columns, draft) : []),
    [dataset, needs, draft],
  );
  if (!dataset) return null;
  return missing.slice(0, 5).map((variable) => {
    const column = suggestedColumn(variable, dataset.columns);
    return (
      <p key={variable} className="setup__note">
        <Icon icon={TriangleAlert} size="tiny" className="caution" />
        <span>
          No column for <span className="mono--small">{variable}</span>.{' '}
          {column !== null && (
            <button
              type="button"
              className="link"
              onClick={() => change((before) => targetChange(column, { kind: 'variable', name: variable }, before))}
            >
              Use {column}
            </button>
          )}
        </span>
      </p>
    );
  });
}

/** The first rows, and which column fills which variable. */
export function RowsPreview() {
  const { dataset, draft, change } = useSetup();
  const rows = useDatasetRows(dataset, previewRows);
  if (!dataset) return null;
  return (
    <>
      <QueryView query={rows} subject="the first rows" rows={previewRows}>
        {(data) => <RowsTable columns={dataset.columns} rows={data} />}
      </QueryView>
      <MissingColumns />
      {dataset.rowCount > firstRows && (
        <p className="setup__note">
          <span className="grow" />
          <Button
            size="small"
            variant="quiet"
            aria-pressed={draft.isFirstRowsOnly}
            className={draft.isFirstRowsOnly ? 'is-on' : undefined}
            onClick={() => change({ isFirstRowsOnly: !draft.isFirstRowsOnly })}
          >
            First {firstRows} rows only
          </Button>
        </p>
      )}
    </>
  );
}
