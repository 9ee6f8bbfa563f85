import listedWords from '@dsojevic/profanity-list/en.json' with { type: 'json' };
import { z } from 'zod';
import { categories, type Category } from '../../shared/contract/moderation.ts';
import {
  lexiconTags,
  ngramBuckets,
  textFeatures,
  type LexiconTag,
  type TextFeatures,
} from '../../electron/moderation/features.ts';
import {
  embeddingSum,
  featureScales,
  ngramSum,
  readLexicon,
  type CategoryHead,
  type WeightsFile,
} from '../../electron/moderation/linear-model.ts';
import { embeddingDimensions } from '../../electron/on-device/embeddings.ts';
import { embedAll, type LabelledText } from './corpus.ts';
import { trainLogisticRegression, type Example, type LabelledExample } from './logistic-regression.ts';

/** Chosen by cross-validation on the given half; see the model card. */
export const hyperparameters = {
  seed: 20_261_120,
  passes: 12,
  cost: 0.2,
  /** How much more a positive text counts than a negative one. */
  positiveWeight: 2,
  /** How much a sentence of our own counts beside a text of the given half. */
  ownWeight: 0.5,
  /** The same for one that is benign in every category: most of these look bad, and a false flag costs trust. */
  ownBenignWeight: 1,
  /** A window of a positive text is learned as positive if its sum is at most this far below the worst window's. */
  windowMargin: 0.5,
} as const;

/** Words of a lower severity in the list are everyday ones. */
const lowestSeverity = 2;
/** An n-gram of fewer texts says nothing about texts that were not seen. */
const fewestTexts = 2;
const largestByte = 255;
const largestSignedByte = 127;

const profanityList = z.array(
  z.object({ match: z.string(), tags: z.array(z.enum(lexiconTags)), severity: z.number() }),
);

/** Words by tag, from `@dsojevic/profanity-list` (MIT). Its `*` says that a letter may be repeated, which normalizing undoes. */
export function lexiconWords(): Record<LexiconTag, string[]> {
  const entries = profanityList.parse(listedWords);
  const kept = entries.filter(({ severity }) => severity >= lowestSeverity);
  return Object.fromEntries(
    lexiconTags.map((tag) => [
      tag,
      kept
        .filter(({ tags }) => tags.includes(tag))
        .flatMap(({ match }) => match.split('|'))
        .map((word) => word.replaceAll('*', '').toLowerCase())
        .sort(),
    ]),
  ) as Record<LexiconTag, string[]>;
}

export function toBase64(array: Float32Array | Int8Array | Uint8Array): string {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');
}

/** Rarity of every bucket among the texts, in 256 steps; 0 where it says nothing. */
function measureRarity(texts: readonly LabelledText[], lexicon: ReturnType<typeof readLexicon>): WeightsFile['rarity'] {
  const even = new Float32Array(ngramBuckets).fill(1);
  const counts = new Float32Array(ngramBuckets);
  for (const { windows } of texts) {
    const seen = new Set<number>();
    for (const window of windows) for (const bucket of textFeatures(window, even, lexicon).buckets) seen.add(bucket);
    for (const bucket of seen) counts[bucket]! += 1;
  }
  const scale = Math.log(texts.length + 1) / largestByte;
  const steps = Uint8Array.from(counts, (count) =>
    count < fewestTexts ? 0 : Math.round(Math.log((texts.length + 1) / (count + 1)) / scale),
  );
  return { scale, values: toBase64(steps) };
}

export interface Window {
  readonly features: TextFeatures;
  readonly embedding: Float32Array;
  readonly example: Example;
}

/** Everything that a training or a measurement needs to know of a set of texts. */
export interface FeatureSpace {
  readonly lexicon: Record<LexiconTag, string[]>;
  readonly rarity: WeightsFile['rarity'];
  windowsOf(text: LabelledText): readonly Window[];
}

/** Features of all windows. `rarity` is measured on the texts themselves unless given; labels play no part in it. */
export async function createFeatureSpace(texts: readonly LabelledText[]): Promise<FeatureSpace> {
  const words = lexiconWords();
  const lexicon = readLexicon(words);
  const rarity = measureRarity(texts, lexicon);
  const scaled = Float32Array.from(Buffer.from(rarity.values, 'base64'), (step) => step * rarity.scale);
  const embeddings = await embedAll(texts.flatMap(({ windows }) => windows));
  const known = new Map<string, Window>();
  const windowOf = (text: string): Window => {
    const features = textFeatures(text, scaled, lexicon);
    const embedding = embeddings.get(text)!;
    const dense = new Float32Array(embeddingDimensions + lexiconTags.length);
    dense.set(embedding.map((value) => value * featureScales.embedding));
    dense.set(
      features.lexicon.map((value) => value * featureScales.lexicon),
      embeddingDimensions,
    );
    const values = features.values.map((value) => value * featureScales.ngrams);
    return { features, embedding, example: { dense, buckets: features.buckets, values } };
  };
  for (const { windows } of texts) for (const text of windows) if (!known.has(text)) known.set(text, windowOf(text));
  return { lexicon: words, rarity, windowsOf: ({ windows }) => windows.map((text) => known.get(text)!) };
}

/** A head without calibration: the sum itself. */
export type UncalibratedHead = Pick<CategoryHead, 'embedding' | 'lexicon' | 'ngrams' | 'ngramScale' | 'bias'>;

export function windowSum(head: UncalibratedHead, { features, embedding }: Window): number {
  const whole = head as CategoryHead;
  return ngramSum(whole, features) + embeddingSum(whole, embedding);
}

/** The worst window's sum; a text without windows is below everything. */
export function textSum(head: UncalibratedHead, windows: readonly Window[]): number {
  return Math.max(-20, ...windows.map((window) => windowSum(head, window)));
}

export function isBenign({ labels }: LabelledText): boolean {
  return categories.every((category) => labels[category] === false);
}

export interface WeightedText {
  readonly text: LabelledText;
  readonly weight: number;
}

/** All that is learned from, each text with its weight; the given half comes first. */
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
  const largest = ngrams.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-9);
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
 * Trains one category on texts whose label is known. It is trained twice: which windows of a long positive text carry the label is
 * not known, so that the second time only those are learned as positive that the first model finds worst.
 */
export function trainHead(category: Category, texts: readonly WeightedText[], space: FeatureSpace): UncalibratedHead {
  const { cost, positiveWeight, windowMargin } = hyperparameters;
  const known = texts.filter(({ text }) => text.labels[category] !== undefined);
  const examplesOf = (positiveWindows: (windows: readonly Window[]) => readonly Window[]) =>
    known.flatMap(({ text, weight }) => {
      const isPositive = text.labels[category]!;
      const windows = isPositive ? positiveWindows(space.windowsOf(text)) : space.windowsOf(text);
      const each = (cost * weight * (isPositive ? positiveWeight : 1)) / Math.sqrt(windows.length);
      return windows.map(({ example }) => ({ example, isPositive, weight: each }));
    });
  const first = toHead(examplesOf((windows) => windows));
  const worstWindows = (windows: readonly Window[]) => {
    const least = textSum(first, windows) - windowMargin;
    return windows.filter((window) => windowSum(first, window) >= least);
  };
  return toHead(examplesOf(worstWindows));
}

/** Slope and offset that turn sums into probabilities (Platt), by Newton's method on two numbers. */
export function calibrate(scored: readonly { readonly score: number; readonly isPositive: boolean }[]) {
  const positives = scored.filter(({ isPositive }) => isPositive).length;
  // Platt's targets keep the ends away from 0 and 1.
  const high = (positives + 1) / (positives + 2);
  const low = 1 / (scored.length - positives + 2);
  let slope = 1;
  let offset = 0;
  for (let step = 0; step < 100; step += 1) {
    let [gs, go, ss, so, oo] = [0, 0, 1e-9, 0, 1e-9];
    for (const { score, isPositive } of scored) {
      const chance = 1 / (1 + Math.exp(-(slope * score + offset)));
      const error = chance - (isPositive ? high : low);
      const curve = chance * (1 - chance);
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
