import type { RowFilter, RowSort } from '../../shared/contract/comparison-results.ts';
import type { CellResults } from './cell-results.ts';
import type { Statistics } from './create-statistics.ts';

/** Finds the rows that match a filter, in an order. Rows count from 0. */
export interface RowFinder {
  /** `disagreeing` are the rows where a judge and a person disagree. */
  find(
    results: CellResults,
    order: { readonly filter: RowFilter; readonly sort: RowSort },
    disagreeing: ReadonlySet<number>,
  ): Promise<Uint32Array>;
}

interface FoundRows {
  readonly name: string;
  readonly version: number;
  readonly rows: Promise<Uint32Array>;
}

/** A table asks for many pages of one order, so the last one is cached until a cell changes. Rows are sorted in a thread. */
export function createRowFinder(statistics: Pick<Statistics, 'orderRows'>): RowFinder {
  const cache = new WeakMap<CellResults, FoundRows>();

  async function sorted(results: CellResults, rows: Uint32Array, sort: RowSort): Promise<Uint32Array> {
    if (sort === 'row') return rows;
    return statistics.orderRows(rows, await results.keys(sort, rows));
  }

  return {
    find(results, { filter, sort }, disagreeing) {
      // Votes are no change of a cell.
      if (filter === 'disagrees') return sorted(results, Uint32Array.from(disagreeing).toSorted(), sort);
      const [name, { version }] = [`${filter}/${sort}`, results];
      const last = cache.get(results);
      if (last?.name === name && last.version === version) return last.rows;
      const rows = sorted(results, results.rows(filter), sort);
      cache.set(results, { name, version, rows });
      rows.catch(() => cache.delete(results));
      return rows;
    },
  };
}
