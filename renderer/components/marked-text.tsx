import { Fragment, type ReactNode } from 'react';

/** Characters before the first match of an excerpt, for context. */
const before = 40;

/** Terms of a query that are worth highlighting, at least four letters long: shorter ones are mostly grammar. */
function termsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [])];
}

/** Matches of the terms at the start of a word. */
function formOf(query: string): RegExp | null {
  const words = termsOf(query);
  return words.length === 0 ? null : new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.join('|')})[\\p{L}\\p{N}]*)`, 'giu');
}

interface Match {
  start: number;
  end: number;
  word: string;
  /** A common term says little about one passage. */
  weight: number;
}

function matchesIn(text: string, form: RegExp): Match[] {
  const matches = [...text.matchAll(form)].map(({ 0: match, index }) => ({
    start: index,
    end: index + match.length,
    word: match.toLowerCase(),
  }));
  const counts = new Map<string, number>();
  for (const { word } of matches) counts.set(word, (counts.get(word) ?? 0) + 1);
  return matches.map((match) => ({ ...match, weight: 1 / counts.get(match.word)! }));
}

/**
 * The offset from which to show a text so that the given number of characters contains the most terms. It is 0 unless another
 * excerpt contains more.
 */
export function excerptStart(text: string, query: string, characters: number): number {
  const form = formOf(query);
  const matches = form ? matchesIn(text, form) : [];
  const weightFrom = (start: number): number => {
    const within = matches.filter((match) => match.start >= start && match.end <= start + characters);
    const words = new Map(within.map(({ word, weight }) => [word, weight]));
    return [...words.values()].reduce((sum, weight) => sum + weight, 0);
  };
  let best = 0;
  let maxWeight = weightFrom(0);
  for (const { start } of matches) {
    const weight = weightFrom(start);
    // Among equal excerpts, the later start wins: it drops no term and leaves more room after them.
    const isTighter = weight === maxWeight && best > 0 && start < best + characters;
    if (weight > maxWeight || isTighter) [best, maxWeight] = [start, weight];
  }
  if (best <= before) return 0;
  const gap = text.slice(best - before, best).search(/\s/);
  return gap < 0 ? best : best - before + gap + 1;
}

interface MarkedTextProps {
  text: string;
  query: string;
  /** Visible characters. The excerpt with the most terms is shown; without a number, the whole text. */
  characters?: number;
}

/** A text with the terms of a query highlighted where they start a word. */
export function MarkedText({ text, query, characters }: MarkedTextProps): ReactNode {
  const form = formOf(query);
  if (!form) return text;
  const start = characters === undefined ? 0 : excerptStart(text, query, characters);
  const parts = text.slice(start).split(form);
  return (
    <>
      {start > 0 && '… '}
      {parts.map((part, index) =>
        index % 2 === 1 ? <mark key={index}>{part}</mark> : <Fragment key={index}>{part}</Fragment>,
      )}
    </>
  );
}
