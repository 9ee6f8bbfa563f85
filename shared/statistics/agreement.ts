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
