import { normalMargin } from './distributions.ts';

/** Both ends of a confidence interval. */
export type Interval = readonly [low: number, high: number];

export const defaultConfidence = 0.95;

export function clamp(value: number, [low, high]: Interval): number {
  return Math.min(Math.max(value, low), high);
}

/**
 * The score interval of a rate. Null without rows.
 *
 * E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference. Journal of the American Statistical
 * Association 22, 209-212.
 */
export function wilsonInterval(passes: number, rows: number, confidence = defaultConfidence): Interval | null {
  if (rows === 0) return null;
  const squared = normalMargin(confidence) ** 2;
  const rate = passes / rows;
  const centre = rate + squared / (2 * rows);
  const margin = Math.sqrt(squared * ((rate * (1 - rate)) / rows + squared / (4 * rows ** 2)));
  const scale = 1 + squared / rows;
  // Rounding may miss the ends by 1e-17.
  const low = passes === 0 ? 0 : (centre - margin) / scale;
  const high = passes === rows ? 1 : (centre + margin) / scale;
  return [low, high];
}

/** How many rows only one of two variants passed, out of the rows that both ran. */
export interface PairedPasses {
  readonly onlyVariant: number;
  readonly onlyBaseline: number;
  readonly rows: number;
}

/** The score statistic for the hypothesis that the variant is better by `difference`. It falls as `difference` grows. */
function scoreStatistic({ onlyVariant, onlyBaseline, rows }: PairedPasses, difference: number): number {
  const b = (2 * rows + onlyBaseline - onlyVariant) * difference - onlyVariant - onlyBaseline;
  const c = -onlyBaseline * difference * (1 - difference);
  // The likeliest share of rows that only the baseline passes, if the hypothesis holds.
  const share = (Math.sqrt(Math.max(b ** 2 - 8 * rows * c, 0)) - b) / (4 * rows);
  const variance = rows * (2 * share + difference * (1 - difference));
  const distance = onlyVariant - onlyBaseline - rows * difference;
  return variance > 0 ? distance / Math.sqrt(variance) : Math.sign(distance) * Infinity;
}

/** Halves the range until it can't be halved: `inside` and `outside` are the two sides of an end of the interval. */
function bisect(inside: number, outside: number, isInside: (difference: number) => boolean): number {
  for (let step = 0; step < 100; step += 1) {
    const middle = (inside + outside) / 2;
    if (middle === inside || middle === outside) break;
    if (isInside(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

/**
 * The score interval of the difference of two paired rates. It excludes 0 exactly if McNemar's test is significant. Null without rows.
 *
 * T. Tango (1998), Equivalence test and confidence interval for the difference in proportions for the paired-sample design. Statistics
 * in Medicine 17, 891-908.
 */
export function pairedDifferenceInterval(passes: PairedPasses, confidence = defaultConfidence): Interval | null {
  const { onlyVariant, onlyBaseline, rows } = passes;
  if (rows === 0) return null;
  const margin = normalMargin(confidence);
  const estimate = (onlyVariant - onlyBaseline) / rows;
  const isInside = (difference: number) => Math.abs(scoreStatistic(passes, difference)) <= margin;
  return [
    onlyBaseline === rows ? -1 : bisect(estimate, -1, isInside),
    onlyVariant === rows ? 1 : bisect(estimate, 1, isInside),
  ];
}
