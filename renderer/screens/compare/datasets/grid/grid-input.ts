import { type MouseEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useStoreFile } from '../../../../queries/files.ts';
import type { AfterEdit } from './cell-editor.tsx';
import { type CellPosition, type Editor, rangeOf } from './editor.ts';
import { writeCells, writeRow } from './table-document.ts';

export const numberWidth = 64;
const minColumnWidth = 200;

interface Editing extends CellPosition {
  /** When it was opened: a save that ends meanwhile reads the rows again. */
  readonly value: unknown;
  readonly typed: string | null;
}

/** The cell that an event is about. */
export function positionAt(target: EventTarget | null): CellPosition | null {
  const element = target instanceof Element ? target : null;
  const row = element?.closest<HTMLElement>('[data-row]')?.dataset['row'];
  const column = element?.closest<HTMLElement>('[data-column]')?.dataset['column'];
  return row === undefined || column === undefined ? null : { row: Number(row), column: Number(column) };
}

/** Columns share the width of the grid, and scroll if they don't fit. */
export function useColumnWidth(scroller: RefObject<HTMLElement | null>, count: number): number {
  const [available, setAvailable] = useState(0);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || typeof ResizeObserver === 'undefined') return;
    const observer = new ResizeObserver(() => setAvailable(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  return Math.max(minColumnWidth, Math.floor((available - numberWidth) / Math.max(1, count)));
}

/** Files that are chosen, dropped or pasted for a cell. Further ones go to the rows below. */
export function useCellFiles(editor: Editor) {
  const { mutateAsync: store } = useStoreFile();
  return (files: readonly File[], { row, column }: CellPosition): void => {
    if (files.length === 0) return;
    void editor.work('Storing files', async ({ signal, report }) => {
      const key = editor.getState().table.columns[column]!.key;
      const cells: Record<string, unknown>[] = [];
      for (const [index, file] of files.entries()) {
        const onProgress = (fraction: number) => report((index + fraction) / files.length);
        const { id } = await store({ file, signal, onProgress });
        cells.push({ [key]: { fileId: id } });
      }
      return writeCells(editor.getState().table, row, cells, signal);
    });
  };
}

/** The grid's state of editing one cell. */
export function useCellEditing(editor: Editor, grid: RefObject<HTMLDivElement | null>) {
  const [editing, setEditing] = useState<Editing | null>(null);
  const close = (after: AfterEdit = 'stay'): void => {
    setEditing(null);
    grid.current?.focus({ preventScroll: true });
    if (after === 'stay' || !editing) return;
    const { row, column } = editing;
    const steps = { down: [1, 0], up: [-1, 0], right: [0, 1], left: [0, -1] } as const;
    const [rows, columns] = steps[after];
    editor.select({ row: Math.max(0, row + rows), column: column + columns });
  };
  const commit = (value: unknown, after: AfterEdit, isForSelection: boolean): void => {
    if (!editing) return;
    const { table, selection, activity } = editor.getState();
    const column = table.columns[editing.column];
    close(after);
    if (!column || editor.isReadOnly) return;
    const cells = { [column.key]: value ?? null };
    // During other work, such as a save, the cell itself keeps what was typed.
    if (isForSelection && activity === null) {
      const { fromRow, toRow, fromColumn, toColumn } = rangeOf(selection);
      const all = Object.fromEntries(table.columns.slice(fromColumn, toColumn).map(({ key }) => [key, value ?? null]));
      const rows = Array.from({ length: toRow - fromRow }, () => all);
      void editor.work('Filling', ({ signal }) => writeCells(table, fromRow, rows, signal));
    } else if ((editing.value ?? null) !== (value ?? null))
      editor.change(writeRow(table, editing.row, cells), editor.getState().selection);
  };
  return { editing, setEditing, close, commit };
}

export function useGridMouse(editor: Editor, grid: RefObject<HTMLDivElement | null>) {
  const isDragging = useRef(false);
  useEffect(() => {
    const stop = (): void => void (isDragging.current = false);
    window.addEventListener('mouseup', stop);
    return () => window.removeEventListener('mouseup', stop);
  }, []);
  const selectRow = (row: number, isExtending: boolean): void => {
    const { table, selection } = editor.getState();
    const last = table.columns.length - 1;
    const anchor = { row: isExtending ? selection.anchor.row : row, column: 0 };
    editor.selectRange({ anchor, active: { row, column: last } });
  };
  return {
    onMouseDown(event: MouseEvent): void {
      const target = event.target as Element;
      if (event.button !== 0 || target.closest('textarea, button, [role="group"]')) return;
      const rowNumber = target.closest<HTMLElement>('[data-number]')?.dataset['number'];
      const position = positionAt(target);
      if (rowNumber !== undefined) selectRow(Number(rowNumber), event.shiftKey);
      else if (position) {
        editor.select(position, { isExtending: event.shiftKey });
        isDragging.current = position.row >= 0;
      }
      event.preventDefault();
      grid.current?.focus({ preventScroll: true });
    },
    onMouseOver(event: MouseEvent): void {
      const position = isDragging.current ? positionAt(event.target) : null;
      if (position && position.row >= 0) editor.select(position, { isExtending: true });
    },
  };
}
