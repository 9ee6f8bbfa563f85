/** Entry point of the thread that reads one table; started by `create-table-reader.ts`. */
import { type DatasetColumn, maxRowBytes, type RowValues } from '../../../shared/contract/datasets.ts';
import { serveCalls } from '../../common/worker-server.ts';
import { invalidField } from '../../../shared/app-error.ts';
import { inspectTable, typedValues } from './inspect-table.ts';
import { Findings, type InspectedTable, type OpenTable, type Row, type TableFile, unreadable } from './table.ts';
import { openTable } from './open-table.ts';

/** Few enough that the main thread takes them in some milliseconds. */
const rowsAtOnce = 250;
/** Characters of about so many values. */
const charactersAtOnce = 262_144;

/** A column of the file, under the name that it gets. */
export interface ReadColumn extends DatasetColumn {
  readonly source: string;
}

let table: OpenTable | null = null;
let detected: ReadonlyMap<string, DatasetColumn['type']> = new Map();
let readRows = 0;
let rows: Iterator<Row> | AsyncIterator<Row> | null = null;
let types: ReadonlyMap<string, DatasetColumn['type']> = new Map();
let parsed: ReadonlySet<string> = new Set();
let names: ReadonlyMap<string, string> = new Map();

function sizeOf(values: RowValues, row: number): number {
  try {
    return Object.values(values).reduce<number>(
      (sum, value) => sum + (typeof value === 'string' ? value.length : JSON.stringify(value ?? null).length),
      0,
    );
  } catch (error) {
    throw error instanceof RangeError ? invalidField(`rows[${row}]`, 'is nested too deeply') : error;
  }
}

const methods = {
  async inspect(file: TableFile): Promise<InspectedTable> {
    try {
      table = await openTable(file);
      const inspected = await inspectTable(table, new Set(file.fileNames));
      detected = new Map(inspected.columns.map(({ name, type }) => [name, type]));
      return inspected;
    } catch (error) {
      // Of V8, for values in which a recursion doesn't reach the end.
      throw error instanceof RangeError ? unreadable('has values that are nested too deeply') : error;
    }
  },
  /** Begins to read the rows of the inspected file. Other columns than these are left out. */
  open(columns: readonly ReadColumn[]): void {
    readRows = 0;
    const found = table!.rows(new Findings());
    rows = Symbol.asyncIterator in found ? found[Symbol.asyncIterator]() : found[Symbol.iterator]();
    types = new Map(columns.map(({ source, type }) => [source, type]));
    // Texts beside other values of JSON are texts, unless the caller chose that they are JSON.
    const isParsed = ({ source, type }: ReadColumn) => table!.isText === true || type !== detected.get(source);
    parsed = new Set(columns.filter(isParsed).map(({ source }) => source));
    names = new Map(columns.map(({ source, name }) => [source, name]));
  },
  /** The next rows; none at the end. */
  async next(): Promise<RowValues[]> {
    const batch: RowValues[] = [];
    for (let characters = 0; batch.length < rowsAtOnce && characters < charactersAtOnce;) {
      const { done, value } = await rows!.next();
      if (done) break;
      const values = Object.entries(typedValues(value, types, parsed)).map(([source, cell]) => [
        names.get(source)!,
        cell,
      ]);
      const row = Object.fromEntries(values) as RowValues;
      const size = sizeOf(row, readRows);
      // Not before the main thread: the transfer of a cell of 100 MB would block it.
      if (size > maxRowBytes) throw invalidField(`rows[${readRows}]`, 'is larger than 4 MB');
      readRows += 1;
      characters += size;
      batch.push(row);
    }
    return batch;
  },
};

export type ImportMethods = typeof methods;

serveCalls(methods);
