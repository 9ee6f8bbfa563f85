import { createSeededRandom } from '../seeded-random.ts';
import { studentMargin } from './distributions.ts';
import { clamp, defaultConfidence, type Interval, wilsonInterval } from './proportions.ts';
import { percentile } from './repeats.ts';

export interface DifferenceOptions {
  readonly confidence?: number;
  /** What a difference can be, such as -1 to 1 for scores. */
  readonly bounds?: Interval;
}

export interface MeanEstimate {
  readonly mean: number;
  /** Null for fewer than two rows. */
  readonly interval: Interval | null;
  readonly standardDeviation: number;
  readonly rows: number;
}

/** With more rows, the interval of Student's t differs by less than the resampling does, and takes a thousandth of the time. */
const maxResampledRows = 1000;
const resamples = 2000;
/** A resample of almost equal rows has almost no standard error and would be infinitely many of them away. */
const maxStudentMargins = 3;
/** The same rows always get the same interval. */
const seed = 1;

interface Moments {
  readonly mean: number;
  readonly standardDeviation: number;
}

function momentsOf(values: Float64Array): Moments {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  const standardDeviation = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0;
  // The sum of equal values is rounded.
  return { mean, standardDeviation: standardDeviation <= Math.abs(mean) * 1e-12 ? 0 : standardDeviation };
}

/** How many standard errors each resampled mean is from the mean of the rows, in ascending order. */
function resampledDistances(values: Float64Array, { mean }: Moments): Float64Array {
  const random = createSeededRandom(seed).next;
  const count = values.length;
  const distances = new Float64Array(resamples);
  let found = 0;
  for (let resample = 0; resample < resamples; resample += 1) {
    let sum = 0;
    let squares = 0;
    for (let draw = 0; draw < count; draw += 1) {
      const deviation = values[Math.floor(random() * count)]! - mean;
      sum += deviation;
      squares += deviation ** 2;
    }
    const variance = (squares - sum ** 2 / count) / (count - 1);
    // A resample that repeats one row has no standard error.
    if (variance > 0) distances[found++] = sum / Math.sqrt(count * variance);
  }
  return distances.subarray(0, found).sort();
}

interface Distances {
  readonly below: number;
  readonly above: number;
}

/** How many standard errors the interval reaches below and above the mean. */
function resampledMargins(values: Float64Array, moments: Moments, confidence: number): Distances {
  const student = studentMargin(confidence, values.length - 1);
  if (values.length > maxResampledRows) return { below: student, above: student };
  const distances = resampledDistances(values, moments);
  const limits: Interval = [student, maxStudentMargins * student];
  return {
    below: clamp(percentile(distances, 0.5 + confidence / 2) ?? 0, limits),
    above: clamp(-(percentile(distances, 0.5 - confidence / 2) ?? 0), limits),
  };
}

/**
 * The mean of values without an upper bound, such as costs and latencies, one per row. The interval is a studentized bootstrap, which
 * unlike the percentile bootstrap and BCa keeps most of its coverage for few rows of skewed values; it is never narrower than that of
 * Student's t.
 *
 * B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, section 12.5; T. C. Hesterberg (2015), What teachers should know
 * about the bootstrap. The American Statistician 69, 371-386.
 */
export function estimateMean(values: Float64Array, confidence = defaultConfidence): MeanEstimate | null {
  const rows = values.length;
  if (rows === 0) return null;
  const moments = momentsOf(values);
  const { mean, standardDeviation } = moments;
  if (rows === 1) return { mean, interval: null, standardDeviation, rows };
  const error = standardDeviation / Math.sqrt(rows);
  const { below, above } =
    standardDeviation === 0 ? { below: 0, above: 0 } : resampledMargins(values, moments, confidence);
  return { mean, interval: [Math.max(mean - below * error, 0), mean + above * error], standardDeviation, rows };
}

/**
 * The mean of differences, one per row, with the interval of Student's t. Differences are nearly symmetric even where the values are
 * skewed, and resampling them covers less.
 *
 * Student (1908), The probable error of a mean. Biometrika 6, 1-25.
 */
export function estimateDifference(
  differences: Float64Array,
  { confidence = defaultConfidence, bounds = [-Infinity, Infinity] }: DifferenceOptions = {},
): MeanEstimate | null {
  const rows = differences.length;
  if (rows === 0) return null;
  const { mean, standardDeviation } = momentsOf(differences);
  if (rows === 1) return { mean, interval: null, standardDeviation, rows };
  if (standardDeviation === 0) {
    return { mean, interval: intervalOfEqualRows(mean, rows, confidence, bounds), standardDeviation, rows };
  }
  const margin = (studentMargin(confidence, rows - 1) * standardDeviation) / Math.sqrt(rows);
  return { mean, interval: [clamp(mean - margin, bounds), clamp(mean + margin, bounds)], standardDeviation, rows };
}

/**
 * If all rows have one value, up to the Wilson bound of the rows may have another one: at worst the lowest possible, at best the highest.
 * Values without bounds, such as costs, are taken to be fixed.
 */
function intervalOfEqualRows(value: number, rows: number, confidence: number, [low, high]: Interval): Interval {
  if (!Number.isFinite(high - low)) return [value, value];
  const [, share] = wilsonInterval(0, rows, confidence)!;
  return [value + share * (low - value), value + share * (high - value)];
}

/**
 * The mean of scores or shares from 0 to 1, one per row. The interval is that of Student's t with one row more, half of which is 0 and half
 * 1: many rows have the best score, and then the rows alone show too little spread. For passes and fails it is the prior of Jeffreys.
 *
 * L. D. Brown, T. T. Cai, A. DasGupta (2001), Interval estimation for a binomial proportion. Statistical Science 16, 101-133, extended to
 * scores; its coverage is in `docs/decisions/statistics.md`.
 */
export function estimateScore(values: Float64Array, confidence = defaultConfidence): MeanEstimate | null {
  const rows = values.length;
  if (rows === 0) return null;
  const { mean, standardDeviation } = momentsOf(values);
  const centre = (mean * rows + 0.5) / (rows + 1);
  const squares =
    standardDeviation ** 2 * (rows - 1) + rows * (mean - centre) ** 2 + (centre ** 2 + (1 - centre) ** 2) / 2;
  const margin = studentMargin(confidence, rows) * Math.sqrt(squares / rows / (rows + 1));
  const interval: Interval = [clamp(centre - margin, [0, 1]), clamp(centre + margin, [0, 1])];
  return { mean, interval, standardDeviation, rows };
}
