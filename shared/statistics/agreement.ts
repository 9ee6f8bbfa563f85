import { measureDisagreement } from './alpha.ts';
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
  if (pairs.length === 0) return null;
  const labels = [...new Set(pairs.flat())].toSorted();
  return agreementOfMatrix(labels, countPairs(pairs, labels), confidence);
}

/** Rows by the labels of both. A label that is not in `labels` is not counted. */
export function countPairs(pairs: readonly (readonly [string, string])[], labels: readonly string[]): number[][] {
  const indexes = new Map(labels.map((label, index) => [label, index]));
  const matrix = labels.map(() => labels.map(() => 0));
  for (const [one, other] of pairs) {
    const row = indexes.get(one);
    const column = indexes.get(other);
    if (row !== undefined && column !== undefined) matrix[row]![column]! += 1;
  }
  return matrix;
}

/** As `measureAgreement`, of counted rows: `matrix[i][j]` rows have `labels[i]` from the first and `labels[j]` from the second. */
export function agreementOfMatrix(
  labels: readonly string[],
  matrix: readonly (readonly number[])[],
  confidence = defaultConfidence,
): Agreement | null {
  const rows = matrix.flat().reduce((sum, count) => sum + count, 0);
  if (rows === 0) return null;
  const same = matrix.reduce((sum, row, index) => sum + row[index]!, 0);
  const share = same / rows;
  const shareInterval = wilsonInterval(same, rows, confidence)!;
  const expected = expectedAgreement(matrix, rows);
  const toKappa = (value: number) => Math.max((value - expected) / (1 - expected), -1);
  // With one and the same label everywhere, the products of shares sum to exactly 1.
  const hasKappa = expected < 1;
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
  /** Share of the pairs of labels of one row that are equal; each row counts by its labels, not by its pairs. */
  readonly share: number;
  /** That of Wilson, as if each row were one pair. */
  readonly shareInterval: Interval;
  /** Krippendorff's alpha: 1 for full agreement, 0 for agreement by chance; null if everyone gave one and the same label. */
  readonly alpha: number | null;
  readonly interval: Interval | null;
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
  const found = measureDisagreement(rows, 'nominal');
  if (!found) return null;
  const share = 1 - found.observed;
  const [low, high] = wilsonInterval(share * found.items, found.items, confidence)!;
  const toAlpha = (value: number) => Math.max(1 - (1 - value) / found.expected, -1);
  const hasAlpha = found.expected > 0;
  return {
    rows: found.items,
    share,
    shareInterval: [low, high],
    alpha: hasAlpha ? toAlpha(share) : null,
    interval: hasAlpha ? [toAlpha(low), toAlpha(high)] : null,
  };
}
