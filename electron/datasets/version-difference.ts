import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DatasetDifference } from '../../shared/contract/dataset-edits.ts';
import type { Dataset } from '../../shared/contract/datasets.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';

const rowsAtOnce = 1000;

async function contentsOf(
  store: Pick<DatasetStore, 'rowIds'>,
  { id, version, rowCount }: Dataset,
  signal: AbortSignal,
) {
  const contents: number[] = [];
  for (let offset = 0; offset < rowCount; offset += rowsAtOnce) {
    signal.throwIfAborted();
    for (const { content } of store.rowIds(id, version, { offset, limit: rowsAtOnce })) contents.push(content);
    await nextTurn();
  }
  return contents;
}

/** How many rows that `common` lacks follow each kept row. The first gap, before any kept row, is 0: contents count from 1. */
function gapsOf(contents: readonly number[], common: ReadonlySet<number>): Map<number, number> {
  const gaps = new Map<number, number>();
  let before = 0;
  for (const content of contents) {
    if (common.has(content)) before = content;
    else gaps.set(before, (gaps.get(before) ?? 0) + 1);
  }
  return gaps;
}

function missingIn(names: readonly { name: string }[], others: readonly { name: string }[]): string[] {
  const known = new Set(others.map(({ name }) => name));
  return names.map(({ name }) => name).filter((name) => !known.has(name));
}

const sumOf = (gaps: ReadonlyMap<number, number>) => [...gaps.values()].reduce((sum, count) => sum + count, 0);

/** Counts what differs between two versions of a dataset. */
export async function differenceOf(
  store: Pick<DatasetStore, 'rowIds'>,
  base: Dataset,
  later: Dataset,
  { signal }: { readonly signal: AbortSignal },
): Promise<DatasetDifference> {
  const before = await contentsOf(store, base, signal);
  const after = await contentsOf(store, later, signal);
  const added = gapsOf(after, new Set(before));
  const removed = gapsOf(before, new Set(after));
  const changedRows = [...added].reduce((sum, [gap, count]) => sum + Math.min(count, removed.get(gap) ?? 0), 0);
  return {
    base: base.version,
    version: later.version,
    addedRows: sumOf(added) - changedRows,
    removedRows: sumOf(removed) - changedRows,
    changedRows,
    addedColumns: missingIn(later.columns, base.columns),
    removedColumns: missingIn(base.columns, later.columns),
  };
}
