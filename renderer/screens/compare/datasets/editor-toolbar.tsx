import { ArrowLeft, Plus, Redo2, Rows3, Search, Undo2, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { useStore } from 'zustand';
import type { Dataset } from '../../../../shared/contract/datasets.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { formatWhole } from '../../../components/format.ts';
import { Menu } from '../../../components/menu.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useRenameDataset } from '../../../queries/datasets.ts';
import { datasetAddress } from '../../../shell/addresses.ts';
import { copySelection, fillDown, findText } from './grid/clipboard.ts';
import type { Editor } from './grid/editor.ts';
import { deleteRows, duplicateRows, insertColumn, insertRow, moveSelectedRows } from './grid/row-edits.ts';

/** The name of a dataset; Enter renames it. */
function DatasetName({ dataset }: { dataset: Dataset }) {
  const [name, setName] = useState<string | null>(null);
  const rename = useRenameDataset();
  const save = (): void => {
    const next = name?.trim();
    setName(null);
    if (next && next !== dataset.name) rename.mutate({ id: dataset.id, name: next });
  };
  if (name === null) {
    return (
      <button
        type="button"
        className="dataset-editor__name truncate"
        title="Rename"
        onClick={() => setName(dataset.name)}
      >
        {rename.isPending ? rename.variables.name : dataset.name}
      </button>
    );
  }
  return (
    <TextField
      label="Name of the dataset"
      isLabelHidden
      size="small"
      autoFocus
      maxLength={300}
      value={name}
      onValueChange={setName}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') save();
        if (event.key === 'Escape') setName(null);
      }}
    />
  );
}

function RowsMenu({ editor }: { editor: Editor }) {
  return (
    <Menu
      groups={[
        [
          { label: 'Insert row above', onSelect: () => insertRow(editor, 'above') },
          { label: 'Insert row below', keys: 'Mod+Enter', onSelect: () => insertRow(editor, 'below') },
          { label: 'Duplicate rows', onSelect: () => void duplicateRows(editor) },
          { label: 'Fill down', keys: 'Mod+D', onSelect: () => void fillDown(editor) },
        ],
        [
          { label: 'Move rows up', keys: 'Alt+ArrowUp', onSelect: () => moveSelectedRows(editor, -1) },
          { label: 'Move rows down', keys: 'Alt+ArrowDown', onSelect: () => moveSelectedRows(editor, 1) },
        ],
        [
          { label: 'Copy cells', keys: 'Mod+C', onSelect: () => void copySelection(editor) },
          { label: 'Delete rows', keys: 'Mod+Backspace', isNegative: true, onSelect: () => deleteRows(editor) },
        ],
      ]}
    >
      <Button size="small" icon={Rows3}>
        Rows
      </Button>
    </Menu>
  );
}

interface ToolbarProps {
  editor: Editor;
  dataset: Dataset;
  onFind: () => void;
  children: ReactNode;
}

/** The name, the version and what can be done with rows and columns. */
export function Toolbar({ editor, dataset, onFind, children }: ToolbarProps) {
  const [, navigate] = useLocation();
  const { past, future } = useStore(editor);
  return (
    <div className="toolbar dataset-editor__toolbar">
      <IconButton icon={ArrowLeft} label="All datasets" onClick={() => navigate(datasetAddress())} />
      <DatasetName dataset={dataset} />
      {children}
      <span className="grow" />
      <IconButton icon={Search} label="Find" keys="Mod+F" onClick={onFind} />
      {!editor.isReadOnly && (
        <>
          <IconButton
            icon={Undo2}
            label="Undo"
            keys="Mod+Z"
            aria-disabled={past.length === 0 || undefined}
            onClick={editor.undo}
          />
          <IconButton
            icon={Redo2}
            label="Redo"
            keys="Mod+Y"
            aria-disabled={future.length === 0 || undefined}
            onClick={editor.redo}
          />
          <RowsMenu editor={editor} />
          <Button size="small" icon={Plus} onClick={() => insertColumn(editor, editor.getState().table.columns.length)}>
            Add column
          </Button>
        </>
      )}
    </div>
  );
}

/** Finds the next or previous cell with a text. */
export function FindBar({ editor, onClose }: { editor: Editor; onClose: () => void }) {
  const [text, setText] = useState('');
  const [message, setMessage] = useState('');
  const active = useStore(editor, ({ selection }) => selection.active);
  const find = async (direction: 1 | -1): Promise<void> => {
    if (text === '') return;
    const isFound = await findText(editor, text, direction);
    const { selection, table } = editor.getState();
    const { row, column } = selection.active;
    setMessage(isFound ? `Row ${formatWhole(row + 1)}, ${table.columns[column]?.name}` : 'No match');
  };
  return (
    <div className="dataset-editor__find line-bottom" role="search">
      <TextField
        label="Find in cells"
        isLabelHidden
        size="small"
        icon={Search}
        autoFocus
        placeholder="Find in cells"
        value={text}
        onValueChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
          if (event.key === 'Enter') void find(event.shiftKey ? -1 : 1);
        }}
      />
      <Button size="small" onClick={() => void find(-1)}>
        Previous
      </Button>
      <Button size="small" onClick={() => void find(1)}>
        Next
      </Button>
      <span className="caption tertiary nowrap" role="status">
        {message !== '' && (message === 'No match' || active.row >= 0) && message}
      </span>
      <span className="grow" />
      <IconButton icon={X} size="small" label="Close search" onClick={onClose} />
    </div>
  );
}
