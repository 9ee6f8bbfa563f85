import { estimateDifference, estimateMean, estimateScore, type MeanEstimate } from './means.ts';
import { defaultConfidence, type Interval, pairedDifferenceInterval, wilsonInterval } from './proportions.ts';
import { passAllN, passAtN, percentile } from './repeats.ts';
import { rowsForMeans, rowsForRates } from './rows-needed.ts';
import { describeDifference, type Measure, type Verdict } from './sentences.ts';

/** The cells of one variant. The cell of a row's repeat is at `row * repeats + repeat`; NaN is a value that is missing. */
export interface VariantCells {
  readonly name: string;
  /** 1 for a pass, 0 for a fail. A cell that failed or couldn't be judged is missing. */
  readonly passes: Float64Array;
  /** From 0 to 1. */
  readonly scores: Float64Array;
  readonly costs: Float64Array;
  readonly latencies: Float64Array;
}

export interface ComparedCells {
  readonly variants: readonly VariantCells[];
  /** Index of the variant that the others are compared with. */
  readonly baseline: number;
  readonly repeats: number;
  /** Rows of the dataset while the comparison runs; null for the end. */
  readonly rowsPlanned: number | null;
  /** Differences whose intervals hold together; those to the baseline unless given. */
  readonly differencesShown?: number;
}

export interface Difference {
  readonly estimate: number;
  /** Null if it can't be computed, such as for one row. */
  readonly interval: Interval | null;
  readonly verdict: Verdict;
  /** Rows that both variants have. */
  readonly rows: number;
  /** About how many rows would tell; null if the interval already tells, or if no difference was seen. */
  readonly rowsNeeded: number | null;
  readonly sentence: string;
}

export interface RepeatRates {
  readonly repeats: number;
  /** How likely at least one of so many repeats passes (pass@N). */
  readonly anyPasses: MeanEstimate;
  /** How likely all of so many repeats pass (pass^N). */
  readonly allPass: MeanEstimate;
}

export interface VariantReport {
  readonly name: string;
  /** Share of rows that pass; a row passes when most of its repeats do. Null without judged rows. */
  readonly passRate: number | null;
  readonly interval: Interval | null;
  readonly passes: number;
  /** Rows with at least one judged repeat. */
  readonly rows: number;
  readonly repeatRates: readonly RepeatRates[];
  readonly score: MeanEstimate | null;
  /** Per run. */
  readonly cost: (MeanEstimate & { readonly total: number }) | null;
  readonly latency: (MeanEstimate & { readonly p50: number; readonly p95: number }) | null;
  /** Compared with the baseline; null for the baseline itself. */
  readonly differences: Readonly<Record<Measure, Difference>> | null;
}

/** One value per row: the mean of its repeats, or NaN without any. */
function rowMeans(cells: Float64Array, repeats: number): Float64Array {
  return Float64Array.from({ length: Math.ceil(cells.length / repeats) }, (_, row) => {
    let sum = 0;
    let count = 0;
    for (const value of cells.subarray(row * repeats, (row + 1) * repeats)) {
      if (Number.isNaN(value)) continue;
      sum += value;
      count += 1;
    }
    return count === 0 ? Number.NaN : sum / count;
  });
}

function present(values: Float64Array): Float64Array {
  return values.filter((value) => !Number.isNaN(value));
}

interface RowValues {
  readonly name: string;
  /** 1 for a row of which most repeats pass. */
  readonly passRate: Float64Array;
  readonly score: Float64Array;
  readonly cost: Float64Array;
  readonly latency: Float64Array;
}

function rowValuesOf({ name, passes, scores, costs, latencies }: VariantCells, repeats: number): RowValues {
  return {
    name,
    passRate: rowMeans(passes, repeats).map((share) => (Number.isNaN(share) ? share : Number(share > 0.5))),
    score: rowMeans(scores, repeats),
    cost: rowMeans(costs, repeats),
    latency: rowMeans(latencies, repeats),
  };
}

/** For 1, 2 and so on repeats, over the rows with so many judged repeats. */
function repeatRatesOf(passes: Float64Array, repeats: number): RepeatRates[] {
  if (repeats === 1) return [];
  const counts = Array.from({ length: passes.length / repeats }, (_, row) => {
    const judged = present(passes.subarray(row * repeats, (row + 1) * repeats));
    return { judged: judged.length, passed: judged.reduce((sum, pass) => sum + pass, 0) };
  });
  return Array.from({ length: repeats }, (_, index) => index + 1).flatMap((drawn) => {
    const rows = counts.filter(({ judged }) => judged >= drawn);
    const estimate = (rate: typeof passAtN) =>
      estimateScore(Float64Array.from(rows, ({ judged, passed }) => rate(judged, passed, drawn)));
    const anyPasses = estimate(passAtN);
    const allPass = estimate(passAllN);
    return anyPasses && allPass ? [{ repeats: drawn, anyPasses, allPass }] : [];
  });
}

interface Comparison {
  readonly confidence: number;
  readonly rowsPlanned: number | null;
}

function verdictOf(measure: Measure, interval: Interval | null): Verdict {
  if (!interval || (interval[0] <= 0 && interval[1] >= 0)) return 'unclear';
  const isHigher = interval[0] > 0;
  return isHigher === (measure === 'passRate' || measure === 'score') ? 'better' : 'worse';
}

/** By row. The means of equal repeats in another order differ by what was rounded. */
function deviationsOf(values: Float64Array, others: Float64Array): Float64Array {
  return values.map((value, row) => {
    const deviation = value - others[row]!;
    return Math.abs(deviation) <= Math.abs(value) * 1e-12 ? 0 : deviation;
  });
}

function differenceOf(measure: Measure, variant: RowValues, baseline: RowValues, comparison: Comparison): Difference {
  const { confidence, rowsPlanned } = comparison;
  const deviations = present(deviationsOf(variant[measure], baseline[measure]));
  const rows = deviations.length;
  let estimate = 0;
  let interval: Interval | null = null;
  let needed: number | null = null;
  if (measure === 'passRate') {
    const onlyVariant = deviations.filter((value) => value > 0).length;
    const onlyBaseline = deviations.filter((value) => value < 0).length;
    estimate = rows === 0 ? 0 : (onlyVariant - onlyBaseline) / rows;
    interval = pairedDifferenceInterval({ onlyVariant, onlyBaseline, rows }, confidence);
    needed = rowsForRates(estimate, (onlyVariant + onlyBaseline) / rows, confidence);
  } else {
    const bounds: Interval = measure === 'score' ? [-1, 1] : [-Infinity, Infinity];
    const found = estimateDifference(deviations, { confidence, bounds });
    estimate = found?.mean ?? 0;
    interval = found?.interval ?? null;
    needed = found && rowsForMeans(estimate, found.standardDeviation, confidence);
  }
  const verdict = verdictOf(measure, interval);
  const rowsNeeded = verdict === 'unclear' && needed !== null ? Math.max(needed, rows + 1) : null;
  const finding = { measure, name: variant.name, estimate, interval, verdict, rows, rowsPlanned, rowsNeeded };
  return { estimate, interval, verdict, rows, rowsNeeded, sentence: describeDifference(finding) };
}

/**
 * What the cells of a comparison tell. Each row counts once, however many repeats it has: repeats of a row are alike, so counting them
 * as rows would make every interval too narrow. Differences are paired by row, and their intervals hold together for all variants
 * (Bonferroni). A variant of 10,000 rows takes some milliseconds, one of 1,000 rows up to 100 ms.
 */
export function compareVariants({
  variants,
  baseline,
  repeats,
  rowsPlanned,
  ...options
}: ComparedCells): VariantReport[] {
  const { differencesShown = variants.length - 1 } = options;
  const confidence = 1 - (1 - defaultConfidence) / Math.max(differencesShown, 1);
  const values = variants.map((variant) => rowValuesOf(variant, repeats));
  return variants.map((variant, index) => {
    const own = values[index]!;
    const judged = present(own.passRate);
    const passes = judged.reduce((sum, pass) => sum + pass, 0);
    const costs = present(variant.costs);
    const cost = estimateMean(present(own.cost));
    const sorted = present(variant.latencies).sort();
    const latency = estimateMean(present(own.latency));
    const against = (measure: Measure) => differenceOf(measure, own, values[baseline]!, { confidence, rowsPlanned });
    return {
      name: variant.name,
      passRate: judged.length === 0 ? null : passes / judged.length,
      interval: wilsonInterval(passes, judged.length),
      passes,
      rows: judged.length,
      repeatRates: repeatRatesOf(variant.passes, repeats),
      score: estimateScore(present(own.score)),
      cost: cost && { ...cost, total: costs.reduce((sum, value) => sum + value, 0) },
      latency: latency && { ...latency, p50: percentile(sorted, 0.5)!, p95: percentile(sorted, 0.95)! },
      differences:
        index === baseline
          ? null
          : {
              passRate: against('passRate'),
              score: against('score'),
              cost: against('cost'),
              latency: against('latency'),
            },
    };
  });
}
