import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ComparisonTrend } from '../../shared/contract/comparison-results.ts';
import type { VariantCells } from '../../shared/statistics/compare-variants.ts';
import type { ComparisonSetup, StoredComparison } from '../storage/comparison-store.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import type { CellResults } from './cell-results.ts';
import type { Statistics } from './create-statistics.ts';
import { describeDifferences, variantCells } from './report.ts';

const rowsAtOnce = 1000;

/** A comparison with what its cells say. */
export interface ReadComparison {
  readonly comparison: StoredComparison;
  readonly setup: ComparisonSetup;
  readonly results: CellResults;
}

async function rowNumbers(
  { datasetId, datasetVersion, settings }: StoredComparison,
  datasets: Pick<DatasetStore, 'rowIds'>,
): Promise<Map<string, number>> {
  const numbers = new Map<string, number>();
  for (let offset = 0; offset < settings.rowCount; offset += rowsAtOnce) {
    const ids = datasets.rowIds(datasetId, datasetVersion, { offset, limit: rowsAtOnce });
    for (const [index, { id }] of ids.entries()) numbers.set(id, offset + index);
    await nextTurn();
  }
  return numbers;
}

/** One value for each shared row: the mean of its repeats, which the two comparisons can have in different numbers. */
function onRows(values: Float64Array, repeats: number, rows: readonly number[], isShare: boolean): Float64Array {
  return Float64Array.from(rows, (row) => {
    const known = values.subarray(row * repeats, (row + 1) * repeats).filter((value) => !Number.isNaN(value));
    const mean = known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length;
    return isShare && !Number.isNaN(mean) ? Number(mean > 0.5) : mean;
  });
}

function cellsOnRows(read: ReadComparison, name: string, rows: readonly number[]): VariantCells {
  const { repeats } = read.comparison.settings;
  const variant = read.setup.variants.findIndex((one) => one.name === name);
  const cells = variantCells(name, variant, read.results);
  const of = (values: Float64Array, isShare = false) => onRows(values, repeats, rows, isShare);
  return {
    name,
    passes: of(cells.passes, true),
    scores: of(cells.scores),
    costs: of(cells.costs),
    latencies: of(cells.latencies),
  };
}

/** Compares a comparison with the one that it repeats: variants of the same name, paired by row. */
export async function trendOf(
  now: ReadComparison,
  earlier: ReadComparison,
  datasets: Pick<DatasetStore, 'rowIds'>,
  { statistics, signal }: { readonly statistics: Statistics; readonly signal: AbortSignal },
): Promise<ComparisonTrend> {
  const earlierRows = await rowNumbers(earlier.comparison, datasets);
  const shared = [...(await rowNumbers(now.comparison, datasets))].flatMap(([id, row]) => {
    const before = earlierRows.get(id);
    return before === undefined ? [] : [{ before, row }];
  });
  signal.throwIfAborted();
  const isFinal = [now, earlier].every(({ comparison }) => comparison.state === 'Completed');
  const earlierNames = new Set(earlier.setup.variants.map(({ name }) => name));
  const names = now.setup.variants.map(({ name }) => name).filter((name) => earlierNames.has(name));
  const variants: ComparisonTrend['variants'] = [];
  for (const name of names) {
    const [before, after] = await statistics.compareVariants(
      {
        variants: [
          cellsOnRows(
            earlier,
            name,
            shared.map((pair) => pair.before),
          ),
          cellsOnRows(
            now,
            name,
            shared.map((pair) => pair.row),
          ),
        ],
        baseline: 0,
        repeats: 1,
        rowsPlanned: isFinal ? null : shared.length,
        differencesShown: names.length,
      },
      { signal },
    );
    variants.push({
      name,
      earlierPassRate: before!.passRate,
      passRate: after!.passRate,
      differences: describeDifferences(after!.differences!),
    });
  }
  const { id, name, summary } = earlier.comparison;
  const completedAt = summary.completedAt === null ? null : new Date(summary.completedAt).toISOString();
  return { earlier: { id, name, completedAt }, sharedRows: shared.length, variants };
}
