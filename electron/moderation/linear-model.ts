import { readFileSync } from 'node:fs';
import type { Category, ModerationPreset } from '../../shared/contract/moderation.ts';
import { type Lexicon, type LexiconTag, lexiconTags, ngramBuckets, type TextFeatures } from './features.ts';

const weightsPath = 'weights/on-device-1.json';
let weights: ModerationWeights | null = null;

/** The trained weights, read at the first use; the build puts the file beside itself. */
export function moderationWeights(): ModerationWeights {
  if (weights) return weights;
  // A bundler for browsers, such as that of the window's tests, would replace a path that is written here.
  const file = readFileSync(new URL(weightsPath, import.meta.url), 'utf8');
  return (weights = readWeights(JSON.parse(file) as WeightsFile));
}

/** The factor of each kind of feature before its weights; chosen by cross-validation. */
export const featureScales = { embedding: 1.5, ngrams: 3, lexicon: 0.5 } as const;

/**
 * Subtracted from the sum of a single sentence: out of context a sentence looks worse than it is. Harmless text around a sentence
 * lowers its sum by at most this much. Chosen by cross-validation.
 */
export const sentenceMargin = 0.3;

/** Decimals of a score: fewer than the differences between machines. */
const scoreDecimals = 1e6;

/** One category's weights, in a compact form. */
export interface CategoryHead {
  readonly embedding: Float32Array;
  readonly lexicon: Float32Array;
  /** `ngramScale` times these are the weights of the buckets. */
  readonly ngrams: Int8Array;
  readonly ngramScale: number;
  readonly bias: number;
  /** The score is the logistic function of `slope * sum + offset`. */
  readonly slope: number;
  readonly offset: number;
  /** Minimum score at which a text is flagged, for each preset. */
  readonly thresholds: Readonly<Record<ModerationPreset, number>>;
}

export interface ModerationWeights {
  /** Name and version in responses. */
  readonly model: string;
  /** Rarity of every bucket, see `textFeatures`. */
  readonly rarity: Float32Array;
  readonly lexicon: Lexicon;
  readonly heads: Readonly<Record<Category, CategoryHead>>;
}

/** The weights file: arrays are base64 of little-endian numbers. */
export interface WeightsFile {
  readonly model: string;
  readonly seed: number;
  /** SHA-256 of every training file. */
  readonly data: Readonly<Record<string, string>>;
  readonly rarity: { readonly scale: number; readonly values: string };
  readonly lexicon: Readonly<Record<string, readonly string[]>>;
  readonly heads: Readonly<
    Record<
      Category,
      {
        readonly embedding: string;
        readonly lexicon: readonly number[];
        readonly ngrams: string;
        readonly ngramScale: number;
        readonly bias: number;
        readonly slope: number;
        readonly offset: number;
        readonly thresholds: Readonly<Record<ModerationPreset, number>>;
      }
    >
  >;
}

function bytesOf(base64: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(base64, 'base64')).buffer;
}

export function readWeights(file: WeightsFile): ModerationWeights {
  const rarity = Float32Array.from(new Uint8Array(bytesOf(file.rarity.values)), (value) => value * file.rarity.scale);
  if (rarity.length !== ngramBuckets) throw new Error('The weights file is of another version');
  const heads = Object.fromEntries(
    Object.entries(file.heads).map(([category, head]) => [
      category,
      {
        ...head,
        embedding: new Float32Array(bytesOf(head.embedding)),
        lexicon: Float32Array.from(head.lexicon),
        ngrams: new Int8Array(bytesOf(head.ngrams)),
      },
    ]),
  );
  return { model: file.model, rarity, lexicon: readLexicon(file.lexicon), heads: heads as ModerationWeights['heads'] };
}

/** Inverts the file's words by tag to tags by word. */
export function readLexicon(words: WeightsFile['lexicon']): Lexicon {
  const lexicon = new Map<string, LexiconTag[]>();
  for (const tag of lexiconTags) {
    for (const word of words[tag] ?? []) lexicon.set(word, [...(lexicon.get(word) ?? []), tag]);
  }
  return lexicon;
}

/** The part of a category's sum that needs no embedding. */
export function ngramSum(head: CategoryHead, { buckets, values, lexicon }: TextFeatures): number {
  let ngrams = 0;
  for (let index = 0; index < buckets.length; index += 1) ngrams += head.ngrams[buckets[index]!]! * values[index]!;
  let sum = head.bias + ngrams * head.ngramScale * featureScales.ngrams;
  for (let index = 0; index < lexicon.length; index += 1) {
    sum += head.lexicon[index]! * lexicon[index]! * featureScales.lexicon;
  }
  return sum;
}

/** The part of a category's sum that comes from the embedding. */
export function embeddingSum(head: CategoryHead, embedding: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < embedding.length; index += 1) sum += head.embedding[index]! * embedding[index]!;
  return sum * featureScales.embedding;
}

/** Calibrated score, 0 to 1. */
export function scoreOfSum({ slope, offset }: Pick<CategoryHead, 'slope' | 'offset'>, sum: number): number {
  return Math.round(scoreDecimals / (1 + Math.exp(-(slope * sum + offset)))) / scoreDecimals;
}
