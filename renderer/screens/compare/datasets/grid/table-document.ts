import type { DatasetColumn } from '../../../../../shared/contract/datasets.ts';
import { convertValue } from '../../../../../shared/dataset-values.ts';
import { yieldToWindow } from './time-slices.ts';

/** A column while it is edited. */
export interface EditedColumn extends DatasetColumn {
  /** Unique in the document, also after the column is renamed. */
  readonly key: string;
  /** Its name in the base version; null for a new column. */
  readonly from: string | null;
  /** The column as it was before its type changed. Cells that were edited then are under its key. */
  readonly older: EditedColumn | null;
}

/** Values by the key of their column; null is an emptied cell. */
export type EditedCells = Readonly<Record<string, unknown>>;

export interface EditedRow {
  /** Offset in the base version; null for a new row. */
  readonly base: number | null;
  /** Only the cells that changed. */
  readonly cells: EditedCells;
}

/** Rows of the base version without changes, or rows with changes. */
export type Segment =
  { readonly base: number; readonly count: number } | { readonly id: string; readonly rows: readonly EditedRow[] };

/**
 * The rows and columns of a version with edits. It never changes: an edit makes another document, which shares the segments that are the
 * same. So undo keeps whole documents, and 100,000 rows without changes are one segment.
 */
export interface TableDocument {
  readonly columns: readonly EditedColumn[];
  readonly segments: readonly Segment[];
  /** Row number at which each segment begins. */
  readonly starts: readonly number[];
  readonly rowCount: number;
}

/** Rows of a segment with changes. A stored segment is written again when one of its rows changes. */
export const maxSegmentRows = 256;

const countOf = (segment: Segment): number => ('rows' in segment ? segment.rows.length : segment.count);

export function createDocument(columns: readonly EditedColumn[], segments: readonly Segment[]): TableDocument {
  const starts: number[] = [];
  let rowCount = 0;
  for (const segment of segments) {
    starts.push(rowCount);
    rowCount += countOf(segment);
  }
  return { columns, segments, starts, rowCount };
}

/** A version as it is stored. */
export function documentOf(columns: readonly DatasetColumn[], rowCount: number): TableDocument {
  const edited = columns.map(({ name, type }) => ({ key: crypto.randomUUID(), name, type, from: name, older: null }));
  return createDocument(edited, rowCount === 0 ? [] : [{ base: 0, count: rowCount }]);
}

/** Whether stored edits change nothing of a version. */
export function isSameTable(
  stored: TableDocument,
  columns: readonly DatasetColumn[],
  original: TableDocument,
): boolean {
  return (
    stored.rowCount === original.rowCount &&
    stored.segments.every((segment) => !('rows' in segment)) &&
    stored.segments.length === original.segments.length &&
    stored.columns.length === columns.length &&
    stored.columns.every(({ name, type }, index) => name === columns[index]!.name && type === columns[index]!.type)
  );
}

function segmentAt({ starts }: TableDocument, row: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle]! <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function rowAt(table: TableDocument, row: number): EditedRow {
  const index = segmentAt(table, row);
  const segment = table.segments[index]!;
  const offset = row - table.starts[index]!;
  return 'rows' in segment ? segment.rows[offset]! : { base: segment.base + offset, cells: {} };
}

/** The part of a segment from `from` to before `to`. */
function partOf(segment: Segment, from: number, to: number): Segment {
  if (from === 0 && to === countOf(segment)) return segment;
  return 'rows' in segment ? segmentOf(segment.rows.slice(from, to)) : { base: segment.base + from, count: to - from };
}

export function segmentOf(rows: readonly EditedRow[]): Segment {
  return { id: crypto.randomUUID(), rows };
}

/** The segments of the rows from `from` to before `to`. */
export function segmentsBetween(table: TableDocument, from: number, to: number): Segment[] {
  const found: Segment[] = [];
  if (from >= to) return found;
  for (let index = segmentAt(table, from); index < table.segments.length && table.starts[index]! < to; index += 1) {
    const segment = table.segments[index]!;
    const start = table.starts[index]!;
    found.push(partOf(segment, Math.max(0, from - start), Math.min(countOf(segment), to - start)));
  }
  return found;
}

/** Two neighbours as one segment; null if they can't be one. */
function joined(before: Segment, after: Segment): Segment | null {
  if ('rows' in before) {
    if (!('rows' in after) || before.rows.length + after.rows.length > maxSegmentRows) return null;
    return segmentOf([...before.rows, ...after.rows]);
  }
  if ('rows' in after || before.base + before.count !== after.base) return null;
  return { base: before.base, count: before.count + after.count };
}

function withoutSeams(segments: readonly Segment[]): Segment[] {
  const merged: Segment[] = [];
  for (const segment of segments) {
    const last = merged.at(-1);
    const both = last && joined(last, segment);
    if (both) merged[merged.length - 1] = both;
    else merged.push(segment);
  }
  return merged;
}

/** The document with other segments in place of the rows from `from` to before `to`. */
export function replaceRows(table: TableDocument, from: number, to: number, segments: readonly Segment[]) {
  const before = segmentsBetween(table, 0, from);
  const after = segmentsBetween(table, to, table.rowCount);
  // Only the ends of the new segments can have new neighbours.
  const middle = withoutSeams([...before.slice(-1), ...segments, ...after.slice(0, 1)]);
  return createDocument(table.columns, [...before.slice(0, -1), ...middle, ...after.slice(1)]);
}

/** Writes cells of the rows from `from` on; rows beyond the end are added. Long work is split, so that the window stays responsive. */
export async function writeCells(
  table: TableDocument,
  from: number,
  cells: Iterable<EditedCells>,
  signal?: AbortSignal,
): Promise<TableDocument> {
  const segments: Segment[] = [];
  let rows: EditedRow[] = [];
  let row = from;
  for (const changed of cells) {
    const old = row < table.rowCount ? rowAt(table, row) : { base: null, cells: {} };
    rows.push({ base: old.base, cells: { ...old.cells, ...changed } });
    row += 1;
    if (rows.length < maxSegmentRows) continue;
    segments.push(segmentOf(rows));
    rows = [];
    await yieldToWindow(signal);
  }
  if (rows.length > 0) segments.push(segmentOf(rows));
  return replaceRows(table, from, Math.min(row, table.rowCount), segments);
}

/** Moves the rows from `from` to before `to` by `by`, within the table. */
export function moveRows(table: TableDocument, from: number, to: number, by: number): TableDocument {
  const target = Math.max(0, Math.min(table.rowCount - (to - from), from + by));
  const moved = segmentsBetween(table, from, to);
  const rest = replaceRows(table, from, to, []);
  return replaceRows(rest, target, target, moved);
}

export function withColumns(table: TableDocument, columns: readonly EditedColumn[]): TableDocument {
  return { ...table, columns };
}

/** A name that no column has: `Column`, `Column 2`. */
export function freeName(columns: readonly Pick<DatasetColumn, 'name'>[], base: string): string {
  const names = new Set(columns.map(({ name }) => name));
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base} ${number}`;
    if (!names.has(name)) return name;
  }
}

export function newColumn(columns: readonly EditedColumn[], type: DatasetColumn['type'] = 'text'): EditedColumn {
  const base = type === 'expected' ? 'expected' : 'Column';
  return { key: crypto.randomUUID(), name: freeName(columns, base), type, from: null, older: null };
}

/** A changed cell in the type of its column; undefined if the row has no change of it. */
export function editedCell({ cells }: EditedRow, column: EditedColumn): { readonly value: unknown } | undefined {
  for (let version: EditedColumn | null = column; version !== null; version = version.older) {
    if (!Object.hasOwn(cells, version.key)) continue;
    const value = cells[version.key];
    return { value: version.type === column.type ? value : (convertValue(value, column.type) ?? null) };
  }
  return undefined;
}

/** The column with another type. Its values are converted when they are read. */
export function retyped(column: EditedColumn, type: DatasetColumn['type']): EditedColumn {
  return column.type === type ? column : { ...column, key: crypto.randomUUID(), type, older: column };
}

/** Writes cells of one row; a row beyond the end is added. */
export function writeRow(table: TableDocument, row: number, cells: EditedCells): TableDocument {
  const isNew = row >= table.rowCount;
  const old: EditedRow = isNew ? { base: null, cells: {} } : rowAt(table, row);
  const changed = segmentOf([{ base: old.base, cells: { ...old.cells, ...cells } }]);
  return replaceRows(table, row, isNew ? table.rowCount : row + 1, [changed]);
}

/** The table of a version that was saved from `sent`. Its columns keep their keys, so that a cell stays open. */
export function savedTable(sent: TableDocument): TableDocument {
  const columns = sent.columns.map((column) => ({ ...column, from: column.name }));
  return createDocument(columns, sent.rowCount === 0 ? [] : [{ base: 0, count: sent.rowCount }]);
}

/** The column with its name in the saved version; null there if it was added later. */
function columnOn(saved: TableDocument, column: EditedColumn): EditedColumn {
  for (let version: EditedColumn | null = column; version !== null; version = version.older) {
    const { key } = version;
    const found = saved.columns.find((one) => one.key === key);
    if (found) return { ...column, from: found.from };
  }
  return { ...column, from: null };
}

/** The segments of a table that another one shares, and where the rows of the others are. */
function indexOf(sent: TableDocument, table: TableDocument) {
  const shared = new Set(table.segments);
  const starts = new Map<Segment, number>();
  const rows = new Map<EditedRow | number, number>();
  const unchanged: { base: number; count: number; start: number }[] = [];
  for (const [index, segment] of sent.segments.entries()) {
    const start = sent.starts[index]!;
    if (shared.has(segment)) starts.set(segment, start);
    else if ('rows' in segment) {
      for (const [offset, row] of segment.rows.entries())
        rows.set(row, start + offset).set(row.base ?? row, start + offset);
    } else unchanged.push({ ...segment, start });
  }
  return { starts, rows, unchanged };
}

/**
 * The table as edits of the version that was saved from `sent`. It must come from `sent` without undo, so that every row of the base
 * version in it is in `sent`, too.
 */
export function continueOn(saved: TableDocument, sent: TableDocument, table: TableDocument): TableDocument {
  if (table === sent) return saved;
  const { starts, rows, unchanged } = indexOf(sent, table);
  const partAt = (base: number) => unchanged.find((part) => base >= part.base && base < part.base + part.count);
  const positionOf = (base: number): number | null => {
    const part = partAt(base);
    return rows.get(base) ?? (part ? part.start + base - part.base : null);
  };
  const segments: Segment[] = [];
  for (const segment of table.segments) {
    const start = starts.get(segment);
    if (start !== undefined) segments.push({ base: start, count: countOf(segment) });
    else if ('rows' in segment) {
      for (const row of segment.rows) {
        const same = rows.get(row);
        if (same !== undefined) segments.push({ base: same, count: 1 });
        else segments.push(segmentOf([{ ...row, base: row.base === null ? null : positionOf(row.base) }]));
      }
    } else {
      const end = segment.base + segment.count;
      for (let base = segment.base; base < end;) {
        const part = partAt(base)!;
        const next = Math.min(end, part.base + part.count);
        segments.push({ base: part.start + base - part.base, count: next - base });
        base = next;
      }
    }
  }
  return createDocument(
    table.columns.map((column) => columnOn(saved, column)),
    withoutSeams(segments),
  );
}
