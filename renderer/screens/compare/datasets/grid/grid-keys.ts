import type { KeyboardEvent } from 'react';
import { clearSelection, fillDown } from './clipboard.ts';
import type { CellPosition, Editor } from './editor.ts';
import { deleteRows, moveSelectedRows } from './row-edits.ts';

/** How the grid reacts to keys beyond the selection. */
export interface GridCommands {
  /** Opens the active cell, with the first letter if a person types. */
  edit: (typed: string | null) => void;
  openColumn: (index: number) => void;
  rowsInView: number;
}

function moved(event: KeyboardEvent, editor: Editor, rowsInView: number): CellPosition | null {
  const { selection, table } = editor.getState();
  const { row, column } = selection.active;
  const lastRow = table.rowCount - 1;
  const lastColumn = table.columns.length - 1;
  const isFar = event.ctrlKey || event.metaKey;
  switch (event.key) {
    case 'ArrowDown':
      return { row: isFar ? lastRow : row + 1, column };
    case 'ArrowUp':
      return { row: isFar ? 0 : row - 1, column };
    case 'ArrowRight':
      return { row, column: isFar ? lastColumn : column + 1 };
    case 'ArrowLeft':
      return { row, column: isFar ? 0 : column - 1 };
    case 'PageDown':
      return { row: row + rowsInView, column };
    case 'PageUp':
      return { row: Math.max(0, row - rowsInView), column };
    case 'Home':
      return { row: isFar ? 0 : row, column: 0 };
    case 'End':
      return { row: isFar ? lastRow : row, column: lastColumn };
    default:
      return null;
  }
}

/** Keys with Ctrl or Command. Returns whether it was one of them. */
function runShortcut({ key, shiftKey }: KeyboardEvent, editor: Editor): boolean {
  switch (key.toLowerCase()) {
    case 'z':
      if (shiftKey) editor.redo();
      else editor.undo();
      return true;
    case 'y':
      editor.redo();
      return true;
    case 'd':
      if (!editor.isReadOnly) void fillDown(editor);
      return true;
    case 'a': {
      const { rowCount, columns } = editor.getState().table;
      editor.selectRange({
        anchor: { row: 0, column: 0 },
        active: { row: Math.max(0, rowCount - 1), column: columns.length - 1 },
      });
      return true;
    }
    case 'delete':
    case 'backspace':
      if (!editor.isReadOnly) deleteRows(editor);
      return true;
    default:
      return false;
  }
}

/** In the last column Tab leaves the grid, so that the keyboard isn't trapped. */
function takeTab(event: KeyboardEvent, editor: Editor): boolean {
  const { selection, table } = editor.getState();
  const { row, column } = selection.active;
  const next = column + (event.shiftKey ? -1 : 1);
  if (next < 0 || next >= table.columns.length) return false;
  editor.select({ row, column: next });
  return true;
}

function takeOther(event: KeyboardEvent, editor: Editor, { edit, openColumn }: GridCommands): boolean {
  const { active } = editor.getState().selection;
  const { key } = event;
  if (key === 'Tab') return takeTab(event, editor);
  if (key === 'Escape') editor.select(active);
  else if (active.row < 0) {
    if (key !== 'Enter' && key !== 'F2' && key !== ' ') return false;
    openColumn(active.column);
  } else if (editor.isReadOnly && key !== 'Enter' && key !== 'F2') return false;
  else if (key === 'Enter' || key === 'F2') edit(null);
  else if (key === 'Delete' || key === 'Backspace') void clearSelection(editor);
  else if (key.length === 1) edit(key);
  else return false;
  return true;
}

/** Reacts to a key on the grid. */
export function takeGridKey(event: KeyboardEvent, editor: Editor, commands: GridCommands): void {
  if (event.nativeEvent.isComposing || editor.getState().activity !== null) return;
  const isArrow = event.key === 'ArrowUp' || event.key === 'ArrowDown';
  if (event.altKey) {
    if (!isArrow || editor.isReadOnly) return;
    event.preventDefault();
    return moveSelectedRows(editor, event.key === 'ArrowUp' ? -1 : 1);
  }
  const next = moved(event, editor, commands.rowsInView);
  if (next !== null) {
    event.preventDefault();
    return editor.select(next, { isExtending: event.shiftKey });
  }
  const isTaken = event.ctrlKey || event.metaKey ? runShortcut(event, editor) : takeOther(event, editor, commands);
  if (isTaken) event.preventDefault();
}
