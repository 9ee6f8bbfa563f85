import { isUnspaced, spacedText } from '../../../shared/unspaced-text.ts';

/**
 * English words that say nothing about a passage's subject, also in their form before an apostrophe. A query without other words is
 * searched for these.
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

/** The tokenizer's definition of a word, and the marks that it removes from letters. */
const tokens = /[\p{L}\p{N}\p{Co}]+/gu;
/** Most texts have nothing else, which is three times as fast to read. */
const isPlain = /^[\0-\x7f]*$/;
const plainTokens = /[a-z0-9]+/g;
const accents = /[\u0300-\u036f]/g;

/** Marks that not every text has: accents of Greek, vowels of Hebrew and Arabic. The tokenizer removes accents of Latin letters only. */
const optionalMarks =
  /(\p{Script=Greek})[\u0300-\u036f]+|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/gu;

/** A text as it is indexed: in one Unicode form, with the letters of scripts without spaces separated. */
export function indexedForm(text: string): string {
  if (isPlain.test(text)) return text;
  const decomposed = text.normalize('NFKD').replaceAll(optionalMarks, '$1').replaceAll('ς', 'σ');
  return spacedText(decomposed.normalize('NFC'));
}

/** The words of a text without case and accents, each once. */
export function tokensOf(text: string): Set<string> {
  const lower = text.toLowerCase();
  if (isPlain.test(lower)) return new Set(lower.match(plainTokens));
  const plain = indexedForm(lower).normalize('NFD').replaceAll(accents, '').normalize('NFC');
  return new Set(plain.match(tokens));
}

/** A word and its stem start with the same letters. */
export function beginningOf(word: string): string {
  return word.slice(0, 2);
}

/** Whether a word of such a text is of another script: a name or a number. A sign that lengthens a vowel isn't. */
function isSpacedWord(word: string): boolean {
  return !isUnspaced(word) && /[^\p{Lm}\p{M}]/u.test(word);
}

/** The search terms of one chunk of a query: its words, and their phrase if there are several. */
export function expressionsOf(chunk: string): string[][] {
  const form = indexedForm(chunk);
  // The tokenizer ignores lone marks, such as the vowel signs of Thai.
  const words = form.split(separators).filter((word) => /[^\p{M}]/u.test(word));
  if (words.length < 2) return words.map((word) => [word]);
  const pairs = words.slice(1).map((word, index) => [words[index]!, word]);
  if (isUnspaced(form)) return [...words.filter(isSpacedWord).map((word) => [word]), ...pairs];
  return [...words.map((word) => [word]), ...(words.length === 2 ? pairs : [words])];
}
