import { maxDatasetColumns, maxDatasetRows } from '../../../../../shared/contract/datasets.ts';
import { formatWhole } from '../../../../components/format.ts';
import { type Editor, rangeOf } from './editor.ts';
import {
  type EditedCells,
  type EditedColumn,
  moveRows,
  newColumn,
  replaceRows,
  segmentOf,
  withColumns,
  writeCells,
} from './table-document.ts';

/** Selected rows, none if the table is empty. */
function selectedRows({ getState }: Pick<Editor, 'getState'>): { from: number; to: number } {
  const { selection, table } = getState();
  const { fromRow, toRow } = rangeOf(selection);
  return { from: Math.min(fromRow, table.rowCount), to: Math.min(Math.max(toRow, 0), table.rowCount) };
}

function hasRoom(editor: Editor, count: number): boolean {
  if (editor.getState().table.rowCount + count <= maxDatasetRows) return true;
  editor.showProblem(`A dataset has at most ${formatWhole(maxDatasetRows)} rows.`);
  return false;
}

/** Inserts an empty row and selects it. */
export function insertRow(editor: Editor, where: 'above' | 'below' | 'end'): void {
  const { table, selection } = editor.getState();
  if (!hasRoom(editor, 1)) return;
  const { from, to } = selectedRows(editor);
  const at = where === 'end' ? table.rowCount : where === 'above' ? from : to;
  const active = { row: at, column: selection.active.column };
  editor.change(replaceRows(table, at, at, [segmentOf([{ base: null, cells: {} }])]), { anchor: active, active });
}

export function deleteRows(editor: Editor): void {
  const { table, selection } = editor.getState();
  const { from, to } = selectedRows(editor);
  const active = { row: from, column: selection.active.column };
  if (to > from) editor.change(replaceRows(table, from, to, []), { anchor: active, active });
}

/** Moves the selected rows up or down by one. */
export function moveSelectedRows(editor: Editor, by: 1 | -1): void {
  const { table, selection } = editor.getState();
  const { from, to } = selectedRows(editor);
  if (to <= from || from + by < 0 || to + by > table.rowCount) return;
  const { anchor, active } = selection;
  editor.change(moveRows(table, from, to, by), {
    anchor: { ...anchor, row: anchor.row + by },
    active: { ...active, row: active.row + by },
  });
}

/** Copies the selected rows below themselves. */
export function duplicateRows(editor: Editor): Promise<void> {
  const { from, to } = selectedRows(editor);
  if (!hasRoom(editor, to - from)) return Promise.resolve();
  return editor.work('Duplicating', async ({ signal }) => {
    const { table } = editor.getState();
    const copies: EditedCells[] = [];
    for await (const { values } of editor.eachRow(from, to, signal))
      copies.push(Object.fromEntries(table.columns.map(({ key }, index) => [key, values[index] ?? null])));
    const after = replaceRows(table, to, table.rowCount, []);
    const copied = await writeCells(after, to, copies, signal);
    const rest = replaceRows(table, 0, to, []);
    return replaceRows(copied, copied.rowCount, copied.rowCount, rest.segments);
  });
}

/** Inserts a text column and selects its header. Returns its index; null without room for it. */
export function insertColumn(editor: Editor, at: number): number | null {
  const { table } = editor.getState();
  if (table.columns.length >= maxDatasetColumns) {
    editor.showProblem(`A dataset has at most ${maxDatasetColumns} columns.`);
    return null;
  }
  const active = { row: -1, column: at };
  editor.change(withColumns(table, table.columns.toSpliced(at, 0, newColumn(table.columns))), {
    anchor: active,
    active,
  });
  return at;
}

export function changeColumn(editor: Editor, index: number, column: EditedColumn): void {
  const { table } = editor.getState();
  if (table.columns[index] !== column) editor.change(withColumns(table, table.columns.with(index, column)));
}

export function deleteColumn(editor: Editor, index: number): void {
  const { table } = editor.getState();
  if (table.columns.length > 1) editor.change(withColumns(table, table.columns.toSpliced(index, 1)));
}

export function moveColumn(editor: Editor, index: number, by: 1 | -1): void {
  const { table } = editor.getState();
  const target = index + by;
  if (target < 0 || target >= table.columns.length) return;
  const columns = table.columns.toSpliced(index, 1).toSpliced(target, 0, table.columns[index]!);
  const active = { row: -1, column: target };
  editor.change(withColumns(table, columns), { anchor: active, active });
}
