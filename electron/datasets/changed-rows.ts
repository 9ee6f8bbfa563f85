import { invalidField } from '../../shared/app-error.ts';
import type { Dataset, DatasetVersionInput, RowValues } from '../../shared/contract/datasets.ts';
import type { DatasetStore, WrittenRow } from '../storage/dataset-store.ts';
import { type RowChecker, RowIds } from './dataset-row.ts';

const rowsAtOnce = 1000;

export interface RowChange {
  readonly base: Dataset;
  readonly changes: NonNullable<DatasetVersionInput['changes']>;
  readonly checker: RowChecker;
  /** Whether unchanged rows have the values that they had, as all of their columns are there. */
  readonly areValuesSame: boolean;
  readonly store: Pick<DatasetStore, 'rows' | 'rowIds'>;
}

/** Rows of a request as rows to write. `first` is the number of rows before them, which errors count. */
export function* checkedRows(
  rows: readonly RowValues[],
  checker: RowChecker,
  ids: RowIds,
  field: string,
  first = 0,
): Generator<WrittenRow> {
  for (const [index, values] of rows.entries()) {
    const checked = checker.check(values, `${field}[${first + index}]`);
    yield { id: ids.next(checked.json), ...checked };
  }
}

/** The rows of a version with the changes of a request. Throws `invalid_request` for an unknown row. */
export function* changedRows({ base, changes, checker, areValuesSame, store }: RowChange): Generator<WrittenRow> {
  const removed = new Set(changes.removed);
  const updated = new Map(Object.entries(changes.updated ?? {}));
  const known = new Set(rowIdsOf(base, store));
  requireRow(known, base, 'changes.updated.', '', updated.keys());
  requireRow(known, base, 'changes.removed[', ']', removed);
  for (const rowId of [...removed, ...updated.keys()]) known.delete(rowId);
  const ids = new RowIds(areValuesSame ? known : []);
  const written = (checked: ReturnType<RowChecker['check']>) => ({ id: ids.next(checked.json), ...checked });
  for (let offset = 0; offset < base.rowCount; offset += rowsAtOnce) {
    const stored = store.rowIds(base.id, base.version, { offset, limit: rowsAtOnce });
    for (const [index, { content, id: rowId }] of stored.entries()) {
      if (removed.has(rowId)) continue;
      const values = updated.get(rowId);
      if (values !== undefined) yield written(checker.check(values, `changes.updated.${rowId}`));
      else if (areValuesSame) yield { content };
      else {
        const [row] = store.rows(base.id, base.version, { offset: offset + index, limit: 1, maxBytes: Infinity });
        yield written(checker.checkRemaining(row!.values, `rows[${offset + index}]`));
      }
    }
  }
  yield* checkedRows(changes.added ?? [], checker, ids, 'changes.added');
}

function* rowIdsOf({ id, version, rowCount }: Dataset, store: Pick<DatasetStore, 'rowIds'>): Generator<string> {
  for (let offset = 0; offset < rowCount; offset += rowsAtOnce) {
    for (const row of store.rowIds(id, version, { offset, limit: rowsAtOnce })) yield row.id;
  }
}

function requireRow(
  known: ReadonlySet<string>,
  { version }: Dataset,
  before: string,
  after: string,
  ids: Iterable<string>,
) {
  for (const [index, rowId] of [...ids].entries()) {
    if (known.has(rowId)) continue;
    throw invalidField(`${before}${after === '' ? rowId : index}${after}`, `is not a row of version ${version}`);
  }
}
