import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { exportColumns, type ExportColumn } from '../../../../shared/contract/audit-exports.ts';
import { Checkbox, Segmented } from '../../../components/choices.tsx';
import { Icon } from '../../../components/icon.tsx';
import { columnGroups, columnName, columnPresets } from './pack-draft.ts';

const presets = [
  { value: 'essential', label: 'Essential' },
  { value: 'everything', label: 'Everything' },
  { value: 'own', label: 'Custom' },
] as const;

function presetOf(columns: readonly ExportColumn[]): 'essential' | 'everything' | 'own' {
  const isSame = (preset: readonly ExportColumn[]) =>
    preset.length === columns.length && preset.every((column) => columns.includes(column));
  if (isSame(columnPresets.everything)) return 'everything';
  return isSame(columnPresets.essential) ? 'essential' : 'own';
}

/** Which columns the files have: two usual choices, or any. */
export function ColumnsField({
  columns,
  onChange,
}: {
  columns: readonly ExportColumn[];
  onChange: (columns: readonly ExportColumn[]) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const toggle = (column: ExportColumn, isOn: boolean) =>
    onChange(
      isOn
        ? exportColumns.filter((one) => one === column || columns.includes(one))
        : columns.filter((one) => one !== column),
    );
  return (
    <>
      <div className="row">
        <Segmented
          label="Columns"
          value={presetOf(columns)}
          onValueChange={(preset) => (preset === 'own' ? setOpen(true) : onChange(columnPresets[preset]))}
          options={presets}
        />
        <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon icon={isOpen ? ChevronDown : ChevronRight} size="small" />
          {columns.length} of {exportColumns.length} columns
        </button>
      </div>
      {isOpen && (
        <div className="pack__columns">
          {columnGroups.map(({ title, columns: members }) => (
            <fieldset key={title}>
              <legend className="caption tertiary">{title}</legend>
              {members.map((column) => (
                <Checkbox
                  key={column}
                  label={columnName(column)}
                  isChecked={columns.includes(column)}
                  onCheckedChange={(isOn) => toggle(column, isOn)}
                />
              ))}
            </fieldset>
          ))}
        </div>
      )}
    </>
  );
}
