import { categories, type Category } from '../../shared/contract/moderation.ts';
import { scoreOfSum } from '../../electron/moderation/linear-model.ts';
import type { LabelledText } from './corpus.ts';
import { drawFolds, foldCount } from './folds.ts';
import { atThreshold, type Scored } from './metrics.ts';
import { calibrate, hyperparameters, isBenign, textSum, trainHead, weighTexts, type FeatureSpace } from './training.ts';

/** Most of our own benign sentences that one category may flag falsely. Texts differ in what is wrong with them, so that all five
    together stay near 2 %. */
const falseFlagShare = 0.005;

export interface ValidatedCategory {
  readonly slope: number;
  readonly offset: number;
  readonly threshold: number;
  /** Calibrated scores of the given half's texts, each by a model that saw neither the text nor a near-duplicate. */
  readonly scores: readonly number[];
  /** Calibrated scores of our own sentences, in the same way. */
  readonly ownScores: readonly number[];
}

/** The threshold with the best F1 that is no lower than `least`. */
function bestThreshold(scored: readonly Scored[], least: number): number {
  const candidates = [...new Set(scored.map(({ score }) => score))].filter((score) => score >= least);
  let best = { threshold: least, f1: atThreshold(scored, least).f1 };
  for (const threshold of candidates) {
    const { f1 } = atThreshold(scored, threshold);
    if (f1 > best.f1) best = { threshold, f1 };
  }
  return best.threshold;
}

function benignBound(scores: readonly number[]): number {
  const sorted = scores.toSorted((a, b) => b - a);
  return (sorted[Math.floor(sorted.length * falseFlagShare)] ?? 0) + 0.001;
}

/** Pairs of score and label, of the texts whose label is known. */
export function withLabels(texts: readonly LabelledText[], scores: readonly number[], category: Category): Scored[] {
  return texts.flatMap(({ labels }, index) => {
    const isPositive = labels[category];
    return isPositive === undefined ? [] : [{ score: scores[index]!, isPositive }];
  });
}

function validateCategory(
  category: Category,
  given: readonly LabelledText[],
  own: readonly LabelledText[],
  space: FeatureSpace,
): ValidatedCategory {
  const folds = drawFolds([...given, ...own], hyperparameters.seed);
  const all = weighTexts(given, own);
  const sums = all.map(() => 0);
  for (let fold = 0; fold < foldCount; fold += 1) {
    const head = trainHead(
      category,
      all.filter((_, index) => folds[index] !== fold),
      space,
    );
    for (const [index, { text }] of all.entries()) {
      if (folds[index] === fold) sums[index] = textSum(head, space.windowsOf(text));
    }
  }
  const calibration = calibrate(withLabels(given, sums, category));
  const scores = sums.map((sum) => scoreOfSum(calibration, sum));
  const ownScores = scores.slice(given.length);
  const bound = benignBound(ownScores.filter((_, index) => isBenign(own[index]!)));
  const threshold = Math.round(bestThreshold(withLabels(given, scores, category), bound) * 1000) / 1000;
  return { ...calibration, threshold, scores: scores.slice(0, given.length), ownScores };
}

/** Five-fold cross-validation, grouped by near-duplicates; our own sentences are split in the same way. */
export function crossValidate(
  given: readonly LabelledText[],
  own: readonly LabelledText[],
  space: FeatureSpace,
): Record<Category, ValidatedCategory> {
  return Object.fromEntries(
    categories.map((category) => [category, validateCategory(category, given, own, space)]),
  ) as Record<Category, ValidatedCategory>;
}
