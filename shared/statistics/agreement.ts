import { defaultConfidence, type Interval, wilsonInterval } from './proportions.ts';

export interface Agreement {
  readonly rows: number;
  /** Share of rows with the same label, with its Wilson interval. */
  readonly share: number;
  readonly shareInterval: Interval;
  /** Cohen's kappa; null if both use one and the same label for all rows, because chance alone would then agree. */
  readonly kappa: number | null;
  readonly interval: Interval | null;
  /** Rows by the labels of both, in the order of `labels`. */
  readonly labels: readonly string[];
  readonly matrix: readonly (readonly number[])[];
}

/** The share of rows on which two agree by chance, if each keeps using its labels as often. */
function expectedAgreement(matrix: readonly (readonly number[])[], rows: number): number {
  return matrix.reduce((sum, row, index) => {
    const first = row.reduce((total, count) => total + count, 0);
    const second = matrix.reduce((total, other) => total + other[index]!, 0);
    return sum + (first / rows) * (second / rows);
  }, 0);
}

/**
 * How far two people, or a person and a model, give the same labels to the same rows. Null without rows.
 *
 * J. Cohen (1960), A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 37-46. The interval is that
 * of Wilson for the share of equal labels, with the chance agreement taken as known: the usual standard error of kappa is 0 for perfect
 * agreement, and for 25 rows its interval holds in two of three cases.
 */
export function measureAgreement(
  pairs: readonly (readonly [string, string])[],
  confidence = defaultConfidence,
): Agreement | null {
  const rows = pairs.length;
  if (rows === 0) return null;
  const labels = [...new Set(pairs.flat())].toSorted();
  const matrix = labels.map(() => labels.map(() => 0));
  for (const [one, other] of pairs) matrix[labels.indexOf(one)]![labels.indexOf(other)]! += 1;
  const same = pairs.filter(([one, other]) => one === other).length;
  const share = same / rows;
  const shareInterval = wilsonInterval(same, rows, confidence)!;
  const expected = expectedAgreement(matrix, rows);
  const toKappa = (value: number) => Math.max((value - expected) / (1 - expected), -1);
  const hasKappa = labels.length > 1;
  return {
    rows,
    share,
    shareInterval,
    kappa: hasKappa ? toKappa(share) : null,
    interval: hasKappa ? [toKappa(shareInterval[0]), toKappa(shareInterval[1])] : null,
    labels,
    matrix,
  };
}

export interface Reliability {
  /** Rows with at least two labels. */
  readonly rows: number;
  /** Share of the pairs of labels of one row that are equal. */
  readonly share: number;
  /** Krippendorff's alpha: 1 for full agreement, 0 for agreement by chance; null if everyone gave one and the same label. */
  readonly alpha: number | null;
  readonly interval: Interval | null;
}

function countsOf(labels: readonly string[]): number[] {
  return [...Map.groupBy(labels, (label) => label).values()].map(({ length }) => length);
}

/** Ordered pairs of equal labels. */
function equalPairs(labels: readonly string[]): number {
  return countsOf(labels).reduce((sum, count) => sum + count * (count - 1), 0);
}

/**
 * How far any number of people give the same labels to the same rows; not everyone needs to label every row. `rows` has the labels of
 * each row. Null without a row that has two labels.
 *
 * K. Krippendorff (2011), Computing Krippendorff's alpha-reliability. Annenberg School for Communication, University of Pennsylvania:
 * alpha for nominal data. The interval is that of Wilson for the share of equal pairs, as if each row were one pair, with the chance
 * agreement taken as known: a bootstrap would have no width for full agreement.
 */
export function measureReliability(
  rows: readonly (readonly string[])[],
  confidence = defaultConfidence,
): Reliability | null {
  const rated = rows.filter(({ length }) => length >= 2);
  if (rated.length === 0) return null;
  const labels = rated.flat();
  const { length: total } = labels;
  const share = rated.reduce((sum, row) => sum + equalPairs(row) / (row.length - 1), 0) / total;
  const expected = equalPairs(labels) / (total * (total - 1));
  const [low, high] = wilsonInterval(share * rated.length, rated.length, confidence)!;
  const toAlpha = (value: number) => Math.max(1 - (1 - value) / (1 - expected), -1);
  const hasAlpha = new Set(labels).size > 1;
  return {
    rows: rated.length,
    share,
    alpha: hasAlpha ? toAlpha(share) : null,
    interval: hasAlpha ? [toAlpha(low), toAlpha(high)] : null,
  };
}
