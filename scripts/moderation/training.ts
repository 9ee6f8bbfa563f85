import { categories, type Category } from '../../shared/contract/moderation.ts';
import { suspectsOf } from '../../electron/moderation/windows.ts';
import { forEachCategory } from '../../electron/moderation/provider-classifiers.ts';
import { ngramBuckets } from '../../electron/moderation/features.ts';
import { embeddingSum, ngramSum, sentenceMargin, type CategoryHead } from '../../electron/moderation/linear-model.ts';
import { embeddingDimensions } from '../../electron/on-device/embeddings.ts';
import type { LabelledText } from './corpus.ts';
import type { FeatureSpace, Passage, Window } from './feature-space.ts';
import { trainLogisticRegression, type LabelledExample } from './logistic-regression.ts';

/** Chosen by cross-validation on the given half; see the model card. */
export const hyperparameters = {
  seed: 20_261_120,
  passes: 12,
  cost: 0.2,
  /** Weight of a positive text relative to a negative one. */
  positiveWeight: 2,
  /** Weight of our own sentences relative to texts of the given half. */
  ownWeight: 0.5,
  /** The same for a sentence that is benign in every category: most of these look harmful, and a false flag costs trust. */
  ownBenignWeight: 3,
  /** A passage of a positive text is trained as positive if its sum is at most this far below the worst one's. */
  passageMargin: 0.5,
} as const;

const largestSignedByte = 127;

/** A head without calibration: the raw sum. */
export type UncalibratedHead = Pick<CategoryHead, 'embedding' | 'lexicon' | 'ngrams' | 'ngramScale' | 'bias'>;

export type UncalibratedHeads = Readonly<Record<Category, UncalibratedHead>>;

function passageSum(head: UncalibratedHead, { features, embedding }: Passage): number {
  const whole = head as CategoryHead;
  return ngramSum(whole, features) + embeddingSum(whole, embedding);
}

/** The sums of a text's worst window or sentence, as in the classifier; a text without windows is below everything. */
export function textSums(heads: UncalibratedHeads, windows: readonly Window[]): Record<Category, number> {
  const suspects = windows.flatMap(({ sentences }) =>
    suspectsOf(
      sentences.map((sentence) => ({
        sentence,
        sums: forEachCategory((category) => ngramSum(heads[category] as CategoryHead, sentence.features)),
      })),
    ),
  );
  return forEachCategory((category) => {
    const sum = (passage: Passage) => passageSum(heads[category], passage);
    return Math.max(-20, ...windows.map(sum), ...suspects.map(({ sentence }) => sum(sentence) - sentenceMargin));
  });
}

export function isBenign({ labels }: LabelledText): boolean {
  return categories.every((category) => labels[category] === false);
}

export interface WeightedText {
  readonly text: LabelledText;
  readonly weight: number;
}

/** All training texts with their weights; the given half comes first. */
export function weighTexts(given: readonly LabelledText[], own: readonly LabelledText[]): WeightedText[] {
  const { ownWeight, ownBenignWeight } = hyperparameters;
  return [
    ...given.map((text) => ({ text, weight: 1 })),
    ...own.map((text) => ({ text, weight: isBenign(text) ? ownBenignWeight : ownWeight })),
  ];
}

function toHead(examples: readonly LabelledExample[]): UncalibratedHead {
  const { seed, passes } = hyperparameters;
  const { dense, ngrams, bias } = trainLogisticRegression(examples, { buckets: ngramBuckets, seed, passes });
  const largest = ngrams.reduce((max, weight) => Math.max(max, Math.abs(weight)), 1e-9);
  const ngramScale = largest / largestSignedByte;
  return {
    embedding: Float32Array.from(dense.subarray(0, embeddingDimensions)),
    lexicon: Float32Array.from(dense.subarray(embeddingDimensions)),
    ngrams: Int8Array.from(ngrams, (weight) => Math.round(weight / ngramScale)),
    ngramScale,
    bias,
  };
}

/**
 * Trains one category on the windows and sentences of texts with a known label, twice. It is unknown which passages of a long
 * positive text carry the label, so the second training uses only those as positive that the first model scores highest.
 */
function trainHead(category: Category, texts: readonly WeightedText[], space: FeatureSpace): UncalibratedHead {
  const { cost, positiveWeight, passageMargin } = hyperparameters;
  const known = texts
    .filter(({ text }) => text.labels[category] !== undefined)
    .map(({ text, weight }) => {
      const passages = space.windowsOf(text).flatMap((window): Passage[] => [window, ...window.sentences]);
      return { passages, weight, isPositive: text.labels[category]! };
    });
  const examplesOf = (positivePassages: (passages: readonly Passage[]) => readonly Passage[]) =>
    known.flatMap(({ passages, weight, isPositive }) => {
      const learned = isPositive ? positivePassages(passages) : passages;
      const each = (cost * weight * (isPositive ? positiveWeight : 1)) / Math.sqrt(learned.length);
      return learned.map(({ example }) => ({ example, isPositive, weight: each }));
    });
  const first = toHead(examplesOf((passages) => passages));
  const worstPassages = (passages: readonly Passage[]) => {
    const sums = passages.map((passage) => passageSum(first, passage));
    const min = Math.max(...sums) - passageMargin;
    return passages.filter((_, index) => sums[index]! >= min);
  };
  return toHead(examplesOf(worstPassages));
}

export function trainHeads(texts: readonly WeightedText[], space: FeatureSpace): UncalibratedHeads {
  return forEachCategory((category) => trainHead(category, texts, space));
}

/** Slope and offset that convert sums to probabilities (Platt), by Newton's method on two numbers. */
export function calibrate(scored: readonly { readonly score: number; readonly isPositive: boolean }[]) {
  const positives = scored.filter(({ isPositive }) => isPositive).length;
  // Platt's targets stay away from 0 and 1.
  const high = (positives + 1) / (positives + 2);
  const low = 1 / (scored.length - positives + 2);
  let slope = 1;
  let offset = 0;
  for (let step = 0; step < 100; step += 1) {
    let [gs, go, ss, so, oo] = [0, 0, 1e-9, 0, 1e-9];
    for (const { score, isPositive } of scored) {
      const probability = 1 / (1 + Math.exp(-(slope * score + offset)));
      const error = probability - (isPositive ? high : low);
      const curve = probability * (1 - probability);
      gs += error * score;
      go += error;
      ss += curve * score * score;
      so += curve * score;
      oo += curve;
    }
    const determinant = ss * oo - so * so;
    const change = [(oo * gs - so * go) / determinant, (ss * go - so * gs) / determinant] as const;
    slope -= change[0];
    offset -= change[1];
    if (Math.abs(change[0]) + Math.abs(change[1]) < 1e-10) break;
  }
  return { slope, offset };
}
