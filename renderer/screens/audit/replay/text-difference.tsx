import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';

/** Longer texts would hold the window while they are compared. */
const mostCharacters = 200_000;

/** One side of two texts with what the other one has not marked: `del` on the left, `ins` on the right. */
export function TextDifference({ before, after, side }: { before: string; after: string; side: 'before' | 'after' }) {
  const parts = useMemo(
    () => (before.length + after.length > mostCharacters ? null : diffWordsWithSpace(before, after)),
    [before, after],
  );
  if (!parts) return side === 'before' ? before : after;
  return parts
    .filter(({ added, removed }) => (side === 'before' ? !added : !removed))
    .map(({ value, added, removed }, index) => {
      if (added) return <ins key={index}>{value}</ins>;
      return removed ? <del key={index}>{value}</del> : <span key={index}>{value}</span>;
    });
}
