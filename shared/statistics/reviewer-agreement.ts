import { type Agreement, agreementOfMatrix, measureReliability } from './agreement.ts';
import { type Alpha, type AlphaOptions, type Level, measureAlpha, type RatingValue } from './alpha.ts';
import { defaultConfidence, type Interval } from './proportions.ts';

/** The ratings of one item by who gave them: reviewers, and where wanted a model judge or a threshold under its own name. */
export type RatedItem = ReadonlyMap<string, RatingValue>;

/** A figure, or why there is none, as a sentence. */
export interface Figure {
  readonly value: number | null;
  readonly interval: Interval | null;
  readonly reason: string | null;
}

/** Two who rated the same items. */
export interface PairAgreement {
  readonly raters: readonly [string, string];
  readonly items: number;
  readonly percent: Figure;
  /** Cohen's kappa. */
  readonly kappa: Figure;
  /** The values in the given order; `matrix[i][j]` items have `values[i]` from the first rater and `values[j]` from the second. */
  readonly values: readonly string[];
  readonly matrix: readonly (readonly number[])[];
}

export interface ReviewerAgreement {
  /** Items with at least two ratings. */
  readonly items: number;
  readonly raters: readonly string[];
  /** Share of the pairs of ratings of one item that are equal, from 0 to 1: Krippendorff's observed agreement, with the interval of Wilson. */
  readonly percent: Figure;
  /** Of the two raters; for more the mean of the pairs without an interval (R. J. Light, 1971, Psychological Bulletin 76, 365-377). */
  readonly kappa: Figure;
  /** Krippendorff's alpha with its bootstrap interval. */
  readonly alpha: Figure;
  readonly values: readonly string[];
  /** The sum over all pairs, each with the rater whose name is first in the rows; null if there are no pairs or too many values. */
  readonly matrix: readonly (readonly number[])[] | null;
  /** All who share an item, most shared items first, at most `maxPairs`. */
  readonly pairs: readonly PairAgreement[];
}

/** More values don't fit into a matrix that a person can read, and thousands wouldn't fit into memory. */
export const maxMatrixValues = 50;
export const maxPairs = 200;

const tooManyValues = `More than ${maxMatrixValues} different ratings.`;
const noPairs = 'No item has two ratings yet.';
const oneValue = 'All ratings are the same, so agreement can’t be told from chance.';

interface CountedPair {
  readonly raters: readonly [string, string];
  readonly matrix: number[][];
  items: number;
}

function kappaOf({ kappa, interval }: Agreement): Figure {
  return { value: kappa, interval, reason: kappa === null ? oneValue : null };
}

function toPair({ raters, matrix, items }: CountedPair, values: readonly string[], confidence: number): PairAgreement {
  const agreement = agreementOfMatrix(values, matrix, confidence)!;
  const percent = { value: agreement.share, interval: agreement.shareInterval, reason: null };
  return { raters, items, percent, kappa: kappaOf(agreement), values, matrix };
}

/** The values in the given order, then others, which an older version of the rubric may have had. */
function orderedValues(items: readonly RatedItem[], order: readonly RatingValue[]): string[] {
  const known = new Set(order);
  const found = new Set(items.flatMap((item) => [...item.values()]));
  const others = [...found]
    .filter((value) => !known.has(value))
    .toSorted((one, other) =>
      typeof one === 'number' && typeof other === 'number' ? one - other : String(one) < String(other) ? -1 : 1,
    );
  return [...order, ...others].map(String);
}

function countPairs(items: readonly RatedItem[], raters: readonly string[], values: readonly string[]): CountedPair[] {
  const indexOf = new Map(values.map((value, index) => [value, index]));
  const pairs: CountedPair[] = [];
  // By the numbers of both raters; most pairs of many raters share no item.
  const pairOf: (CountedPair | undefined)[][] = raters.map(() => []);
  const numberOf = new Map(raters.map((rater, number) => [rater, number]));
  for (const item of items) {
    const ratings = [...item].map(([rater, value]) => ({
      rater: numberOf.get(rater)!,
      index: indexOf.get(String(value))!,
    }));
    ratings.sort((one, other) => one.rater - other.rater);
    for (let first = 0; first < ratings.length; first += 1) {
      for (let second = first + 1; second < ratings.length; second += 1) {
        const [one, other] = [ratings[first]!, ratings[second]!];
        let pair = pairOf[one.rater]![other.rater];
        if (!pair) {
          const matrix = values.map(() => values.map(() => 0));
          pair = { raters: [raters[one.rater]!, raters[other.rater]!], items: 0, matrix };
          pairOf[one.rater]![other.rater] = pair;
          pairs.push(pair);
        }
        pair.items += 1;
        pair.matrix[one.index]![other.index]! += 1;
      }
    }
  }
  return pairs;
}

function overallKappa(pairs: readonly PairAgreement[], values: readonly string[]): Figure {
  const none = (reason: string) => ({ value: null, interval: null, reason });
  if (values.length > maxMatrixValues) return none(tooManyValues);
  if (pairs.length === 0) return none(noPairs);
  if (pairs.length === 1) return pairs[0]!.kappa;
  const kappas = pairs.flatMap(({ kappa }) => kappa.value ?? []);
  if (kappas.length === 0) return none(oneValue);
  return { value: kappas.reduce((sum, kappa) => sum + kappa, 0) / kappas.length, interval: null, reason: null };
}

function sumOf(pairs: readonly CountedPair[], values: readonly string[]): number[][] | null {
  if (pairs.length === 0) return null;
  return values.map((_, row) =>
    values.map((_value, column) => pairs.reduce((sum, { matrix }) => sum + matrix[row]![column]!, 0)),
  );
}

/**
 * How far reviewers agree on one rubric item: percent, Cohen's kappa, Krippendorff's alpha, and each pair of them with its matrix. Not
 * everyone needs to rate every item; leave out who skipped it. `order` has the values of the rubric item. The sources are at
 * `measureAgreement` and `measureAlpha`.
 */
export function measureReviewers(
  items: readonly RatedItem[],
  level: Level,
  { order = [], confidence = defaultConfidence, seed }: AlphaOptions & { readonly order?: readonly RatingValue[] } = {},
): ReviewerAgreement {
  const ratings = items.map((item) => [...item.values()]);
  const reliability = measureReliability(
    ratings.map((row) => row.map(String)),
    confidence,
  );
  const alpha: Alpha = measureAlpha(ratings, level, seed === undefined ? { confidence } : { confidence, seed });
  const raters = [...new Set(items.flatMap((item) => [...item.keys()]))].toSorted();
  const values = orderedValues(items, order);
  const counted = values.length > maxMatrixValues ? [] : countPairs(items, raters, values);
  counted.sort((one, other) => other.items - one.items);
  const pairs = counted.map((pair) => toPair(pair, values, confidence));
  const noPercent = { value: null, interval: null, reason: noPairs };
  return {
    items: alpha.items,
    raters,
    percent: reliability ? { value: reliability.share, interval: reliability.shareInterval, reason: null } : noPercent,
    kappa: overallKappa(pairs, values),
    alpha: { value: alpha.alpha, interval: alpha.interval, reason: alpha.reason },
    values,
    matrix: sumOf(counted, values),
    pairs: pairs.slice(0, maxPairs),
  };
}

/** Two raters of the same items, such as a reviewer and the model judge. Null if no item has ratings of both. */
export function compareRaters(
  items: readonly RatedItem[],
  raters: readonly [string, string],
  { order = [], confidence = defaultConfidence }: { order?: readonly RatingValue[]; confidence?: number } = {},
): PairAgreement | null {
  const shared = items.flatMap((item): RatedItem[] => {
    const [one, other] = raters.map((rater) => item.get(rater));
    return one === undefined || other === undefined
      ? []
      : [
          new Map([
            [raters[0], one],
            [raters[1], other],
          ]),
        ];
  });
  const values = orderedValues(shared, order);
  if (shared.length === 0 || values.length > maxMatrixValues) return null;
  return toPair(countPairs(shared, raters, values)[0]!, values, confidence);
}
