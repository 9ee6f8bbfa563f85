import { isUnspaced, spacedText } from '../../../shared/unspaced-text.ts';

/**
 * English words that don't tell what a passage is about, also as they are before an apostrophe; a question that has
 * no others is searched for these.
 */
export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could did do
  does doing done down during each few for from further get give had has have having he her here hers him his how i if in into is it
  its itself just let like many me more most much must my no nor not now of off on once only or other our ours out over own please same
  shall she should show so some such tell than that the their theirs them then there these they this those through to too under until
  up us very was we were what when where which while who whom whose why will with would you your yours
  aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

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
