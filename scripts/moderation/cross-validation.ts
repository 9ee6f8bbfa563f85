import { moderationPresets, type Category, type ModerationPreset } from '../../shared/contract/moderation.ts';
import { forEachCategory } from '../../electron/moderation/provider-classifiers.ts';
import { scoreOfSum } from '../../electron/moderation/linear-model.ts';
import type { LabelledText } from './corpus.ts';
import type { FeatureSpace } from './feature-space.ts';
import { drawFolds, foldCount } from './folds.ts';
import { bestThreshold, type Scored } from './metrics.ts';
import { calibrate, hyperparameters, textSums, trainHeads, weighTexts } from './training.ts';

/** How often the folds are redrawn: with 25 to 123 positive texts a figure of one draw has an error of up to .05. */
const repetitions = 3;

/** Weight of recall relative to precision (the beta of F-beta) when a preset's threshold is chosen. */
export const recallWeights: Readonly<Record<ModerationPreset, number>> = { strict: 2, balanced: 1, lenient: 0.5 };

/** A text that is only measured, in the fold of its original. */
export interface Probe {
  readonly text: LabelledText;
  /** Index of its original among our own sentences. */
  readonly source: number;
}

export interface ValidatedCategory {
  readonly slope: number;
  readonly offset: number;
  readonly thresholds: Readonly<Record<ModerationPreset, number>>;
  /** One per draw: calibrated scores of the given half's texts, each by a model that was trained without it and its near-duplicates. */
  readonly scores: readonly (readonly number[])[];
  /** The same for our own sentences and the probes, of the first draw. */
  readonly ownScores: readonly number[];
  readonly probeScores: readonly number[];
}

export interface CrossValidationTexts {
  readonly given: readonly LabelledText[];
  readonly own: readonly LabelledText[];
  readonly probes?: readonly Probe[];
}

type Sums = Readonly<Record<Category, number>>;

/** Sums of one draw, each by heads that were trained without the text and its near-duplicates. */
interface DrawnSums {
  readonly given: readonly Sums[];
  readonly own: readonly Sums[];
  readonly probes: readonly Sums[];
}

/** The best threshold of each preset, rounded down so that its text stays flagged. */
function presetThresholds(scored: readonly Scored[]): Record<ModerationPreset, number> {
  const chosen = moderationPresets.map((preset) => {
    const threshold = bestThreshold(scored, recallWeights[preset]);
    return [preset, Math.floor(threshold * 1000) / 1000] as const;
  });
  return Object.fromEntries(chosen) as Record<ModerationPreset, number>;
}

/** Pairs of score and label for texts with a known label. */
export function withLabels(texts: readonly LabelledText[], scores: readonly number[], category: Category): Scored[] {
  return texts.flatMap(({ labels }, index) => {
    const isPositive = labels[category];
    return isPositive === undefined ? [] : [{ score: scores[index]!, isPositive }];
  });
}

function drawSums({ given, own, probes = [] }: CrossValidationTexts, space: FeatureSpace, seed: number): DrawnSums {
  const folds = drawFolds([...given, ...own], seed);
  const all = weighTexts(given, own);
  const judged = [
    ...all.map(({ text }, index) => ({ text, fold: folds[index]! })),
    ...probes.map(({ text, source }) => ({ text, fold: folds[given.length + source]! })),
  ];
  const sums = new Map<number, Sums>();
  for (let fold = 0; fold < foldCount; fold += 1) {
    const learned = all.filter((_, index) => folds[index] !== fold);
    const heads = trainHeads(learned, space);
    for (const [index, { text, fold: ownFold }] of judged.entries()) {
      if (ownFold === fold) sums.set(index, textSums(heads, space.windowsOf(text)));
    }
  }
  const found = judged.map((_, index) => sums.get(index)!);
  return {
    given: found.slice(0, given.length),
    own: found.slice(given.length, all.length),
    probes: found.slice(all.length),
  };
}

/** Five-fold cross-validation, three times, grouped by near-duplicates; our own sentences are split in the same way. */
export function crossValidate(texts: CrossValidationTexts, space: FeatureSpace): Record<Category, ValidatedCategory> {
  const { given } = texts;
  const draws = Array.from({ length: repetitions }, (_, index) => drawSums(texts, space, hyperparameters.seed + index));
  return forEachCategory((category) => {
    const sumsOf = (found: readonly Sums[]) => found.map((sums) => sums[category]);
    const labelled = (scores: readonly number[]) => withLabels(given, scores, category);
    const calibration = calibrate(draws.flatMap((draw) => labelled(sumsOf(draw.given))));
    const scoresOf = (found: readonly Sums[]) => sumsOf(found).map((sum) => scoreOfSum(calibration, sum));
    const scores = draws.map((draw) => scoresOf(draw.given));
    const [first] = draws;
    return {
      ...calibration,
      thresholds: presetThresholds(scores.flatMap(labelled)),
      scores,
      ownScores: scoresOf(first!.own),
      probeScores: scoresOf(first!.probes),
    };
  });
}
