/** Number of buckets that n-grams are hashed into; a power of two. */
export const ngramBuckets = 1 << 16;

/** Tags of the profanity list; each is a feature. */
export const lexiconTags = ['sexual', 'general', 'racial', 'religious', 'lgbtq', 'shock'] as const;
export type LexiconTag = (typeof lexiconTags)[number];

/** Words and phrases of up to four words, with their tags. */
export type Lexicon = ReadonlyMap<string, readonly LexiconTag[]>;

/** Buckets with their weights, of length 1 as a vector, and one number per lexicon tag. */
export interface TextFeatures {
  readonly buckets: Int32Array;
  readonly values: Float32Array;
  readonly lexicon: Float32Array;
}

const shortestPart = 3;
const longestPart = 5;
const longestPhrase = 4;

/** Only the first characters of longer words count. Such words aren't natural, and the time stays bounded. */
const longestWord = 40;

/** FNV-1a over UTF-16 units. */
function hash(text: string, from: number, to: number, seed: number): number {
  let value = seed;
  for (let index = from; index < to; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  // Mixes the high bits into the low ones, which select the bucket.
  value ^= value >>> 15;
  return Math.imul(value, 0x2c1b3c6d) >>> 0;
}

const wordSeed = 0x811c9dc5;
const pairSeed = 0x1f83d9ab;
const partSeed = 0x5be0cd19;

export function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}*']+/gu) ?? []).map((word) => word.slice(0, longestWord));
}

function lexiconCounts(words: readonly string[], lexicon: Lexicon): Float32Array {
  const counts = new Float32Array(lexiconTags.length);
  for (let first = 0; first < words.length; first += 1) {
    let phrase = '';
    for (let length = 1; length <= longestPhrase && first + length <= words.length; length += 1) {
      phrase = length === 1 ? words[first]! : `${phrase} ${words[first + length - 1]}`;
      for (const tag of lexicon.get(phrase) ?? []) counts[lexiconTags.indexOf(tag)]! += 1;
    }
  }
  return counts.map((count) => Math.min(2, Math.sqrt(count)));
}

/** Word and character n-grams, hashed, weighted by their rarity. `rarity` has one number per bucket. */
export function textFeatures(text: string, rarity: Float32Array, lexicon: Lexicon): TextFeatures {
  const words = wordsOf(text);
  const counts = new Map<number, number>();
  const count = (key: number) => {
    const bucket = key & (ngramBuckets - 1);
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  };
  for (const [index, word] of words.entries()) {
    count(hash(word, 0, word.length, wordSeed));
    const next = words[index + 1];
    if (next !== undefined) {
      const pair = `${word} ${next}`;
      count(hash(pair, 0, pair.length, pairSeed));
    }
    const marked = `^${word}$`;
    for (let length = shortestPart; length <= longestPart; length += 1) {
      for (let from = 0; from + length <= marked.length; from += 1) count(hash(marked, from, from + length, partSeed));
    }
  }
  const buckets = Int32Array.from(counts.keys()).sort();
  const values = new Float32Array(buckets.length);
  let squares = 0;
  for (const [index, bucket] of buckets.entries()) {
    const value = Math.sqrt(counts.get(bucket)!) * rarity[bucket]!;
    values[index] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  if (length > 0) for (let index = 0; index < values.length; index += 1) values[index]! /= length;
  return { buckets, values, lexicon: lexiconCounts(words, lexicon) };
}
