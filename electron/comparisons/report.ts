import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ComparisonReport } from '../../shared/contract/comparison-results.ts';
import type { Variant } from '../../shared/contract/comparisons.ts';
import type { VariantCells, VariantReport } from '../../shared/statistics/compare-variants.ts';
import type { StoredComparison } from '../storage/comparison-store.ts';
import type { CellResults } from './cell-results.ts';
import type { CellTable } from './cell-table.ts';
import type { Statistics } from './create-statistics.ts';

type Reported = ComparisonReport['variants'][number];
type Interval = [number, number] | null;

const intervalOf = (interval: readonly [number, number] | null): Interval => (interval ? [...interval] : null);

function meanOf<Mean extends { mean: number; interval: readonly [number, number] | null; rows: number }>(mean: Mean) {
  const { standardDeviation: _, ...rest } = mean as Mean & { standardDeviation?: number };
  return { ...rest, interval: intervalOf(mean.interval) };
}

export function describeDifferences(differences: NonNullable<VariantReport['differences']>) {
  const one = (difference: typeof differences.cost) => ({ ...difference, interval: intervalOf(difference.interval) });
  return {
    passRate: one(differences.passRate),
    score: one(differences.score),
    cost: one(differences.cost),
    latency: one(differences.latency),
  };
}

function describeVariant({ differences, ...report }: VariantReport, variant: number, results: CellResults): Reported {
  const all = differences && describeDifferences(differences);
  return {
    name: report.name,
    passRate: report.passRate,
    interval: intervalOf(report.interval),
    passes: report.passes,
    rows: report.rows,
    checks: results.checks(variant).map((count) => ({ ...count })),
    tokens: results.tokens(variant),
    repeatRates: report.repeatRates.map(({ repeats, anyPasses, allPass }) => ({
      repeats,
      anyPasses: meanOf(anyPasses),
      allPass: meanOf(allPass),
    })),
    score: report.score && meanOf(report.score),
    cost: report.cost && meanOf(report.cost),
    latency: report.latency && meanOf(report.latency),
    difference: all?.passRate ?? null,
    differences: all,
  };
}

/** The numbers of a variant for statistics. */
export function variantCells(name: string, variant: number, results: CellResults): VariantCells {
  return {
    name,
    passes: results.measured(variant, 'passes'),
    scores: results.measured(variant, 'scores'),
    costs: results.measured(variant, 'costs'),
    latencies: results.measured(variant, 'latencies'),
  };
}

interface ReportOptions {
  /** The variant that the others are compared with. */
  readonly baseline: string;
  readonly statistics: Statistics;
  readonly signal: AbortSignal;
}

/** Compares the variants by the cells that have completed. */
export async function reportOf(
  { settings, state }: StoredComparison,
  variants: readonly Variant[],
  cells: CellTable,
  { baseline, statistics, signal }: ReportOptions,
): Promise<ComparisonReport> {
  const { results } = cells;
  const { rowCount, repeats } = settings;
  const isFinal = state === 'Completed';
  const endedRows = cells.endedRows;
  const measured: VariantCells[] = [];
  for (const [index, { name }] of variants.entries()) {
    measured.push(variantCells(name, index, results));
    // A variant of 100,000 rows takes a millisecond or more.
    await nextTurn();
  }
  const compared = {
    variants: measured,
    baseline: variants.findIndex(({ name }) => name === baseline),
    repeats,
    rowsPlanned: isFinal ? null : rowCount,
  };
  const reports = await statistics.compareVariants(compared, { signal });
  return {
    isFinal,
    endedRows,
    baseline,
    variants: reports.map((report, index) => describeVariant(report, index, results)),
  };
}
