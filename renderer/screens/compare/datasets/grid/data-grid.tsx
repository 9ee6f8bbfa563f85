import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type ClipboardEvent,
  type DragEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useStore } from 'zustand';
import { formatWhole } from '../../../../components/format.ts';
import { CellEditor, FileCell } from './cell-editor.tsx';
import { clearSelection, copySelection, pasteText } from './clipboard.ts';
import { type CellPosition, type Editor, type EditorState, rangeOf } from './editor.ts';
import { Cell, HeaderCell } from './grid-cells.tsx';
import { numberWidth, positionAt, useCellEditing, useCellFiles, useColumnWidth, useGridMouse } from './grid-input.ts';
import { takeGridKey } from './grid-keys.ts';

const rowHeight = 28;
const headerHeight = 32;

const idOf = (gridId: string, { row, column }: CellPosition) => `${gridId}-${row}-${column}`;

/** Marks the cells of the selection in a row. */
function selectionIn({ selection }: EditorState, row: number, column: number) {
  const { fromRow, toRow, fromColumn, toColumn } = rangeOf(selection);
  const { active } = selection;
  return {
    isActive: active.row === row && active.column === column,
    isSelected: row >= fromRow && row < toRow && column >= fromColumn && column < toColumn,
  };
}

/** Copies, and cuts once the copy succeeded. */
function copyCells(event: ClipboardEvent, editor: Editor): void {
  event.preventDefault();
  void copySelection(editor).then(() =>
    event.type === 'cut' && !editor.isReadOnly ? clearSelection(editor) : undefined,
  );
}

/** The rows and columns in view. */
function useView(editor: Editor, { table, selection, arrivals }: EditorState, grid: RefObject<HTMLDivElement | null>) {
  const width = useColumnWidth(grid, table.columns.length);
  const rowList = useVirtualizer({
    count: table.rowCount,
    getScrollElement: () => grid.current,
    estimateSize: () => rowHeight,
    scrollMargin: headerHeight,
    scrollPaddingStart: headerHeight,
    overscan: 10,
  });
  const columnList = useVirtualizer({
    horizontal: true,
    count: table.columns.length,
    getScrollElement: () => grid.current,
    estimateSize: () => width,
    scrollMargin: numberWidth,
    scrollPaddingStart: numberWidth,
    overscan: 2,
  });
  useLayoutEffect(() => {
    columnList.measure();
  }, [columnList, width]);
  const rows = rowList.getVirtualItems();
  const columns = columnList.getVirtualItems();
  const [first, last] = [rows[0]?.index ?? 0, (rows.at(-1)?.index ?? -1) + 1];
  useEffect(() => {
    editor.want(first, last);
  }, [editor, first, last, table, arrivals]);
  const { active } = selection;
  const { row, column } = active;
  // Every selection is a new object: a key that stays on the cell still brings it into view.
  useEffect(() => {
    if (active.row >= 0) rowList.scrollToIndex(active.row);
    columnList.scrollToIndex(active.column);
  }, [rowList, columnList, active]);
  const isActiveShown =
    columns.some(({ index }) => index === column) && (row < 0 || rows.some(({ index }) => index === row));
  return {
    width,
    rows,
    columns,
    isActiveShown,
    height: rowList.getTotalSize(),
    totalWidth: numberWidth + columnList.getTotalSize(),
  };
}

type View = ReturnType<typeof useView>;

interface PartProps {
  editor: Editor;
  state: EditorState;
  gridId: string;
  view: View;
}

function Header({
  editor,
  state,
  gridId,
  view,
  open,
  onOpen,
}: PartProps & { open: string | null; onOpen: (key: string | null) => void }) {
  const { active } = state.selection;
  return (
    <div className="data-grid__head" role="row" aria-rowindex={1} data-row={-1} style={{ width: view.totalWidth }}>
      <div className="data-grid__number" role="columnheader" aria-colindex={1}>
        <span className="visually-hidden">Row</span>
      </div>
      {view.columns.map(({ index, start }) => {
        const column = state.table.columns[index];
        return (
          column && (
            <HeaderCell
              key={column.key}
              editor={editor}
              id={idOf(gridId, { row: -1, column: index })}
              column={column}
              index={index}
              left={start}
              width={view.width}
              isActive={active.row === -1 && active.column === index}
              isOpen={open === column.key}
              onOpenChange={(isOpen) => onOpen(isOpen ? column.key : null)}
            />
          )
        );
      })}
    </div>
  );
}

function Rows({ editor, state, gridId, view }: PartProps) {
  return view.rows.map(({ index: row, start }) => (
    <div
      key={row}
      className="data-grid__row"
      role="row"
      aria-rowindex={row + 2}
      data-row={row}
      style={{ transform: `translateY(${start - headerHeight}px)` }}
    >
      <div className="data-grid__number numbers" role="rowheader" aria-colindex={1} data-number={row}>
        {formatWhole(row + 1)}
      </div>
      {view.columns.map(({ index, start: left }) => {
        const column = state.table.columns[index];
        if (!column) return null;
        const position = { row, column: index };
        const cell = editor.cell(position);
        return (
          <Cell
            key={column.key}
            id={idOf(gridId, position)}
            column={column}
            columnIndex={index}
            left={left}
            width={view.width}
            value={cell.isLoaded ? cell : null}
            {...selectionIn(state, row, index)}
          />
        );
      })}
    </div>
  ));
}

type SendFiles = ReturnType<typeof useCellFiles>;

/** The editor of the open cell, over the cell. */
function OpenCell(props: {
  editor: Editor;
  cells: ReturnType<typeof useCellEditing>;
  width: number;
  sendFiles: SendFiles;
}) {
  const { editor, cells, width, sendFiles } = props;
  const { editing, close, commit } = cells;
  const column = editing && editor.getState().table.columns[editing.column];
  if (!editing || !column) return null;
  const label = `${column.name}, row ${editing.row + 1}`;
  return (
    <div
      className="data-grid__overlay"
      style={{ top: editing.row * rowHeight, left: numberWidth + editing.column * width, minWidth: width }}
    >
      {column.type === 'file' ? (
        <FileCell
          label={label}
          value={editing.value}
          onFiles={(files) => {
            close();
            sendFiles(files, editing);
          }}
          onRemove={() => commit(null, 'stay', false)}
          onClose={close}
        />
      ) : (
        <CellEditor
          key={`${editing.row}/${column.key}`}
          label={label}
          column={column}
          value={editing.value}
          typed={editing.typed}
          onCommit={commit}
          onCancel={() => close()}
        />
      )}
    </div>
  );
}

/** What comes from the clipboard, and files that are dropped on a cell. */
function transfersOf(editor: Editor, sendFiles: SendFiles) {
  const isFileCell = ({ row, column }: CellPosition) =>
    !editor.isReadOnly && row >= 0 && editor.getState().table.columns[column]?.type === 'file';
  const dropPosition = (event: DragEvent): CellPosition | null => {
    const position = positionAt(event.target);
    return position && isFileCell(position) && event.dataTransfer.types.includes('Files') ? position : null;
  };
  return {
    onCopy: (event: ClipboardEvent) => copyCells(event, editor),
    onCut: (event: ClipboardEvent) => copyCells(event, editor),
    onPaste(event: ClipboardEvent): void {
      const { active } = editor.getState().selection;
      if (editor.isReadOnly || active.row < 0) return;
      event.preventDefault();
      const files = [...event.clipboardData.files];
      if (files.length > 0 && isFileCell(active)) return sendFiles(files, active);
      void pasteText(editor, event.clipboardData.getData('text/plain'));
    },
    onDragOver: (event: DragEvent) => dropPosition(event) && event.preventDefault(),
    onDrop(event: DragEvent): void {
      const position = dropPosition(event);
      if (!position) return;
      event.preventDefault();
      editor.select(position);
      sendFiles([...event.dataTransfer.files], position);
    },
  };
}

/** The rows and columns of a version, of which only those in view exist. One tab stop. */
export function DataGrid({ editor, label }: { editor: Editor; label: string }) {
  const state = useStore(editor);
  const { table, selection } = state;
  const gridId = useId();
  const grid = useRef<HTMLDivElement>(null);
  const cells = useCellEditing(editor, grid);
  const [openColumn, setOpenColumn] = useState<string | null>(null);
  const view = useView(editor, state, grid);
  const sendFiles = useCellFiles(editor);
  const mouse = useGridMouse(editor, grid);
  const edit = (position: CellPosition, typed: string | null): void => {
    const column = table.columns[position.column];
    const cell = editor.cell(position);
    if (!column || position.row < 0 || position.row >= table.rowCount || !cell.isLoaded) return;
    if (editor.isReadOnly && column.type === 'file') return;
    cells.setEditing({ ...position, value: cell.value, typed: column.type === 'file' ? null : typed });
  };
  return (
    <div
      ref={grid}
      className="data-grid scroll"
      role="grid"
      aria-label={label}
      aria-rowcount={table.rowCount + 1}
      aria-colcount={table.columns.length + 1}
      aria-multiselectable
      aria-readonly={editor.isReadOnly || undefined}
      aria-activedescendant={view.isActiveShown ? idOf(gridId, selection.active) : undefined}
      tabIndex={0}
      onKeyDown={(event) =>
        takeGridKey(event, editor, {
          edit: (typed) => edit(selection.active, typed),
          openColumn: (index) => !editor.isReadOnly && setOpenColumn(table.columns[index]?.key ?? null),
          rowsInView: Math.max(1, Math.floor(((grid.current?.clientHeight ?? 0) - headerHeight) / rowHeight) - 1),
        })
      }
      onDoubleClick={(event) => {
        const position = positionAt(event.target);
        if (position) edit(position, null);
      }}
      {...transfersOf(editor, sendFiles)}
      {...mouse}
    >
      <Header editor={editor} state={state} gridId={gridId} view={view} open={openColumn} onOpen={setOpenColumn} />
      <div className="data-grid__rows" role="rowgroup" style={{ height: view.height, width: view.totalWidth }}>
        <Rows editor={editor} state={state} gridId={gridId} view={view} />
        <OpenCell editor={editor} cells={cells} width={view.width} sendFiles={sendFiles} />
      </div>
    </div>
  );
}
