/** A score with its label; higher scores should mean true. */
export interface Scored {
  readonly score: number;
  readonly isPositive: boolean;
}

const byScoreDescending = (scored: readonly Scored[]) => scored.toSorted((a, b) => b.score - a.score);

/** Area under the precision-recall curve, as average precision; equal scores count as one step. */
export function averagePrecision(scored: readonly Scored[]): number {
  const sorted = byScoreDescending(scored);
  const positives = sorted.filter(({ isPositive }) => isPositive).length;
  let found = 0;
  let area = 0;
  for (let index = 0; index < sorted.length;) {
    let next = index;
    let foundHere = 0;
    while (next < sorted.length && sorted[next]!.score === sorted[index]!.score) {
      if (sorted[next]!.isPositive) foundHere += 1;
      next += 1;
    }
    found += foundHere;
    area += (foundHere / positives) * (found / next);
    index = next;
  }
  return area;
}

/** Probability that a positive has a higher score than a negative; equal scores count half. */
export function areaUnderRoc(scored: readonly Scored[]): number {
  const sorted = byScoreDescending(scored).toReversed();
  const positives = sorted.filter(({ isPositive }) => isPositive).length;
  let below = 0;
  let sum = 0;
  for (let index = 0; index < sorted.length;) {
    let next = index;
    let positivesHere = 0;
    while (next < sorted.length && sorted[next]!.score === sorted[index]!.score) {
      if (sorted[next]!.isPositive) positivesHere += 1;
      next += 1;
    }
    const negativesHere = next - index - positivesHere;
    sum += positivesHere * (below + negativesHere / 2);
    below += negativesHere;
    index = next;
  }
  return sum / (positives * (sorted.length - positives));
}

/**
 * The threshold with the best F-beta, where recall counts `beta` times as much as precision; the highest of equal ones. One pass
 * over the scores, highest first.
 */
export function bestThreshold(scored: readonly Scored[], beta: number): number {
  const sorted = byScoreDescending(scored);
  const positives = sorted.filter(({ isPositive }) => isPositive).length;
  let best = { threshold: 1, value: 0 };
  let hits = 0;
  for (const [index, { score, isPositive }] of sorted.entries()) {
    if (isPositive) hits += 1;
    if (sorted[index + 1]?.score === score) continue;
    const value = ((1 + beta * beta) * hits) / (beta * beta * positives + index + 1);
    if (value > best.value) best = { threshold: score, value };
  }
  return best.threshold;
}

export interface AtThreshold {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** The result of flagging at or above a threshold. */
export function atThreshold(scored: readonly Scored[], threshold: number): AtThreshold {
  const flagged = scored.filter(({ score }) => score >= threshold);
  const hits = flagged.filter(({ isPositive }) => isPositive).length;
  const positives = scored.filter(({ isPositive }) => isPositive).length;
  const precision = flagged.length === 0 ? 0 : hits / flagged.length;
  const recall = positives === 0 ? 0 : hits / positives;
  return { precision, recall, f1: hits === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
