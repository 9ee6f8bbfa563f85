import { clamp, defaultConfidence, type Interval, wilsonInterval } from './proportions.ts';

/** A part of the population that was sampled separately, such as all flagged items, or one model. */
export interface Stratum {
  /** Items that the filter found in this part. */
  readonly population: number;
  /** Of them, sampled and rated. */
  readonly rated: number;
  /** Of the rated, those with the value whose share is wanted. */
  readonly matching: number;
}

export interface PopulationShare {
  readonly share: number;
  /** How many items of the population, `share` of it. */
  readonly items: number;
  readonly interval: Interval;
}

/**
 * The share in a population of which each part was sampled at its own rate, with an interval that shrinks to nothing as all is rated.
 * Null if a part with items has no rating, because nothing is known about it, and for an empty population.
 *
 * The stratified mean with the finite population correction: W. G. Cochran (1977), Sampling Techniques, third edition, sections 5.3 and
 * 5.4. The interval is Wilson's for the effective sample size: E. L. Korn, B. I. Graubard (1998), Confidence intervals for proportions with
 * small expected number of positive counts estimated from survey data. Survey Methodology 24, 193-201.
 */
export function estimatePopulationShare(
  strata: readonly Stratum[],
  confidence = defaultConfidence,
): PopulationShare | null {
  const parts = strata.filter(({ population }) => population > 0);
  if (parts.length === 0 || parts.some(({ rated }) => rated === 0)) return null;
  const total = parts.reduce((sum, { population }) => sum + population, 0);
  const share = parts.reduce(
    (sum, { population, rated, matching }) => sum + (population / total) * (matching / rated),
    0,
  );
  if (parts.every(({ population, rated }) => rated >= population)) {
    return { share, items: Math.round(share * total), interval: [share, share] };
  }
  // A part in which all or none match would have no variance: Jeffreys adds half an item of each.
  const smoothed = parts.map(({ rated, matching }) => (matching + 0.5) / (rated + 1));
  const rate = parts.reduce((sum, { population }, part) => sum + (population / total) * smoothed[part]!, 0);
  const variance = parts.reduce((sum, { population, rated }, part) => {
    const spread = (smoothed[part]! * (1 - smoothed[part]!)) / rated;
    return sum + (population / total) ** 2 * Math.max(1 - rated / population, 0) * spread;
  }, 0);
  const size = (rate * (1 - rate)) / variance;
  const bounds: Interval = [0, 1];
  const [low, high] = wilsonInterval(share * size, size, confidence)!;
  return { share, items: Math.round(share * total), interval: [clamp(low, bounds), clamp(high, bounds)] };
}
