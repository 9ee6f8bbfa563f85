/** Entry point of the thread that reads one table; started by `create-table-reader.ts`. */
import type { DatasetColumn, RowValues } from '../../../shared/contract/datasets.ts';
import { serveCalls } from '../../common/worker-server.ts';
import { inspectTable, readRows, type TableFile, typedValues } from './read-table.ts';

const rowsAtOnce = 500;
/** Characters of about so many values. */
const charactersAtOnce = 1_048_576;

let rows: AsyncGenerator<Record<string, unknown>> | null = null;
let types: ReadonlyMap<string, DatasetColumn['type']> = new Map();

function sizeOf(values: RowValues): number {
  return Object.values(values).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : JSON.stringify(value ?? null).length),
    0,
  );
}

const methods = {
  inspect: (file: TableFile) => inspectTable(file),
  open({ columns, ...file }: TableFile & { readonly columns: readonly DatasetColumn[] }): void {
    rows = readRows(file);
    types = new Map(columns.map(({ name, type }) => [name, type]));
  },
  /** The next rows; none at the end. */
  async next(): Promise<RowValues[]> {
    const batch: RowValues[] = [];
    for (let characters = 0; batch.length < rowsAtOnce && characters < charactersAtOnce;) {
      const { done, value } = await rows!.next();
      if (done) break;
      const values = typedValues(value, types);
      characters += sizeOf(values);
      batch.push(values);
    }
    return batch;
  },
};

export type ImportMethods = typeof methods;

serveCalls(methods);
