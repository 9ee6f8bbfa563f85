import { AppError } from '../../shared/app-error.ts';
import type { DatasetRow } from '../../shared/contract/datasets.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';

const rowsAtOnce = 64;
const maxBytesAtOnce = 4 * 1_048_576;
/** Workers of one provider are close to each other; providers are not. */
const maxLoads = 16;

/** Reads rows of one version in small groups, because cells ask for them one after the other. */
export function createRowReader(
  store: Pick<DatasetStore, 'rows'>,
  datasetId: string,
  version: number,
): (row: number) => DatasetRow {
  const loads: { offset: number; rows: DatasetRow[] }[] = [];
  return (row) => {
    const found = loads.find(({ offset, rows }) => row >= offset && row < offset + rows.length);
    if (found) return found.rows[row - found.offset]!;
    const rows = store.rows(datasetId, version, { offset: row, limit: rowsAtOnce, maxBytes: maxBytesAtOnce });
    if (rows.length === 0) throw new AppError('not_found', `The dataset has no row ${row + 1}.`);
    loads.push({ offset: row, rows });
    if (loads.length > maxLoads) loads.shift();
    return rows[0]!;
  };
}
