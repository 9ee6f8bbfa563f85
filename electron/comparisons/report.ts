import type { ComparisonReport } from '../../shared/contract/comparison-results.ts';
import type { Variant } from '../../shared/contract/comparisons.ts';
import type { VariantReport } from '../../shared/statistics/compare-variants.ts';
import type { CellMeasurement } from '../storage/comparison-cells.ts';
import type { StoredComparison } from '../storage/comparison-store.ts';
import type { Statistics } from './create-statistics.ts';

type Reported = ComparisonReport['variants'][number];
type Interval = [number, number] | null;

const intervalOf = (interval: readonly [number, number] | null): Interval => (interval ? [...interval] : null);

function meanOf<Mean extends { mean: number; interval: readonly [number, number] | null; rows: number }>(mean: Mean) {
  const { standardDeviation: _, ...rest } = mean as Mean & { standardDeviation?: number };
  return { ...rest, interval: intervalOf(mean.interval) };
}

function describeVariant({ differences, ...report }: VariantReport): Reported {
  type Differences = NonNullable<typeof differences>;
  const one = (difference: Differences[keyof Differences]) => ({
    ...difference,
    interval: intervalOf(difference.interval),
  });
  const all = differences && {
    passRate: one(differences.passRate),
    score: one(differences.score),
    cost: one(differences.cost),
    latency: one(differences.latency),
  };
  return {
    name: report.name,
    passRate: report.passRate,
    interval: intervalOf(report.interval),
    passes: report.passes,
    rows: report.rows,
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

/** Compares the variants by the cells that have completed. */
export async function reportOf(
  { settings, state }: StoredComparison,
  variants: readonly Variant[],
  measurements: Iterable<CellMeasurement>,
  statistics: Statistics,
  options: { readonly signal: AbortSignal },
): Promise<ComparisonReport> {
  const { rowCount, repeats, baseline } = settings;
  const empty = () => new Float64Array(rowCount * repeats).fill(Number.NaN);
  const cells = variants.map(({ name }) => ({
    name,
    passes: empty(),
    scores: empty(),
    costs: empty(),
    latencies: empty(),
  }));
  for (const { position, passed, score, cost, totalMs } of measurements) {
    const group = Math.floor(position / repeats);
    const own = cells[group % variants.length]!;
    const index = Math.floor(group / variants.length) * repeats + (position % repeats);
    own.passes[index] = passed ?? Number.NaN;
    own.scores[index] = score ?? Number.NaN;
    own.costs[index] = cost ?? Number.NaN;
    own.latencies[index] = totalMs ?? Number.NaN;
  }
  const compared = {
    variants: cells,
    baseline: variants.findIndex(({ name }) => name === baseline),
    repeats,
    rowsPlanned: state === 'Completed' ? null : rowCount,
  };
  const reports = await statistics.compareVariants(compared, options);
  return { isFinal: state === 'Completed', baseline, variants: reports.map(describeVariant) };
}
