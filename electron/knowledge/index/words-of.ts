import { isUnspaced, spacedText } from '../../../shared/unspaced-text.ts';

const separators = /[^\p{L}\p{N}\p{M}\p{Co}]+/u;

/** What the tokenizer takes for a word, and what it takes off letters. */
const tokens = /[\p{L}\p{N}\p{Co}]+/gu;
/** Most texts have nothing else, and are read three times as fast. */
const isPlain = /^[\0-\x7f]*$/;
const plainTokens = /[a-z0-9]+/g;
const accents = /[\u0300-\u036f]/g;

/** The words of a text without case and accents, each once. */
export function tokensOf(text: string): Set<string> {
  const lower = text.toLowerCase();
  if (isPlain.test(lower)) return new Set(lower.match(plainTokens));
  const plain = spacedText(lower).normalize('NFD').replaceAll(accents, '').normalize('NFC');
  return new Set(plain.match(tokens));
}

/** A word and its stem begin alike. */
export function beginningOf(word: string): string {
  return word.slice(0, 2);
}

/** What a chunk of a question is searched as: its words, and for several of them also the phrase that they make. */
export function expressionsOf(chunk: string): string[][] {
  const words = spacedText(chunk)
    .split(separators)
    .filter((word) => word !== '');
  if (words.length < 2) return words.map((word) => [word]);
  const pairs = words.slice(1).map((word, index) => [words[index]!, word]);
  if (isUnspaced(chunk)) return pairs;
  return [...words.map((word) => [word]), ...(words.length === 2 ? pairs : [words])];
}
