import { Fragment, type ReactNode } from 'react';

/** Words of a question that are worth marking, at least four letters long: shorter ones are mostly grammar. */
function wordsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [])];
}

/** A text with the words of a question marked where they begin a word. */
export function MarkedText({ text, query }: { text: string; query: string }): ReactNode {
  const words = wordsOf(query);
  if (words.length === 0) return text;
  const pieces = text.split(new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.join('|')})[\\p{L}\\p{N}]*)`, 'giu'));
  return pieces.map((piece, index) =>
    index % 2 === 1 ? <mark key={index}>{piece}</mark> : <Fragment key={index}>{piece}</Fragment>,
  );
}
