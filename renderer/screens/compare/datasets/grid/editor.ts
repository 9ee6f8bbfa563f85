import { createStore, type StoreApi } from 'zustand';
import type { Dataset, DatasetColumn, RowValues } from '../../../../../shared/contract/datasets.ts';
import { convertValue } from '../../../../../shared/dataset-values.ts';
import { describeError } from '../../../../components/state-panels.tsx';
import type { Client } from '../../../../host/client.ts';
import { BaseRows } from './base-rows.ts';
import { EditStorage } from './edit-storage.ts';
import {
  continueOn,
  documentOf,
  editedCell,
  type EditedColumn,
  type EditedRow,
  isSameTable,
  rowAt,
  savedTable,
  type TableDocument,
} from './table-document.ts';
import { yieldToWindow } from './time-slices.ts';

/** Row -1 is the header. */
export interface CellPosition {
  readonly row: number;
  readonly column: number;
}

export interface Selection {
  /** Where it began; the opposite corner of `active`. */
  readonly anchor: CellPosition;
  readonly active: CellPosition;
}

/** Work on many rows. */
export interface Activity {
  readonly label: string;
  /** Null while unknown. */
  readonly fraction: number | null;
  readonly cancel: () => void;
  /** Whether it goes on after the editor is left, as a save does. */
  readonly outlastsEditor: boolean;
}

export interface EditorState {
  readonly dataset: Dataset;
  readonly table: TableDocument;
  /** The table without edits. */
  readonly original: TableDocument;
  readonly past: readonly TableDocument[];
  readonly future: readonly TableDocument[];
  readonly selection: Selection;
  readonly activity: Activity | null;
  readonly problem: string | null;
  /** Whether stored edits have been read. */
  readonly isReady: boolean;
  /** False if another window edits this dataset, so that edits here are lost on reload. */
  readonly isStored: boolean;
  /** Counts rows that arrived. */
  readonly arrivals: number;
}

/** A value of a cell. */
export type CellValue = { readonly isLoaded: true; readonly value: unknown } | { readonly isLoaded: false };

/** More would only be found by accident. A document shares what it has in common with the one before it. */
const maxPast = 500;
const atTop: CellPosition = { row: 0, column: 0 };

export interface RowWithValues {
  readonly row: number;
  readonly values: unknown[];
}

export interface Editor extends StoreApi<EditorState> {
  readonly isReadOnly: boolean;
  cell(position: CellPosition): CellValue;
  /** Shows rows from the base version that are in view. */
  want(from: number, to: number): void;
  /** Each row from `from` to before `to` with its values by column. Reads rows that aren't loaded. */
  eachRow(from: number, to: number, signal: AbortSignal): AsyncGenerator<RowWithValues>;
  change(table: TableDocument, selection?: Selection): void;
  /** Replaces the table after work on many rows, which a person can cancel. One at a time. */
  work(
    label: string,
    task: (work: WorkControl) => Promise<TableDocument | void>,
    options?: { outlastsEditor?: boolean },
  ): Promise<void>;
  select(active: CellPosition, options?: { isExtending?: boolean }): void;
  selectRange(selection: Selection): void;
  undo(): void;
  redo(): void;
  discard(): void;
  /** Continues on a saved version. Edits since the table that was sent for it are kept; without one, all edits are dropped. */
  rebase(dataset: Dataset, sent?: TableDocument): void;
  showProblem(problem: string | null): void;
  /** Ends all work except a save, whose outcome is still written to the stored edits. */
  dispose(): void;
  isDisposed(): boolean;
}

export interface WorkControl {
  readonly signal: AbortSignal;
  report(fraction: number): void;
}

/** Cells between the corners of a selection; the header belongs to none. */
export function rangeOf({ anchor, active }: Selection) {
  return {
    fromRow: Math.max(0, Math.min(anchor.row, active.row)),
    toRow: Math.max(anchor.row, active.row) + 1,
    fromColumn: Math.min(anchor.column, active.column),
    toColumn: Math.max(anchor.column, active.column) + 1,
  };
}

interface EditorOptions {
  readonly client: Client;
  readonly dataset: Dataset;
  readonly isReadOnly: boolean;
  /** Reads the version that stored edits change; null if it is gone. */
  readonly readVersion: (version: number) => Promise<Dataset | null>;
}

type Store = StoreApi<EditorState>;

type ColumnTypes = ReadonlyMap<string, DatasetColumn['type']>;

function typesOf({ columns }: Dataset): ColumnTypes {
  return new Map(columns.map(({ name, type }) => [name, type]));
}

/** The edited value of a cell, or that of the base version in the type of the column. */
function valueOf(
  row: EditedRow,
  column: EditedColumn,
  { base, types }: { base: RowValues | undefined; types: ColumnTypes },
): unknown {
  const edited = editedCell(row, column);
  if (edited) return edited.value;
  if (row.base === null || column.from === null) return undefined;
  const value = base?.[column.from];
  return types.get(column.from) === column.type ? value : convertValue(value, column.type);
}

/** Reads cells: changed ones from the table, others from the base version. */
function createCellReader(client: Client, { getState, setState }: Store) {
  const baseRowsOf = (dataset: Dataset) =>
    new BaseRows(client, dataset, {
      onRows: () => setState(({ arrivals }) => ({ arrivals: arrivals + 1 })),
      onError: (error) => setState({ problem: `Couldn't load rows. ${describeError(error).message}` }),
    });
  let baseRows = baseRowsOf(getState().dataset);
  let baseTypes = typesOf(getState().dataset);

  return {
    setBase(dataset: Dataset): void {
      baseRows.close();
      baseRows = baseRowsOf(dataset);
      baseTypes = typesOf(dataset);
    },
    close: () => baseRows.close(),
    cell({ row, column: index }: CellPosition): CellValue {
      const { table } = getState();
      const column = table.columns[index];
      if (row < 0 || row >= table.rowCount || !column) return { isLoaded: true, value: undefined };
      const edited = rowAt(table, row);
      const base = edited.base === null ? undefined : baseRows.get(edited.base);
      const isNeeded = edited.base !== null && column.from !== null && !editedCell(edited, column);
      return isNeeded && base === undefined
        ? { isLoaded: false }
        : { isLoaded: true, value: valueOf(edited, column, { base, types: baseTypes }) };
    },
    want(from: number, to: number): void {
      const { table } = getState();
      const offsets: number[] = [];
      for (let row = Math.max(0, from); row < Math.min(to, table.rowCount); row += 1) {
        const { base } = rowAt(table, row);
        if (base !== null && baseRows.get(base) === undefined) offsets.push(base);
      }
      if (offsets.length === 0) return;
      // Rows that were moved can be far apart: the range then begins at the first one in view.
      const [first] = offsets as [number];
      baseRows.want(first, Math.max(...offsets.filter((offset) => offset >= first && offset < first + 200)) + 1);
    },
    async *eachRow(from: number, to: number, signal: AbortSignal): AsyncGenerator<RowWithValues> {
      const { table } = getState();
      let ahead: { offset: number; rows: RowValues[] } = { offset: 0, rows: [] };
      for (let row = from; row < Math.min(to, table.rowCount); row += 1) {
        const edited = rowAt(table, row);
        let base = edited.base === null ? undefined : ahead.rows[edited.base - ahead.offset];
        if (edited.base !== null && base === undefined) {
          ahead = { offset: edited.base, rows: await baseRows.read(edited.base, Math.max(1, to - row), signal) };
          base = ahead.rows[0];
        }
        yield { row, values: table.columns.map((column) => valueOf(edited, column, { base, types: baseTypes })) };
        await yieldToWindow(signal);
      }
    },
  };
}

function inTable({ row, column }: CellPosition, { rowCount, columns }: TableDocument): CellPosition {
  return {
    row: Math.max(-1, Math.min(rowCount - 1, row)),
    column: Math.max(0, Math.min(columns.length - 1, column)),
  };
}

/** Changes the table, with undo and redo. */
function createHistory({ getState, setState }: Store, isReadOnly: boolean, onChange: () => void) {
  function show(table: TableDocument, { anchor, active }: Selection, other: Partial<EditorState> = {}): void {
    setState({ table, selection: { anchor: inTable(anchor, table), active: inTable(active, table) }, ...other });
    onChange();
  }

  function change(table: TableDocument, selection = getState().selection): void {
    const { table: before, past } = getState();
    if (isReadOnly || table === before) return;
    show(table, selection, { past: [...past, before].slice(-maxPast), future: [] });
  }

  return {
    show,
    change,
    async work(
      label: string,
      task: (work: WorkControl) => Promise<TableDocument | void>,
      { outlastsEditor = false } = {},
    ): Promise<void> {
      if (getState().activity !== null) return;
      const controller = new AbortController();
      const cancel = () => controller.abort(new DOMException('Cancelled', 'AbortError'));
      const activity: Activity = { label, fraction: null, cancel, outlastsEditor };
      setState({ activity, problem: null });
      try {
        const report = (fraction: number) => setState({ activity: { ...activity, fraction } });
        const table = await task({ signal: controller.signal, report });
        if (table && !controller.signal.aborted) change(table);
      } catch (error) {
        if (!controller.signal.aborted) setState({ problem: describeError(error).message });
      } finally {
        setState({ activity: null });
      }
    },
    undo(): void {
      const { past, future, table, selection, activity } = getState();
      const before = past.at(-1);
      if (before && activity === null) show(before, selection, { past: past.slice(0, -1), future: [table, ...future] });
    },
    redo(): void {
      const { past, future, table, selection, activity } = getState();
      const [next, ...rest] = future;
      if (next && activity === null) show(next, selection, { past: [...past, table], future: rest });
    },
    // Not while a save is under way: the rows that it removes are not in the next version.
    discard(): void {
      if (getState().activity === null) change(getState().original);
    },
  };
}

function initialState(dataset: Dataset, original: TableDocument, isReadOnly: boolean): EditorState {
  return {
    dataset,
    table: original,
    original,
    past: [],
    future: [],
    selection: { anchor: atTop, active: atTop },
    activity: null,
    problem: null,
    isReady: isReadOnly,
    isStored: true,
    arrivals: 0,
  };
}

export function createEditor({ client, dataset: opened, isReadOnly, readVersion }: EditorOptions): Editor {
  const original = documentOf(opened.columns, opened.rowCount);
  const store = createStore<EditorState>()(() => initialState(opened, original, isReadOnly));
  const { getState, setState } = store;
  const storage = isReadOnly ? null : new EditStorage(opened.id);
  const { setBase, close, ...reader } = createCellReader(client, store);
  // What is stored is read before it is written.
  let isStoring = false;
  const write = (): void => {
    const { table, original: unchanged, dataset } = getState();
    if (isStoring) storage?.write(table === unchanged ? null : { baseVersion: dataset.version, table });
  };
  const { show, ...history } = createHistory(store, isReadOnly, write);
  let isDisposed = false;

  async function restore(): Promise<void> {
    if (storage === null) return;
    // Another window may close, or the page before a reload may take long to go: its edits are shown then.
    await storage.open(() => setState({ isReady: true, isStored: false }));
    const stored = isDisposed ? null : await storage.read();
    const dataset = stored && (stored.baseVersion === opened.version ? opened : await readVersion(stored.baseVersion));
    if (isDisposed) return;
    const { table, original: shown } = getState();
    // Neither takes the place of the other: what is stored stays for a reload.
    if (stored && table !== shown) return storage.close();
    isStoring = true;
    setState({ isReady: true, isStored: true });
    if (table !== shown) return write();
    if (!stored || !dataset) return;
    const unchanged = documentOf(dataset.columns, dataset.rowCount);
    if (isSameTable(stored.table, dataset.columns, unchanged)) return;
    setBase(dataset);
    setState({ dataset, original: unchanged, table: stored.table });
  }
  restore().catch((error: unknown) => {
    storage?.close();
    if (!isDisposed) setState({ isReady: true, isStored: false, problem: describeError(error).message });
  });

  return {
    ...store,
    ...reader,
    ...history,
    isReadOnly,
    select(active, { isExtending = false } = {}) {
      const { table, selection } = getState();
      const inside = inTable(active, table);
      setState({ selection: { anchor: isExtending ? selection.anchor : inside, active: inside } });
    },
    selectRange: (selection) => setState({ selection }),
    rebase(dataset, sent) {
      setBase(dataset);
      const next = sent ? savedTable(sent) : documentOf(dataset.columns, dataset.rowCount);
      const { table, past: before, selection } = getState();
      const onNext = (one: TableDocument) => (sent ? continueOn(next, sent, one) : next);
      const past = sent && table !== sent ? before.slice(Math.max(0, before.indexOf(sent))).map(onNext) : [];
      show(onNext(table), selection, { dataset, original: next, past, future: [], problem: null });
    },
    showProblem: (problem) => setState({ problem }),
    dispose() {
      isDisposed = true;
      close();
      if (!getState().activity?.outlastsEditor) {
        getState().activity?.cancel();
        return storage?.close();
      }
      const stop = store.subscribe(({ activity }) => {
        if (activity !== null) return;
        stop();
        storage?.close();
      });
    },
    isDisposed: () => isDisposed,
  };
}
