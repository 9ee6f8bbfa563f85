import { maxDatasetColumns, maxDatasetRows } from '../../../../../shared/contract/datasets.ts';
import { formatPlural, formatWhole } from '../../../../components/format.ts';
import { showToast } from '../../../../stores/toasts.ts';
import { editText, readPasted } from './cell-values.ts';
import { type Editor, rangeOf, type Selection } from './editor.ts';
import { readTabSeparated, writeTabSeparated } from './tab-separated.ts';
import {
  type EditedCells,
  type EditedColumn,
  newColumn,
  type TableDocument,
  withColumns,
  writeCells,
} from './table-document.ts';
import { yieldToWindow } from './time-slices.ts';

async function readRows(text: string, signal: AbortSignal, report: (fraction: number) => void): Promise<string[][]> {
  const rows: string[][] = [];
  let characters = 0;
  for (const row of readTabSeparated(text)) {
    rows.push(row);
    characters += row.reduce((sum, cell) => sum + cell.length + 1, 0);
    if (rows.length > maxDatasetRows) break;
    if (rows.length % 64 !== 0) continue;
    await yieldToWindow(signal);
    if (rows.length % 8192 === 0) report(characters / text.length);
  }
  return rows;
}

/** Adds the columns that pasted rows need beyond the last one. */
function withRoomFor(table: TableDocument, columnCount: number): TableDocument {
  const columns: EditedColumn[] = [...table.columns];
  while (columns.length < columnCount) columns.push(newColumn(columns));
  return columns.length === table.columns.length ? table : withColumns(table, columns);
}

interface Pasted {
  readonly rows: readonly string[][];
  /** Of the longest row; cells that another row lacks are empty. */
  readonly columnCount: number;
}

function* cellsOf(
  { rows, columnCount }: Pasted,
  columns: readonly EditedColumn[],
  count: number,
): Generator<EditedCells> {
  for (let index = 0; index < count; index += 1) {
    const row = rows[index % rows.length]!;
    yield Object.fromEntries(
      columns.map(({ key, type }, column) => [key, readPasted(row[column % columnCount] ?? '', type)]),
    );
  }
}

interface Target {
  readonly fromRow: number;
  readonly toRow: number;
  readonly fromColumn: number;
  readonly toColumn: number;
}

/** Where pasted rows go: a selection that is a multiple of them is filled, any other is where they begin. */
function targetOf(selection: Selection, rowCount: number, columnCount: number): Target {
  const range = rangeOf(selection);
  const rows = range.toRow - range.fromRow;
  const columns = range.toColumn - range.fromColumn;
  const isFilled = rows % rowCount === 0 && columns % columnCount === 0 && rows * columns > 1;
  return isFilled ? range : { ...range, toRow: range.fromRow + rowCount, toColumn: range.fromColumn + columnCount };
}

/** Pastes the text of a spreadsheet at the selection. Rows and columns beyond the end are added. */
export function pasteText(editor: Editor, text: string): Promise<void> {
  return editor.work('Pasting', async ({ signal, report }) => {
    const { table, selection } = editor.getState();
    const rows = await readRows(text, signal, (fraction) => report(fraction / 2));
    if (rows.length === 0) return;
    const columnCount = rows.reduce((max, row) => Math.max(max, row.length), 0);
    const target = targetOf(selection, rows.length, columnCount);
    if (target.toRow > maxDatasetRows)
      throw new Error(
        `A dataset has at most ${formatWhole(maxDatasetRows)} rows. This paste ends at row ${formatWhole(target.toRow)} or later.`,
      );
    if (target.toColumn > maxDatasetColumns)
      throw new Error(
        `A dataset has at most ${maxDatasetColumns} columns. This paste ends at column ${target.toColumn}.`,
      );
    const wide = withRoomFor(table, target.toColumn);
    const columns = wide.columns.slice(target.fromColumn, target.toColumn);
    const pasted = await writeCells(
      wide,
      target.fromRow,
      cellsOf({ rows, columnCount }, columns, target.toRow - target.fromRow),
      signal,
    );
    editor.change(pasted, {
      anchor: { row: target.fromRow, column: target.fromColumn },
      active: { row: target.toRow - 1, column: target.toColumn - 1 },
    });
    if (rows.length > 50) showToast({ tone: 'neutral', text: `Pasted ${formatPlural(rows.length, 'row')}.` });
  });
}

/** The selected cells as spreadsheets read them. */
async function selectedText(editor: Editor, signal: AbortSignal, report: (fraction: number) => void): Promise<string> {
  const { table, selection } = editor.getState();
  const { fromRow, toRow, fromColumn, toColumn } = rangeOf(selection);
  const lines: string[] = [];
  for await (const { values } of editor.eachRow(fromRow, toRow, signal)) {
    const cells = values
      .slice(fromColumn, toColumn)
      .map((value, index) => editText(value, table.columns[fromColumn + index]!.type));
    lines.push(writeTabSeparated(cells));
    if (lines.length % 1000 === 0) report(lines.length / (toRow - fromRow));
  }
  return lines.join('\n');
}

/** Copies the selection, whose rows may have to be read first. */
export function copySelection(editor: Editor): Promise<void> {
  return editor.work('Copying', async ({ signal, report }) => {
    const text = selectedText(editor, signal, report);
    // A promise keeps the permission that the key press gave, however long the rows take.
    const blob = text.then((content) => new Blob([content], { type: 'text/plain' }));
    blob.catch(() => {});
    try {
      await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    } catch (error) {
      await text;
      throw new Error("Couldn't copy. Allow Touchstone to use the clipboard, or select fewer rows.", { cause: error });
    }
  });
}

function* sameCells(cells: EditedCells, count: number): Generator<EditedCells> {
  for (let index = 0; index < count; index += 1) yield cells;
}

/** Empties the selected cells. */
export function clearSelection(editor: Editor): Promise<void> {
  return editor.work('Clearing', ({ signal }) => {
    const { table, selection } = editor.getState();
    const { fromRow, toRow, fromColumn, toColumn } = rangeOf(selection);
    const cells = Object.fromEntries(table.columns.slice(fromColumn, toColumn).map(({ key }) => [key, null]));
    return writeCells(table, fromRow, sameCells(cells, toRow - fromRow), signal);
  });
}

/** Writes the values of the first selected row to the others. A selection of one row takes those of the row above. */
export function fillDown(editor: Editor): Promise<void> {
  return editor.work('Filling', async ({ signal }) => {
    const { table, selection } = editor.getState();
    const { fromRow, toRow, fromColumn, toColumn } = rangeOf(selection);
    const source = toRow - fromRow > 1 ? fromRow : fromRow - 1;
    if (source < 0) return;
    const { value: found } = await editor.eachRow(source, source + 1, signal).next();
    if (!found) return;
    const columns = table.columns.slice(fromColumn, toColumn);
    const cells = Object.fromEntries(columns.map(({ key }, index) => [key, found.values[fromColumn + index] ?? null]));
    return writeCells(table, source + 1, sameCells(cells, toRow - source - 1), signal);
  });
}

/** Selects the next cell with a text, from the active one on and from the other end after the last. */
export async function findText(editor: Editor, text: string, direction: 1 | -1): Promise<boolean> {
  const query = text.toLowerCase();
  let isFound = false;
  await editor.work('Searching', async ({ signal, report }) => {
    const { table, selection } = editor.getState();
    const { row, column } = selection.active;
    const has = (value: unknown, index: number) =>
      editText(value, table.columns[index]!.type).toLowerCase().includes(query);
    const take = (rowIndex: number, columns: readonly number[], values: readonly unknown[]): boolean => {
      const match = columns.find((index) => has(values[index], index));
      if (match === undefined) return false;
      editor.select({ row: rowIndex, column: match });
      isFound = true;
      return true;
    };
    const order = table.columns.map((_, index) => index);
    if (direction < 0) order.reverse();
    const start = Math.max(0, row);
    const isAfter = (index: number) => (direction > 0 ? index > column : index < column);
    let scanned = 0;
    for (const [from, to] of rangesFrom(start, table.rowCount, direction)) {
      const rows: { row: number; values: unknown[] }[] = [];
      for await (const found of editor.eachRow(from, to, signal)) rows.push(found);
      if (direction < 0) rows.reverse();
      for (const found of rows) {
        const columns = found.row === start && scanned === 0 ? order.filter(isAfter) : order;
        if (take(found.row, columns, found.values)) return;
      }
      scanned += to - from;
      report(scanned / table.rowCount);
    }
  });
  return isFound;
}

const scannedAtOnce = 250;

/** Ranges of rows that begin with the row `start` and end with it again. */
function* rangesFrom(start: number, rowCount: number, direction: 1 | -1): Generator<[number, number]> {
  if (rowCount === 0) return;
  yield [start, start + 1];
  const order =
    direction > 0
      ? [
          [start + 1, rowCount],
          [0, start + 1],
        ]
      : [
          [0, start],
          [start, rowCount],
        ];
  for (const [from, to] of order as [number, number][]) {
    for (let offset = 0; offset < to - from; offset += scannedAtOnce) {
      const size = Math.min(scannedAtOnce, to - from - offset);
      const first = direction > 0 ? from + offset : to - offset - size;
      yield [first, first + size];
    }
  }
}
