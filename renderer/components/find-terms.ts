import { wordForm } from '../../shared/unspaced-text.ts';

/** A word or phrase of a full-text search, folded: without case and accents. */
export interface FindTerm {
  words: readonly string[];
  /** Whether the last word is a prefix: `refund*`. */
  isPrefix: boolean;
}

const diacritics = /\p{M}/gu;

/** A text without case and accents, as the index compares it. Its length may differ from the original's. */
export function fold(text: string): string {
  return text.normalize('NFD').replace(diacritics, '').toLowerCase();
}

function termOf(text: string, isPrefix: boolean): FindTerm[] {
  const words = fold(text).match(wordForm);
  return words ? [{ words, isPrefix }] : [];
}

/** The terms of a search that a matching text can contain: not those after NOT, and not operators. */
export function findTerms(search: string): FindTerm[] {
  const terms: FindTerm[] = [];
  let isExcluded = false;
  for (const [, phrase, phraseStar, word] of search.matchAll(/"([^"]*)"(\*)?|([^\s"()]+)/g)) {
    if (phrase === undefined && word !== undefined && /^(AND|OR|NOT|NEAR)$/.test(word)) {
      isExcluded = word === 'NOT';
      continue;
    }
    const parsed =
      phrase === undefined ? termOf(word ?? '', word?.endsWith('*') ?? false) : termOf(phrase, !!phraseStar);
    if (!isExcluded) terms.push(...parsed);
    isExcluded = false;
  }
  return terms;
}

interface Word {
  folded: string;
  start: number;
  end: number;
}

function wordsOf(text: string): Word[] {
  return [...text.matchAll(wordForm)].map((match) => ({
    folded: fold(match[0]),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function startsAt(words: readonly Word[], at: number, { words: termWords, isPrefix }: FindTerm): boolean {
  return termWords.every((word, offset) => {
    const folded = words[at + offset]?.folded;
    if (folded === undefined) return false;
    return isPrefix && offset === termWords.length - 1 ? folded.startsWith(word) : folded === word;
  });
}

/** The ranges of the terms in a text, in order, without overlaps. */
export function findIn(text: string, terms: readonly FindTerm[]): { start: number; end: number }[] {
  const matches: { start: number; end: number }[] = [];
  const words = wordsOf(text);
  for (let at = 0; at < words.length; at += 1) {
    const longest = terms
      .filter((term) => startsAt(words, at, term))
      .reduce((length, term) => Math.max(length, term.words.length), 0);
    if (longest === 0) continue;
    matches.push({ start: words[at]!.start, end: words[at + longest - 1]!.end });
    at += longest - 1;
  }
  return matches;
}
