import { ChevronDown, Paperclip } from 'lucide-react';
import { memo } from 'react';
import { fileIdOf } from '../../../../../shared/dataset-values.ts';
import { classNames } from '../../../../components/class-names.ts';
import { Icon } from '../../../../components/icon.tsx';
import { useFiles } from '../../../../queries/files.ts';
import { columnTypeNames, shownText, valueProblem } from './cell-values.ts';
import { ColumnPopover } from './column-popover.tsx';
import type { Editor } from './editor.ts';
import type { EditedColumn } from './table-document.ts';

/** The name of a file in a cell. */
function FileName({ value }: { value: unknown }) {
  const id = fileIdOf(value);
  const file = useFiles(id === null ? [] : [id])[id ?? ''];
  if (id === null) return <span className="negative truncate">{shownText(value)}</span>;
  return (
    <>
      <Icon icon={Paperclip} size="small" />
      <span className="truncate">{file === null ? 'Not stored any more' : (file?.name ?? 'Loading file')}</span>
    </>
  );
}

interface CellProps {
  id: string;
  column: EditedColumn;
  columnIndex: number;
  left: number;
  width: number;
  /** Null while it loads. */
  value: { readonly value: unknown } | null;
  isActive: boolean;
  isSelected: boolean;
}

export const Cell = memo(function Cell(props: CellProps) {
  const { id, column, columnIndex, left, width, value, isActive, isSelected } = props;
  const problem = value && valueProblem(value.value, column.type);
  return (
    <div
      id={id}
      role="gridcell"
      aria-colindex={columnIndex + 2}
      aria-selected={isSelected}
      aria-invalid={problem ? true : undefined}
      aria-busy={value === null || undefined}
      title={problem ?? undefined}
      data-column={columnIndex}
      className={classNames(
        'data-grid__cell',
        column.type === 'json' && 'mono--small',
        isSelected && 'is-selected',
        isActive && 'is-active',
        problem && 'is-invalid',
      )}
      style={{ left, width }}
    >
      {value === null && <span className="data-grid__loading" />}
      {value !== null && column.type === 'file' && value.value !== undefined && value.value !== null ? (
        <FileName value={value.value} />
      ) : (
        value !== null && <span className="truncate">{shownText(value.value)}</span>
      )}
    </div>
  );
}, isSameCell);

function isSameCell(before: CellProps, after: CellProps): boolean {
  return (
    before.id === after.id &&
    before.column === after.column &&
    before.left === after.left &&
    before.width === after.width &&
    before.isActive === after.isActive &&
    before.isSelected === after.isSelected &&
    (before.value === null) === (after.value === null) &&
    before.value?.value === after.value?.value
  );
}

export function HeaderCell(props: {
  editor: Editor;
  id: string;
  column: EditedColumn;
  index: number;
  left: number;
  width: number;
  isActive: boolean;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  const { editor, id, column, index, left, width, isActive, isOpen, onOpenChange } = props;
  return (
    <div
      id={id}
      role="columnheader"
      aria-colindex={index + 2}
      data-column={index}
      className={classNames('data-grid__head-cell', isActive && 'is-active')}
      style={{ left, width }}
      onDoubleClick={() => !editor.isReadOnly && onOpenChange(true)}
    >
      <span className="mono--small truncate">{column.name}</span>
      <span className="caption tertiary grow">{columnTypeNames[column.type]}</span>
      {!editor.isReadOnly && (
        <ColumnPopover
          editor={editor}
          index={index}
          isOpen={isOpen}
          onOpenChange={onOpenChange}
          trigger={
            <button
              type="button"
              tabIndex={-1}
              className="data-grid__column-button"
              aria-label={`Change column ${column.name}`}
            >
              <Icon icon={ChevronDown} size="small" />
            </button>
          }
        />
      )}
    </div>
  );
}
