import listedWords from '@dsojevic/profanity-list/en.json' with { type: 'json' };
import { z } from 'zod';
import {
  lexiconTags,
  ngramBuckets,
  textFeatures,
  type LexiconTag,
  type TextFeatures,
} from '../../electron/moderation/features.ts';
import { featureScales, readLexicon, type WeightsFile } from '../../electron/moderation/linear-model.ts';
import { embeddingDimensions } from '../../electron/on-device/embeddings.ts';
import { embedAll, type LabelledText } from './corpus.ts';
import type { Example } from './logistic-regression.ts';

/** Words with a lower severity in the list are ordinary. */
const lowestSeverity = 2;
/** An n-gram in fewer texts says nothing about unseen texts. */
const fewestTexts = 2;
const largestByte = 255;

const profanityList = z.array(
  z.object({ match: z.string(), tags: z.array(z.enum(lexiconTags)), severity: z.number() }),
);

/** Words by tag, from `@dsojevic/profanity-list` (MIT). Its `*` means that a letter may be repeated, which normalizing undoes. */
export function lexiconWords(): Record<LexiconTag, string[]> {
  const entries = profanityList.parse(listedWords);
  const severe = entries.filter(({ severity }) => severity >= lowestSeverity);
  return Object.fromEntries(
    lexiconTags.map((tag) => [
      tag,
      severe
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

/** Rarity of every bucket among the texts, in 256 steps; 0 for buckets without information. */
function measureRarity(texts: readonly LabelledText[], lexicon: ReturnType<typeof readLexicon>): WeightsFile['rarity'] {
  const even = new Float32Array(ngramBuckets).fill(1);
  const counts = new Float32Array(ngramBuckets);
  for (const { windows } of texts) {
    const seen = new Set<number>();
    for (const { text } of windows) for (const bucket of textFeatures(text, even, lexicon).buckets) seen.add(bucket);
    for (const bucket of seen) counts[bucket]! += 1;
  }
  const scale = Math.log(texts.length + 1) / largestByte;
  const steps = Uint8Array.from(counts, (count) =>
    count < fewestTexts ? 0 : Math.round(Math.log((texts.length + 1) / (count + 1)) / scale),
  );
  return { scale, values: toBase64(steps) };
}

/** The features of a window or of one of its sentences. */
export interface Passage {
  readonly features: TextFeatures;
  readonly embedding: Float32Array;
  readonly example: Example;
}

export interface Window extends Passage {
  readonly sentences: readonly Passage[];
}

/** All passages of texts, including repetitions. */
function passageTexts(texts: readonly LabelledText[]): string[] {
  return texts.flatMap(({ windows }) => windows.flatMap(({ text, sentences }) => [text, ...sentences]));
}

/** All data for training or measuring on a set of texts. */
export interface FeatureSpace {
  readonly lexicon: Record<LexiconTag, string[]>;
  readonly rarity: WeightsFile['rarity'];
  windowsOf(text: LabelledText): readonly Window[];
}

/** Features of all windows and sentences. Rarity is computed on the training texts, without their labels, and not on the others. */
export async function createFeatureSpace(
  texts: readonly LabelledText[],
  others: readonly LabelledText[] = [],
): Promise<FeatureSpace> {
  const words = lexiconWords();
  const lexicon = readLexicon(words);
  const rarity = measureRarity(texts, lexicon);
  const scaled = Float32Array.from(Buffer.from(rarity.values, 'base64'), (step) => step * rarity.scale);
  const all = passageTexts([...texts, ...others]);
  const embeddings = await embedAll(all);
  const known = new Map<string, Passage>();
  const passageOf = (text: string): Passage => {
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
  for (const text of all) if (!known.has(text)) known.set(text, passageOf(text));
  const windowsOf = ({ windows }: LabelledText): Window[] =>
    windows.map(({ text, sentences }) => ({
      ...known.get(text)!,
      sentences: sentences.map((sentence) => known.get(sentence)!),
    }));
  return { lexicon: words, rarity, windowsOf };
}
