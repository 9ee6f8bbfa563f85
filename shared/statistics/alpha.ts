import { createSeededRandom } from '../seeded-random.ts';
import { defaultConfidence, type Interval, wilsonInterval } from './proportions.ts';
import { percentile } from './repeats.ts';

/**
 * What the distance of two values means. `nominal`: they are equal or not, as for categories. `ordinal`: how many ratings are between
 * them. `interval`: their difference. The last two need numbers.
 */
export type Level = 'nominal' | 'ordinal' | 'interval';

export type RatingValue = string | number;

export interface AlphaOptions {
  readonly confidence?: number;
  /** The same ratings and the same seed always give the same interval. */
  readonly seed?: number;
}

export interface Alpha {
  /** Items with at least two ratings; others say nothing about agreement. */
  readonly items: number;
  /** Ratings of these items. */
  readonly ratings: number;
  /** 1 for full agreement, 0 for agreement by chance, down to -1 for systematic disagreement. Null with a reason. */
  readonly alpha: number | null;
  readonly interval: Interval | null;
  /** Why there is no alpha or no interval, as a sentence. */
  readonly reason: string | null;
}

/** What the ratings differ by: within items, and if the ratings were dealt to the items by chance. */
export interface Disagreement {
  readonly items: number;
  readonly ratings: number;
  readonly observed: number;
  readonly expected: number;
}

const maxResamples = 1000;
const minResamples = 100;
/** Values of items that all resamples read together. 10,000 items with 50 ratings take about a second. */
const maxValuesRead = 200_000_000;

/** The ratings of all items as counts of each value: item `i` has the entries from `starts[i]` to before `starts[i + 1]`. */
interface Counts {
  readonly values: readonly RatingValue[];
  readonly starts: Int32Array;
  readonly codes: Int32Array;
  readonly counts: Int32Array;
  /** Ratings of each item. */
  readonly sizes: Int32Array;
}

function countValues(items: readonly (readonly RatingValue[])[], level: Level): Counts {
  const rated = items.filter(({ length }) => length >= 2);
  const values = [...new Set(rated.flat())];
  if (level !== 'nominal') (values as number[]).sort((one, other) => one - other);
  const codeOf = new Map(values.map((value, code) => [value, code]));
  const starts = new Int32Array(rated.length + 1);
  const codes: number[] = [];
  const counts: number[] = [];
  for (const [index, ratings] of rated.entries()) {
    const found = new Map<number, number>();
    for (const value of ratings) found.set(codeOf.get(value)!, (found.get(codeOf.get(value)!) ?? 0) + 1);
    for (const [code, count] of found) {
      codes.push(code);
      counts.push(count);
    }
    starts[index + 1] = codes.length;
  }
  return {
    values,
    starts,
    codes: Int32Array.from(codes),
    counts: Int32Array.from(counts),
    sizes: Int32Array.from(rated, ({ length }) => length),
  };
}

/** How often each value occurs, if each item occurs as often as its weight says. */
function marginsOf({ values, starts, codes, counts, sizes }: Counts, weights: Int32Array): Float64Array {
  const margins = new Float64Array(values.length);
  for (let item = 0; item < sizes.length; item += 1) {
    const weight = weights[item]!;
    if (weight === 0) continue;
    for (let at = starts[item]!; at < starts[item + 1]!; at += 1) margins[codes[at]!]! += weight * counts[at]!;
  }
  return margins;
}

/**
 * A number for each value, so that the squared difference of two is their distance. Around the mean, since the difference of two large
 * sums would be rounded to nothing.
 */
function positionsOf(values: readonly RatingValue[], margins: Float64Array, level: Level, total: number): Float64Array {
  const positions = new Float64Array(values.length);
  let below = 0;
  let sum = 0;
  for (let code = 0; code < positions.length; code += 1) {
    positions[code] = level === 'ordinal' ? below + margins[code]! / 2 : (values[code] as number);
    below += margins[code]!;
    sum += margins[code]! * positions[code]!;
  }
  return positions.map((position) => position - sum / total);
}

/** The sum of the distances of all ordered pairs of ratings of one item, for each way to measure a distance. */
function distancesWithin(counted: Counts, item: number, positions: Float64Array | null): number {
  const { starts, codes, counts, sizes } = counted;
  const size = sizes[item]!;
  const end = starts[item + 1]!;
  let sum = 0;
  if (!positions) {
    for (let at = starts[item]!; at < end; at += 1) sum += counts[at]! * (size - counts[at]!);
    return sum;
  }
  for (let at = starts[item]!; at < end; at += 1) sum += counts[at]! * positions[codes[at]!]!;
  const mean = sum / size;
  let squares = 0;
  for (let at = starts[item]!; at < end; at += 1) squares += counts[at]! * (positions[codes[at]!]! - mean) ** 2;
  return 2 * size * squares;
}

function disagreementOf(counted: Counts, level: Level, weights: Int32Array): Disagreement {
  const { sizes, starts, values } = counted;
  const margins = marginsOf(counted, weights);
  const total = margins.reduce((sum, count) => sum + count, 0);
  const positions = level === 'nominal' ? null : positionsOf(values, margins, level, total);
  let within = 0;
  for (let item = 0; item < sizes.length; item += 1) {
    // An item with one value has no distances.
    if (weights[item] === 0 || starts[item + 1] === starts[item]! + 1) continue;
    within += (weights[item]! * distancesWithin(counted, item, positions)) / (sizes[item]! - 1);
  }
  let between = 0;
  for (const [code, count] of margins.entries()) {
    between += positions ? 2 * total * count * positions[code]! ** 2 : count * (total - count);
  }
  const expected = margins.filter((count) => count > 0).length < 2 ? 0 : between / (total * (total - 1));
  return { items: sizes.length, ratings: total, observed: within / total, expected };
}

/** Null without an item that has two ratings. */
export function measureDisagreement(items: readonly (readonly RatingValue[])[], level: Level): Disagreement | null {
  const counted = countValues(items, level);
  if (counted.sizes.length === 0) return null;
  return disagreementOf(counted, level, new Int32Array(counted.sizes.length).fill(1));
}

/** Alphas of resampled items, in ascending order. Resamples in which all ratings are the same have none. */
function resampledAlphas(counted: Counts, level: Level, seed: number): Float64Array {
  const random = createSeededRandom(seed).next;
  const { length } = counted.sizes;
  const allowed = Math.floor(maxValuesRead / (2 * counted.codes.length));
  const resamples = Math.min(Math.max(allowed, minResamples), maxResamples);
  const alphas = new Float64Array(resamples);
  let found = 0;
  for (let resample = 0; resample < resamples; resample += 1) {
    const weights = new Int32Array(length);
    for (let draw = 0; draw < length; draw += 1) weights[Math.floor(random() * length)]! += 1;
    const { observed, expected } = disagreementOf(counted, level, weights);
    if (expected > 0) alphas[found++] = Math.max(1 - observed / expected, -1);
  }
  return alphas.subarray(0, found).sort();
}

/** If all items are agreed on, up to the Wilson bound of the items may not be: they then differ as two different ratings do on average. */
function intervalOfFullAgreement(counted: Counts, confidence: number): Interval {
  const { expected } = disagreementOf(counted, 'nominal', new Int32Array(counted.sizes.length).fill(1));
  const [low] = wilsonInterval(counted.sizes.length, counted.sizes.length, confidence)!;
  return [Math.max(1 - (1 - low) / expected, -1), 1];
}

/**
 * Krippendorff's alpha: how far any number of people agree on the same items, compared with chance. Not everyone needs to rate every
 * item. `items` has the ratings of each item. The interval is the percentile bootstrap over items; for full agreement, which has no
 * spread to resample, it is that of Wilson. Work is bounded: with many ratings there are fewer resamples, at least 100.
 *
 * K. Krippendorff (2011), Computing Krippendorff's alpha-reliability. Annenberg School for Communication, University of Pennsylvania.
 * The bootstrap: B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, section 13.3, with whole items as the units.
 */
export function measureAlpha(
  items: readonly (readonly RatingValue[])[],
  level: Level,
  { confidence = defaultConfidence, seed = 1 }: AlphaOptions = {},
): Alpha {
  const counted = countValues(items, level);
  const { sizes } = counted;
  const { length } = sizes;
  const nothing = { items: length, ratings: 0, alpha: null, interval: null };
  if (length === 0) return { ...nothing, reason: 'No item has two ratings yet.' };
  if (level !== 'nominal' && !counted.values.every((value) => Number.isFinite(value))) {
    return { ...nothing, reason: 'Some ratings are not numbers.' };
  }
  const { observed, expected, ratings } = disagreementOf(counted, level, new Int32Array(length).fill(1));
  if (expected === 0) {
    const reason = 'All ratings are the same, so agreement can’t be told from chance.';
    return { ...nothing, ratings, reason };
  }
  const found = { items: length, ratings, alpha: Math.max(1 - observed / expected, -1) };
  if (length === 1) return { ...found, interval: null, reason: 'One item is too few for an interval.' };
  if (observed === 0) return { ...found, interval: intervalOfFullAgreement(counted, confidence), reason: null };
  const alphas = resampledAlphas(counted, level, seed);
  const low = percentile(alphas, 0.5 - confidence / 2);
  const high = percentile(alphas, 0.5 + confidence / 2);
  if (low === null || high === null) return { ...found, interval: null, reason: 'Too few items for an interval.' };
  return { ...found, interval: [Math.min(low, found.alpha), Math.max(high, found.alpha)], reason: null };
}
