import type { Editor, WorkControl } from './editor.ts';
import { editedCell, type EditedRow, type TableDocument } from './table-document.ts';
import { valueProblem } from './cell-values.ts';
import { yieldToWindow } from './time-slices.ts';

/** Characters of one part of the file. */
const maxPart = 262_144;

function changedValues(row: EditedRow, { columns }: TableDocument): Record<string, unknown> {
  return Object.fromEntries(
    columns.flatMap((column): [string, unknown][] => {
      const edited = editedCell(row, column);
      // A new row needs no empty cells.
      return edited === undefined || (row.base === null && edited.value === null) ? [] : [[column.name, edited.value]];
    }),
  );
}

export class InvalidCell extends Error {
  readonly row: number;
  readonly column: number;

  constructor(row: number, column: number, problem: string) {
    super(problem);
    this.row = row;
    this.column = column;
  }
}

function requireValid(table: TableDocument, edited: EditedRow, row: number): void {
  for (const [index, column] of table.columns.entries()) {
    const cell = column.type === 'file' ? editedCell(edited, column) : undefined;
    const problem = cell ? valueProblem(cell.value, column.type) : null;
    if (problem !== null) throw new InvalidCell(row, index, `Row ${row + 1}, ${column.name}: ${problem}`);
  }
}

/** The table as a file of edits; see `shared/contract/dataset-edits.ts`. Throws `InvalidCell`. */
export async function writeEditFile({ getState }: Pick<Editor, 'getState'>, { signal }: WorkControl): Promise<File> {
  const { table } = getState();
  const head = table.columns.map(({ name, type, from }) => ({ name, type, from }));
  const parts: Blob[] = [];
  let text = `${JSON.stringify({ columns: head })}\n`;
  const add = (line: unknown): void => {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < maxPart) return;
    parts.push(new Blob([text]));
    text = '';
  };
  for (const [index, segment] of table.segments.entries()) {
    if (!('rows' in segment)) add({ keep: [segment.base, segment.count] });
    else {
      for (const [offset, row] of segment.rows.entries()) {
        requireValid(table, row, table.starts[index]! + offset);
        const values = changedValues(row, table);
        if (row.base === null) add({ values });
        else if (Object.keys(values).length === 0) add({ keep: [row.base, 1] });
        else add({ row: row.base, values });
      }
    }
    await yieldToWindow(signal);
  }
  return new File([...parts, text], 'edits.jsonl', { type: 'application/jsonl' });
}
