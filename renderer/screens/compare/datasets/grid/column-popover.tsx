import { ArrowLeft, ArrowRight, Plus, Trash2 } from 'lucide-react';
import { type FormEvent, type ReactElement, useState } from 'react';
import { datasetColumn, type DatasetColumn } from '../../../../../shared/contract/datasets.ts';
import { Button, IconButton } from '../../../../components/button.tsx';
import { Popover } from '../../../../components/popover.tsx';
import { Select } from '../../../../components/select.tsx';
import { TextField } from '../../../../components/text-field.tsx';
import { columnTypeNames } from './cell-values.ts';
import type { Editor } from './editor.ts';
import { changeColumn, deleteColumn, insertColumn, moveColumn } from './row-edits.ts';
import { retyped } from './table-document.ts';

const typeHints: Readonly<Record<DatasetColumn['type'], string>> = {
  text: 'Fills a variable with text',
  json: 'Fills a variable with a list, an object or a number',
  file: 'Fills a file variable',
  expected: 'For checks only; prompts never see it',
};

export const columnTypeOptions = Object.entries(columnTypeNames).map(([value, label]) => ({
  value: value as DatasetColumn['type'],
  label,
}));

function nameProblem(name: string, others: readonly DatasetColumn[]): string | null {
  if (others.some((other) => other.name === name)) return 'Another column has this name';
  const issue = datasetColumn.shape.name.safeParse(name).error?.issues[0]?.message;
  return issue === undefined ? null : `The name ${issue}`;
}

function ColumnForm({ editor, index, onClose }: { editor: Editor; index: number; onClose: () => void }) {
  const { columns } = editor.getState().table;
  const column = columns[index]!;
  const [name, setName] = useState(column.name);
  const [type, setType] = useState(column.type);
  const problem = nameProblem(name, columns.toSpliced(index, 1));
  const run = (action: () => unknown) => () => {
    onClose();
    action();
  };
  const apply = (event: FormEvent): void => {
    event.preventDefault();
    if (problem !== null) return;
    onClose();
    const typed = retyped(column, type);
    changeColumn(editor, index, name === column.name ? typed : { ...typed, name });
  };
  return (
    <form className="data-grid__column-form" onSubmit={apply} onKeyDown={(event) => event.stopPropagation()}>
      <TextField label="Name" isMono maxLength={200} value={name} onValueChange={setName} error={problem} />
      <Select label="Type" isLabelHidden={false} value={type} onValueChange={setType} options={columnTypeOptions} />
      <p className="caption tertiary">{typeHints[type]}</p>
      <div className="row">
        <IconButton
          icon={ArrowLeft}
          label="Move left"
          aria-disabled={index === 0 || undefined}
          onClick={run(() => moveColumn(editor, index, -1))}
        />
        <IconButton
          icon={ArrowRight}
          label="Move right"
          aria-disabled={index === columns.length - 1 || undefined}
          onClick={run(() => moveColumn(editor, index, 1))}
        />
        <IconButton icon={Plus} label="Insert column after it" onClick={run(() => insertColumn(editor, index + 1))} />
        <IconButton
          icon={Trash2}
          label="Delete column"
          aria-disabled={columns.length === 1 || undefined}
          onClick={run(() => deleteColumn(editor, index))}
        />
        <span className="grow" />
        <Button variant="primary" type="submit" aria-disabled={problem !== null || undefined}>
          Apply
        </Button>
      </div>
    </form>
  );
}

/** Renames, retypes, moves and deletes a column. */
export function ColumnPopover(props: {
  editor: Editor;
  index: number;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  trigger: ReactElement;
}) {
  const { editor, index, isOpen, onOpenChange, trigger } = props;
  const name = editor.getState().table.columns[index]?.name ?? '';
  return (
    <Popover label={`Column ${name}`} isOpen={isOpen} onOpenChange={onOpenChange} trigger={trigger}>
      <ColumnForm editor={editor} index={index} onClose={() => onOpenChange(false)} />
    </Popover>
  );
}
